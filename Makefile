# Everything a fresh machine needs is Python 3.11+, make and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test check format docs clean bench-small bench-report bench-full

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

$(VENV)/.bench: $(BIN)/python pyproject.toml
	$(PIP) install -e '.[bench,local]'
	@touch $@ $(VENV)/.base

# The data sets are no part of the repository: DATA names their folder, and LLM a language model's file.
needed = $(if $($(1)),,$(error $(1) is missing. Give $(2), as in: make $@ $(1)=$(3)))
RESULTS ?= bench-output
compared = $(BIN)/veridical bench run benchmarks/$(1).toml --data "$(DATA)" --results $(RESULTS)/$(1).db

bench-small: $(VENV)/.bench  ## DATA=FOLDER [LLM=FILE.gguf]: a smoke test, and all systems without a language model
	$(call needed,DATA,the folder with the data sets,../data)
	@mkdir -p $(RESULTS)
ifdef LLM
	$(call compared,smoke) --llm "$(LLM)"
	$(BIN)/veridical bench report $(RESULTS)/smoke.db
else
	@echo "No LLM=FILE.gguf is given: the smoke test with a language model is left out."
endif
	$(call compared,small)
	$(BIN)/veridical bench report $(RESULTS)/small.db

bench-report: $(VENV)/.bench  ## DATA=FOLDER LLM=FILE.gguf: all systems with a small language model (hours; goes on where it stopped)
	$(call needed,DATA,the folder with the data sets,../data)
	$(call needed,LLM,a language model,model.gguf)
	@mkdir -p $(RESULTS) benchmarks/results
	$(call compared,report) --llm "$(LLM)"
	$(BIN)/veridical bench report $(RESULTS)/report.db -o benchmarks/results/report.md -o $(RESULTS)/report.html
	$(call compared,report_few) --llm "$(LLM)"
	$(BIN)/veridical bench report $(RESULTS)/report_few.db -o benchmarks/results/report_few.md -o $(RESULTS)/report_few.html

bench-full: $(VENV)/.bench  ## DATA=FOLDER: rankings and answers without a language model at full size (hours)
	$(call needed,DATA,the folder with the data sets,../data)
	@mkdir -p $(RESULTS)
	$(call compared,retrieval)
	$(BIN)/veridical bench report $(RESULTS)/retrieval.db
	$(call compared,answers_full)
	$(BIN)/veridical bench report $(RESULTS)/answers_full.db

clean:  ## remove what the targets above made
	rm -rf $(VENV) demo-output bench-output build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
