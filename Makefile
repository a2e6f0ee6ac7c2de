# Everything a fresh machine needs is Python 3.11+, make and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test check format docs clean

help:  ## show what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(BIN)/python pyproject.toml
	$(PIP) install -e .
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(PIP) install -e '.[dev]'
	@touch $@ $(VENV)/.base

demo: $(VENV)/.base  ## set up, then ten questions before and after six pieces of feedback
	$(BIN)/veridical demo

test: $(VENV)/.dev  ## set up, then the whole test suite
	$(BIN)/python -m pytest

check: $(VENV)/.dev  ## lint, format, types, and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_layers.py

format: $(VENV)/.dev  ## put every file into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev  ## write the command line's reference anew
	$(BIN)/typer veridical.cli.app utils docs --name veridical --title 'Command line reference' --output docs/cli.md

clean:  ## remove what the targets above made
	rm -rf $(VENV) demo-output build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
