"""Questions can be handed over as a list, checked as those of a file are."""

from __future__ import annotations

import pytest

from veridical import Veridical
from veridical.errors import InputError


def test_listed_questions_are_added_once(kb: Veridical) -> None:
    listed = ["When is tea served?", "Which port has the gateway?"]
    assert kb.questions.add(listed) == 2
    assert kb.questions.add(listed) == 0
    assert [item.text for item in kb.questions.every()] == listed


@pytest.mark.parametrize(("wrong", "said"), [("", "question 2: the question is empty"), (7, "is no text")])
def test_one_bad_question_keeps_all_out(kb: Veridical, wrong: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        kb.questions.add(["When is tea served?", wrong])  # type: ignore[list-item]
    assert kb.questions.every() == []
