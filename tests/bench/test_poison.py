"""A question's poison is its own misinformation, or its true passages with the answer replaced."""

from __future__ import annotations

from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.poison import poisoned
from veridical.bench.wrong_answers import wrong_answers


def question(*, wrong: str | None = "Lyon", choices: tuple[str, ...] = (), n_false: int = 2) -> Question:
    true = [
        LabelledPassage("t1", "The fair was held in Paris.", "factual", title="Fair"),
        LabelledPassage("t2", "It rained.", "factual"),
        LabelledPassage("t3", "Paris saw the fair.", "factual"),
        LabelledPassage("t4", "paris, again", "factual"),
    ]
    false = [LabelledPassage(f"f{i}", f"Lyon it was ({i}).", "misinformation") for i in range(n_false)]
    old = [LabelledPassage("o", "Rome, once.", "outdated")]
    return Question("q", "Where was the fair?", ("Paris",), (*false, *true, *old), wrong, choices=choices)


def texts(found: Question, label: str) -> list[str]:
    return [passage.text for passage in found.labelled(label)]  # type: ignore[arg-type]


def test_written_poison_is_the_data_set_as_it_is():
    assert poisoned(question(), "written") == question()


def test_a_clean_question_keeps_its_true_passages_only():
    found = poisoned(question(), "clean")
    assert [passage.id for passage in found.passages] == ["t1", "t2", "t3", "t4"]


def test_neutral_poison_alters_as_many_true_passages_as_there_was_misinformation():
    found = poisoned(question(), "neutral")
    assert texts(found, "misinformation") == ["The fair was held in Lyon.", "Lyon saw the fair."]
    assert texts(found, "factual") == texts(question(), "factual")
    assert texts(found, "outdated") == []
    assert len(poisoned(question(n_false=9), "neutral").labelled("misinformation")) == 3


def test_without_a_named_wrong_answer_the_wrong_choices_count():
    asked = question(wrong=None, choices=("Nice", "Paris", "Paris, France", "Lille"))
    assert wrong_answers(asked) == ("Nice", "Lille")
    assert texts(poisoned(asked, "neutral"), "misinformation")[0] == "The fair was held in Nice."
    assert wrong_answers(question()) == ("Lyon",)


def test_without_any_wrong_answer_there_is_no_neutral_poison():
    assert texts(poisoned(question(wrong=None), "neutral"), "misinformation") == []
