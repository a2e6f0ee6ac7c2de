"""Each data set is read from its published format, all of it, and what does not fit is named by its line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import published
import pytest

from veridical import registry
from veridical.bench.datasets.base import DataSet
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.errors import InputError, NotFoundError

WRITERS: dict[str, Callable[[Path], Path]] = {
    "2wikimultihopqa": published.wikimultihop,
    "beir": published.beir,
    "hotpotqa": published.hotpotqa,
    "jsonl": published.own,
    "msmarco": published.msmarco,
    "musique": published.musique,
    "natural_questions": published.natural_questions,
    "qacc": published.qacc,
    "realtimeqa": published.realtimeqa,
    "triviaqa": published.triviaqa,
}


def dataset(name: str) -> DataSet:
    made: DataSet = registry.load("datasets", name)()
    return made


def read(name: str, folder: Path) -> list[Question]:
    return dataset(name).load(WRITERS[name](folder))


def test_every_data_set_is_tested_here() -> None:
    assert sorted(WRITERS) == registry.names("datasets")


@pytest.mark.parametrize("name", WRITERS)
def test_three_questions_are_read_in_order_with_ids_of_their_own(name: str, tmp_path: Path) -> None:
    found = read(name, tmp_path)
    assert len(found) == 3
    assert len({question.id for question in found}) == 3
    ids = [passage.id for question in found for passage in question.passages]
    assert len(set(ids)) == len(ids) or name == "jsonl"
    assert dataset(name).name == name


@pytest.mark.parametrize("name", [name for name in WRITERS if name not in ("beir", "realtimeqa")])
def test_a_published_file_is_found_in_a_folder_by_its_name(name: str, tmp_path: Path) -> None:
    assert dataset(name).found_in(tmp_path) is None
    path = WRITERS[name](tmp_path)
    assert dataset(name).found_in(tmp_path) == path


def test_hotpotqa(tmp_path: Path) -> None:
    first, second, third = read("hotpotqa", tmp_path)
    assert first == Question(
        "h1",
        "Which town is 1?",
        ("Oslo",),
        (
            LabelledPassage(
                "h1-0", "The bridge is old. It is long.", "factual", title="Bridge", supporting=True
            ),
            LabelledPassage("h1-1", "The sea is deep.", "factual", title="Sea"),
            LabelledPassage(
                "h1-2", "The town is small. It is called Oslo.", "factual", title="Town", supporting=True
            ),
        ),
    )
    assert (second.id, second.answers) == ("h2", ("Bergen",))
    assert (third.id, third.answers) == ("h3", ("yes",))


def test_2wikimultihopqa_has_aliases_where_their_file_is_there(tmp_path: Path) -> None:
    first, second, third = read("2wikimultihopqa", tmp_path)
    assert first.answers == ("Oslo", "Kristiania", "Osloite")
    assert (second.answers, third.answers) == (("Bergen",), ("Moss",))
    assert [passage.supporting for passage in third.passages] == [True, False, True]
    (tmp_path / "id_aliases.json").unlink()
    assert dataset("2wikimultihopqa").load(tmp_path / "dev.json")[0].answers == ("Oslo",)


def test_musique_leaves_out_what_cannot_be_answered(tmp_path: Path) -> None:
    first, second, third = read("musique", tmp_path)
    assert [question.id for question in (first, second, third)] == ["2hop__1_9", "2hop__2_9", "2hop__4_9"]
    assert first.answers == ("Ada Lind", "Ada")
    assert second.answers == ("Ada Lind",)
    assert first.passages[1] == LabelledPassage(
        "2hop__1_9-1", "Text 1.", "factual", title="Page 1", supporting=True
    )


def test_natural_questions_in_each_of_their_formats(tmp_path: Path) -> None:
    simplified, original, opened = read("natural_questions", tmp_path)
    assert simplified.answers == ("Larry", "Sergey")
    url = "https://en.wikipedia.org//w/index.php?title=Google_Inc&amp;oldid=1"
    paragraph = "Google was founded by Larry and Sergey ."
    assert simplified.passages == (
        LabelledPassage("7-0", paragraph, "factual", title="Google Inc", source=url, supporting=True),
        LabelledPassage("7-2", "Larry", "factual", title="Google Inc", source=url),
    )
    assert (original.id, original.answers) == ("9", ("yes",))
    assert [passage.text for passage in original.passages] == [paragraph, "Larry"]
    assert original.passages[0].title == "Google"
    assert opened == Question("nq-open-4", "where was the fair", ("Paris", "Lyon"), ())


def test_triviaqa(tmp_path: Path) -> None:
    first, second, third = read("triviaqa", tmp_path)
    assert first == Question(
        "tc_1",
        "Which musical is 1?",
        ("Sunset Boulevard", "Sunset Blvd"),
        (
            LabelledPassage(
                "tc_1-0", "About 1 ...", "factual", title="Trivia", source="http://trivia.example/"
            ),
        ),
    )
    assert (second.id, second.passages) == ("tc_2", ())
    assert (third.id, third.text) == ("tc_3", "Which musical is 3?")


def test_msmarco_by_columns_and_by_lines(tmp_path: Path) -> None:
    first, second, third = read("msmarco", tmp_path)
    assert first == Question(
        "11",
        "what is 11",
        ("A number.",),
        (
            LabelledPassage("11-0", "Passage 0.", "factual", source="http://p0.example"),
            LabelledPassage("11-1", "Passage 1.", "factual", source="http://p1.example", supporting=True),
        ),
    )
    assert (second.id, second.answers) == ("13", ("Twelve and one.", "A prime."))
    assert third.id == "14"
    by_line = published.write_lines(tmp_path / "dev_v1.1.json", published.MARCO)
    assert dataset("msmarco").load(by_line) == [first, second, third]


def test_qacc_labels_what_gives_another_answer_only(tmp_path: Path) -> None:
    first, second, third = read("qacc", tmp_path)
    assert [p.label for p in first.passages] == ["factual"] * 4
    assert [p.supporting for p in first.passages] == [True, False, True, False]
    assert first.wrong_answer is None
    assert (second.wrong_answer, second.answers) == ("Sami", ("Wasim Akram",))
    assert [p.label for p in second.passages] == ["factual", "misinformation", "factual", "factual"]
    assert second.passages[1].source == "b.example"
    assert third.id == "qacc-test-2"


def test_realtimeqa_has_what_was_found_that_week(tmp_path: Path) -> None:
    first, second, third = read("realtimeqa", tmp_path)
    assert first == Question(
        "20230106_0",
        "Which team won 0?",
        ("Bills",),
        (
            LabelledPassage(
                "20230106_0-0",
                "The Bills won.",
                "factual",
                title="Bills win",
                source="https://news.example/a",
                date="2023/01/05",
            ),
        ),
        date="2023/01/05",
        choices=("Steelers", "Bengals", "Bills"),
    )
    assert (second.answers, second.passages) == (("Steelers", "Bengals"), ())
    assert third.answers == ("Bengals",)
    assert dataset("realtimeqa").load(tmp_path) == [first, second, third]
    assert dataset("realtimeqa").found_in(tmp_path) == tmp_path


def test_beir_has_the_documents_that_were_judged(tmp_path: Path) -> None:
    first, second, third = read("beir", tmp_path)
    assert first == Question(
        "q1",
        "is tea hot",
        ("hot",),
        (
            LabelledPassage("q1-d1", "Tea is hot.", "factual", title="Tea", supporting=True),
            LabelledPassage("q1-d2", "Milk is white.", "factual"),
        ),
    )
    assert second.answers == ("milk", "snow")
    assert (third.answers, [p.id for p in third.passages]) == ((), ["q3-d3"])
    assert dataset("beir").found_in(tmp_path) == tmp_path
    assert dataset("beir").found_in(tmp_path / "qrels") is None


def test_the_own_format(tmp_path: Path) -> None:
    first, second, third = read("jsonl", tmp_path)
    assert first.passages == (LabelledPassage("p", "It is Oslo.", "factual", supporting=True),)
    assert (second.id, third.text) == ("o1", "Where is 2?")


def test_files_may_be_gzipped(tmp_path: Path) -> None:
    for name in ("hotpotqa", "msmarco", "musique", "triviaqa"):
        path = WRITERS[name](tmp_path)
        plain = dataset(name).load(path)
        packed = path.with_name(f"{path.name}.gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
        assert dataset(name).found_in(tmp_path) == packed
        assert dataset(name).load(packed) == plain


ARRAYS = ("hotpotqa", "2wikimultihopqa", "qacc", "triviaqa")
LINES = ("musique", "natural_questions", "realtimeqa", "jsonl", "msmarco")


@pytest.mark.parametrize("name", ARRAYS + LINES)
@pytest.mark.parametrize("record", [{}, 5, [], None, {"question": 3, "id": None, "answer": {}}], ids=repr)
def test_a_record_that_does_not_fit_is_named_by_file_and_line(name: str, record: Any, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path)
    if name in LINES:
        good = (
            json.dumps(published.MARCO[0]) if name == "msmarco" else path.read_text("utf-8").splitlines()[0]
        )
        path.write_text(f"{good}\n\n{json.dumps(record)}\n", "utf-8")
        place = "line 3"
    else:
        whole = json.loads(path.read_text("utf-8"))
        good = (whole["Data"] if name == "triviaqa" else whole)[0]
        listed = f"[\n{json.dumps(good)},\n{json.dumps(record)}\n]"
        path.write_text(f'{{"Data": {listed}}}' if name == "triviaqa" else listed, "utf-8")
        place = "line 3, record 1"
    with pytest.raises(InputError) as caught:
        dataset(name).load(path)
    assert f"{path}, {place}: not a question" in caught.value.message


@pytest.mark.parametrize("name", ARRAYS + LINES)
@pytest.mark.parametrize("broken", [b'[\n{"a": }\n]', b"{\n", b"\xff\xfe\n", b"", b"nothing", b"[" * 5000])
def test_a_file_that_is_no_json_is_named(name: str, broken: bytes, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path)
    path.write_bytes(broken)
    if not broken and name == "jsonl":
        assert dataset(name).load(path) == []
        return
    with pytest.raises(InputError) as caught:
        dataset(name).load(path)
    assert str(path) in caught.value.message


def test_a_part_without_answers_is_refused(tmp_path: Path) -> None:
    path = published.hotpotqa(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text("utf-8"))[3:]), "utf-8")
    with pytest.raises(InputError, match="of 1 questions none has an answer"):
        dataset("hotpotqa").load(path)


def test_a_syntax_error_in_an_array_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "hotpot.json"
    good = json.dumps(published.hop(1, "Oslo"))
    for text, line in ((f"[\n{good}\n{good}\n]", 3), (f"[\n{good},\n{{oops}}\n]", 3), (f"[{good}\n\n", 3)):
        path.write_text(text, "utf-8")
        with pytest.raises(InputError, match=f"line {line}"):
            dataset("hotpotqa").load(path)


def test_columns_that_are_missing_or_ragged_are_named(tmp_path: Path) -> None:
    path = published.msmarco(tmp_path)
    table = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**table, "passages": 1}), "utf-8")
    with pytest.raises(InputError, match="no column 'passages'"):
        dataset("msmarco").load(path)
    del table["passages"]["2"]
    path.write_text(json.dumps(table), "utf-8")
    with pytest.raises(InputError, match=r"row '2'.*'passages' is missing"):
        dataset("msmarco").load(path)


@pytest.mark.parametrize(
    ("name", "file", "text", "said"),
    [
        ("beir", "queries.jsonl", '{"_id": "q1"}\n', "line 1: not a question"),
        ("beir", "corpus.jsonl", '{"text": "no id"}\n', "line 1: not a document"),
        ("beir", "qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\n", "line 2: not a judgement"),
        ("realtimeqa", "20230106_gcs.jsonl", '{"question_id": "a"}\n', "line 1: not what was found"),
        ("2wikimultihopqa", "id_aliases.json", "\n[1]\n", "line 2: not the aliases"),
    ],
)
def test_files_beside_are_named_too(name: str, file: str, text: str, said: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path)
    (tmp_path / file).write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        dataset(name).load(path)
    assert f"{tmp_path / file}, {said}" in caught.value.message


def test_an_answer_that_is_no_choice_is_refused(tmp_path: Path) -> None:
    path = published.realtimeqa(tmp_path)
    for wrong in ('["3"]', '["-1"]', '["x"]', "2"):
        path.write_text(path.read_text("utf-8").replace('["2"]', wrong), "utf-8")
        with pytest.raises(InputError, match="line 1"):
            dataset("realtimeqa").load(path)
        published_again = path.read_text("utf-8").replace(wrong, '["2"]', 1)
        path.write_text(published_again, "utf-8")


def test_questions_that_have_no_answer_are_left_out(tmp_path: Path) -> None:
    path = published.realtimeqa(tmp_path)
    path.write_text(path.read_text("utf-8").replace('["2"]', "[]"), "utf-8")
    assert [question.id for question in dataset("realtimeqa").load(path)] == ["20230106_1", "20230106_2"]
    path = published.qacc(tmp_path)
    path.write_text(
        path.read_text("utf-8").replace('"correctAnswer": "Wasim Akram"', '"correctAnswer": NaN', 1), "utf-8"
    )
    assert [question.id for question in dataset("qacc").load(path)] == ["qacc-dev-1", "qacc-test-2"]


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_is_not_there_is_said_to_be_missing(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        dataset(name).load(tmp_path / "gone.json")


def test_an_empty_folder_is_no_week(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no week"):
        dataset("realtimeqa").load(tmp_path)
