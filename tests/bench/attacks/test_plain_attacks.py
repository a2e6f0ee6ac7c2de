"""Attacks that need no language model do what their names say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from asked import FAIR, planted, without

from veridical import registry
from veridical.bench.attacks.base import create
from veridical.bench.attacks.citing import CITATIONS
from veridical.bench.attacks.injection import INSTRUCTIONS
from veridical.bench.attacks.template import TEMPLATES
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.metrics.answers import contains
from veridical.bench.protocol import Asked
from veridical.errors import InputError
from veridical.graph.arrays import Anchors


def fakes(
    name: str, question: Question = FAIR, *, seed: int = 0, **settings: object
) -> list[LabelledPassage]:
    return planted(create(name, settings).apply([question], seed=seed)[0])


def test_substitution_changes_the_answer_and_nothing_else():
    (fake,) = fakes("substitution")
    assert fake.text == "The fair of 1900 drew many people. It was held in Lyon. It closed in autumn."
    assert (fake.title, fake.date, fake.source) == ("The fair in Lyon", "2020/03/01", None)


def test_substitution_alters_as_many_passages_as_name_the_answer():
    assert [fake.text for fake in fakes("substitution", n=5)][1:] == ["In 1900 Lyon was full of visitors."]


def test_substitution_takes_the_passages_that_the_answer_takes_first():
    needed = tuple(replace(p, supporting=p.id == "f3") for p in FAIR.passages)
    (fake,) = fakes("substitution", replace(FAIR, passages=needed))
    assert fake.id == "f3-altered"


def test_a_wrong_answer_that_is_part_of_a_right_one_cannot_be_put_in_its_place():
    assert fakes("substitution", replace(FAIR, wrong_answer="France")) == []


def test_templates_say_that_the_wrong_answer_is_right_under_a_title_of_the_question():
    found = fakes("template", n=99)
    assert len(found) == len(TEMPLATES)
    assert {fake.text for fake in found} == {t.format(question=FAIR.text, wrong="Lyon") for t in TEMPLATES}
    assert {fake.title for fake in found} <= {p.title for p in FAIR.labelled("factual")}


def test_repetition_is_one_fake_word_for_word():
    found = fakes("repetition", n=10)
    assert len(found) == 10
    assert {fake.text for fake in found} == {fakes("substitution")[0].text}
    assert {fake.text for fake in fakes("repetition", of="template", n=2)} <= {
        t.format(question=FAIR.text, wrong="Lyon") for t in TEMPLATES
    }


def test_injection_repeats_the_question_and_orders_the_answer():
    found = fakes("injection", n=99)
    assert len({fake.text for fake in found}) == len(INSTRUCTIONS)
    assert all(FAIR.text in fake.text and contains(fake.text, ["Lyon"]) for fake in found)


def test_an_old_version_is_dated_before_every_true_passage():
    for seed in range(20):
        (fake,) = fakes("outdated", seed=seed, n_years=2)
        assert fake.label == "outdated"
        assert "2018/03/01" <= fake.date <= "2019/03/02"
        assert fake.text == fakes("substitution")[0].text


def test_a_data_sets_own_old_passages_are_used_where_it_has_some():
    own = LabelledPassage("old", "It used to be in Rome.", "outdated", date="1990")
    assert fakes("outdated", replace(FAIR, passages=(*FAIR.passages, own))) == [own]


def test_a_forged_date_is_later_than_every_true_passage():
    for seed in range(20):
        (fake,) = fakes("forged_dates", seed=seed, n_days=30)
        assert "2020/05/02" <= fake.date <= "2020/05/31"
        assert fake.label == "misinformation"


def test_dates_are_written_as_the_true_ones_are():
    iso = without(date="2020-05")
    assert fakes("forged_dates", iso, n_days=1)[0].date == "2020-05-02"


def test_dates_are_part_of_attacks_that_set_them():
    dated = {name for name in registry.names("attacks") if registry.load("attacks", name).dated}
    assert dated == {"outdated", "forged_dates"}


@pytest.mark.parametrize("name", ["outdated", "forged_dates"])
@pytest.mark.parametrize("date", [None, "6 hours ago"])
def test_without_dates_none_are_forged(name, date):
    assert fakes(name, without(date=date)) == []


def test_a_citing_passage_repeats_true_sentences_cites_their_source_and_adds_one_lie():
    rain = " It rained on many days of that long and busy year, as all papers of the time report."
    longer = [p if p.id == "f2" else replace(p, text=p.text + rain) for p in FAIR.passages]
    (fake,) = fakes("citing", replace(FAIR, passages=tuple(longer)), n_sentences=2)
    assert "It was held in Lyon." in fake.text
    assert "Palaces were built for the fair." in fake.text
    assert "Visitors came by train." in fake.text
    assert any(form.format(cited="World fairs") in fake.text for form in CITATIONS)
    assert "drew many people" not in fake.text
    assert not contains(fake.text, FAIR.answers)


def test_a_citing_passage_is_about_as_long_as_the_true_ones_and_repeats_nothing_twice():
    same = [replace(p, text="Palaces were built for the fair. " + p.text) for p in FAIR.passages]
    (fake,) = fakes("citing", replace(FAIR, passages=tuple(same)))
    assert fake.text.count("Palaces were built for the fair.") == 1
    assert len(fakes("citing")[0].text.split()) < 20


def test_a_citing_passage_repeats_whole_sentences_only():
    cut = [replace(p, text="... the fair of last year. " + p.text + " It was ...") for p in FAIR.passages]
    (fake,) = fakes("citing", replace(FAIR, passages=tuple(cut)))
    assert "last year" not in fake.text
    assert "It was ..." not in fake.text


def test_a_citing_passage_repeats_its_own_source_where_there_is_no_other():
    alone = replace(FAIR, passages=FAIR.passages[:1])
    (fake,) = fakes("citing", alone)
    assert "drew many people" in fake.text
    assert "Paris" not in fake.text


def judged(n: int = 12) -> tuple[Anchors, list[Asked]]:
    """Twelve documents of three questions, all judged rightly: of each two are true, then two false."""
    asked = [
        Asked(f"q{q}", "", frozenset({4 * q, 4 * q + 1}), frozenset({4 * q + 2, 4 * q + 3}), frozenset())
        for q in range(n // 4)
    ]
    values = np.array([float(i % 4 < 2) for i in range(n)])
    return Anchors(np.arange(n), values, np.ones(n)), asked


def test_colluding_raters_turn_one_question_round_before_they_touch_the_next():
    anchors, asked = judged()
    for seed in range(5):
        found = create("colluding_raters", {"bent": 0.5}).rate(anchors, asked, seed=seed)
        turned = np.flatnonzero(found.values != anchors.values)
        assert len(turned) == 6
        n_by_question = sorted(np.bincount(turned // 4, minlength=3).tolist())
        assert n_by_question == [0, 2, 4]
        assert found.documents is anchors.documents


def test_colluding_raters_vouch_for_what_is_planted_before_they_blame_what_is_true():
    anchors, asked = judged(4)
    found = create("colluding_raters", {"bent": 0.5}).rate(anchors, asked)
    assert found.values.tolist() == [1, 1, 1, 1]


def test_documents_of_no_question_are_bent_last():
    anchors, asked = judged()
    found = create("colluding_raters", {"bent": 0.5}).rate(anchors, asked[:1])
    turned = np.flatnonzero(found.values != anchors.values)
    assert len(turned) == 6
    assert set(range(4)) <= set(turned.tolist())


def test_all_or_no_judgements_may_be_bent():
    anchors, asked = judged()
    every = create("colluding_raters", {"bent": 1}).rate(anchors, asked)
    assert every.values.tolist() == (1 - anchors.values).tolist()
    assert create("colluding_raters", {"bent": 0}).rate(anchors, asked).values.tolist() == (
        anchors.values.tolist()
    )
    for wrong in (1.1, -0.1, "half", True):
        with pytest.raises(InputError, match="0 to 1"):
            create("colluding_raters", {"bent": wrong})
