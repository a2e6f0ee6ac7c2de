from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from veridical.corpus.dedupe import content_hash, normalised_text, text_hash


def test_a_version_is_the_same_for_the_same_content_however_it_is_encoded() -> None:
    assert content_hash("Caf\u00e9", "a\r\nb") == content_hash("Cafe\u0301", "a\nb")


def test_a_version_changes_with_title_and_text() -> None:
    versions = {
        content_hash("t", "x"),
        content_hash("t", "y"),
        content_hash("u", "x"),
        content_hash("tx", ""),
    }
    assert len(versions) == 4


def test_texts_that_differ_in_case_and_spacing_only_say_the_same() -> None:
    assert text_hash("The  Port\nis 8080.") == text_hash("the port is 8080. ")
    assert text_hash("The port is 8080.") != text_hash("The port is 8081.")


@given(st.text())
def test_normalising_twice_changes_nothing_more_and_any_text_has_a_hash(text: str) -> None:
    once = normalised_text(text)
    assert " ".join(once.split()) == once
    assert len(text_hash(text)) == len(content_hash(text, text)) == 64
