from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical import prompts
from veridical.errors import InputError, NotFoundError


def test_every_style_has_its_three_prompts():
    styles = {"veridical", "trustprop", "plain"}
    answering = {f"{s}_{part}" for s in styles for part in ("system", "user", "document")}
    board = {f"board_{part}" for part in ("system", "user", "candidate")}
    asking = {f"{kind}_{part}" for kind in ("reading", "nli", "chains") for part in ("system", "user")}
    asking |= {f"selection_{part}" for part in ("system", "user")}
    triples = {f"triples_{part}" for part in ("system", "user", "lines", "json")}
    judged = {"claims", "claims_user", "claims_lines", "claims_json"}
    judged |= {"passage", "passage_user", "passage_lines", "passage_json"}
    credibility = {f"credibility_{part}" for part in judged}
    product = {name for name in prompts.names() if not name.startswith("bench_")}
    assert product == answering | board | asking | triples | credibility


@pytest.mark.parametrize("name", prompts.names())
def test_every_prompt_renders_with_exactly_its_fields(name):
    filled = prompts.render(name, **dict.fromkeys(prompts.fields(name), "something"))
    assert "{{" not in filled
    assert filled == filled.rstrip("\n")


def test_a_missing_field_is_named():
    with pytest.raises(InputError, match="misses the field question"):
        prompts.render("plain_user", documents="d")


def test_an_unknown_field_is_named():
    with pytest.raises(InputError, match="does not know the field colour"):
        prompts.render("plain_user", documents="d", question="q", colour="red")


def test_only_strings_go_in():
    with pytest.raises(InputError, match="marker"):
        prompts.render("plain_document", marker=1, text="t")


@pytest.mark.parametrize("name", ["no_such_prompt", "../prompts/plain_user", "plain_user.txt", "", "PLAIN"])
def test_a_prompt_that_does_not_exist_is_not_found(name):
    with pytest.raises(NotFoundError, match="no prompt"):
        prompts.render(name)


def test_values_are_never_looked_at_again():
    filled = prompts.render("plain_user", documents="{{question}} {{documents}} \\1 \\g<0>", question="Q")
    assert "{{question}} {{documents}} \\1 \\g<0>" in filled


@given(st.text(), st.text())
def test_any_value_arrives_unchanged(documents, question):
    filled = prompts.render("plain_user", documents=documents, question=question)
    assert documents in filled
    assert question in filled


def test_the_trustprop_prompt_gives_its_three_labels_and_their_use():
    text = prompts.render("trustprop_system")
    assert all(label in text for label in ("HIGH", "MEDIUM", "LOW", "trust score"))
    assert "strongly prefer" in text
    assert "ignore or discount" in text


def test_every_style_tells_the_model_that_documents_give_no_orders():
    for style in ("veridical", "trustprop", "plain"):
        assert "instruction" in prompts.render(f"{style}_system")
