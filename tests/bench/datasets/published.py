"""Small files in the formats that data sets are published in, three questions each and what is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Any, **options: Any) -> Path:
    path.write_text(json.dumps(value, **options), "utf-8")
    return path


def write_lines(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def hop(number: int, answer: str, **more: Any) -> dict[str, Any]:
    return {
        "_id": f"h{number}",
        "question": f"Which town is {number}?",
        "answer": answer,
        "type": "bridge",
        "level": "hard",
        "supporting_facts": [["Bridge", 0], ["Town", 1]],
        "context": [
            ["Bridge", ["The bridge is old.", " It is long."]],
            ["Sea", ["The sea is deep."]],
            ["Town", ["The town is small.", f" It is called {answer}."]],
            ["Nothing", []],
        ],
        **more,
    }


def hotpotqa(folder: Path) -> Path:
    unanswered = {key: value for key, value in hop(4, "x").items() if key != "answer"}
    records = [hop(1, "Oslo"), hop(2, "Bergen"), hop(3, "yes"), unanswered]
    return write_json(folder / "hotpot_dev_distractor_v1.json", records)


def wikimultihop(folder: Path) -> Path:
    write_lines(
        folder / "id_aliases.json",
        [
            {"Q_id": "Q1", "aliases": ["Kristiania"], "demonyms": ["Osloite"]},
            {"Q_id": "Q9", "aliases": ["Nobody"], "demonyms": []},
        ],
    )
    records = [
        hop(1, "Oslo", answer_id="Q1", evidences=[["a", "b", "c"]], entity_ids="Q1_Q2"),
        hop(2, "Bergen", answer_id="Q2"),
        hop(3, "Moss"),
    ]
    return write_json(folder / "dev.json", records, indent=1)


def musique(folder: Path) -> Path:
    def one(number: int, **more: Any) -> dict[str, Any]:
        paragraphs = [
            {"idx": i, "title": f"Page {i}", "paragraph_text": f"Text {i}.", "is_supporting": i == 1}
            for i in range(3)
        ]
        return {
            "id": f"2hop__{number}_9",
            "paragraphs": paragraphs,
            "question": f"Whose mother is {number}?",
            "question_decomposition": [],
            "answer": "Ada Lind",
            "answer_aliases": ["Ada", "Ada Lind"],
            "answerable": True,
            **more,
        }

    hidden = {key: value for key, value in one(5).items() if key not in ("answer", "answerable")}
    records = [one(1), one(2, answer_aliases=[]), one(3, answerable=False), one(4), hidden]
    return write_lines(folder / "musique_ans_v1.0_dev.jsonl", records)


PAGE = "<H1> Google </H1> <P> Google was founded by Larry and Sergey . </P> <Ul> <Li> Larry </Li> </Ul>"


def page_question(number: int, short: list[tuple[int, int]], yes_no: str = "NONE") -> dict[str, Any]:
    """Of the simplified format: the first candidate is the paragraph, the second lies in the third."""
    return {
        "example_id": number,
        "question_text": "who founded google",
        "document_url": "https://en.wikipedia.org//w/index.php?title=Google_Inc&amp;oldid=1",
        "document_text": PAGE,
        "long_answer_candidates": [
            {"start_token": 3, "end_token": 13, "top_level": True},
            {"start_token": 14, "end_token": 17, "top_level": False},
            {"start_token": 13, "end_token": 18, "top_level": True},
        ],
        "annotations": [
            {
                "annotation_id": 1,
                "long_answer": {"start_token": 3, "end_token": 13, "candidate_index": 0},
                "short_answers": [{"start_token": a, "end_token": b} for a, b in short],
                "yes_no_answer": yes_no,
            }
        ],
    }


def original(record: dict[str, Any]) -> dict[str, Any]:
    """The same in the original format."""
    tokens = [{"token": t, "html_token": t.startswith("<")} for t in record.pop("document_text").split(" ")]
    return {**record, "document_tokens": tokens, "document_title": "Google", "document_html": "<html>"}


def natural_questions(folder: Path) -> Path:
    records = [
        page_question(7, [(8, 9), (10, 11)]),
        page_question(8, []),
        original(page_question(9, [], "YES")),
        {"question": "where was the fair", "answer": ["Paris", "Lyon"]},
    ]
    return write_lines(folder / "NQ-open.dev.jsonl", records)


def triviaqa(folder: Path) -> Path:
    def one(number: int, **more: Any) -> dict[str, Any]:
        result = {
            "Description": f"About {number} ...",
            "DisplayUrl": "trivia.example",
            "Filename": "35/35_995.txt",
            "Rank": number,
            "Title": "Trivia",
            "Url": "http://trivia.example/",
        }
        return {
            "Answer": {
                "Aliases": ["Sunset Blvd", "Sunset Boulevard"],
                "NormalizedAliases": ["sunset blvd"],
                "Type": "WikipediaEntity",
                "Value": "Sunset Boulevard",
            },
            "EntityPages": [{"DocSource": "TagMe", "Filename": "A.txt", "Title": "A"}],
            "Question": f"Which musical is {number}?",
            "QuestionId": f"tc_{number}",
            "QuestionSource": "http://trivia.example/",
            "SearchResults": [result, {"Rank": 99, "Title": "Empty", "Url": "http://empty.example"}],
            **more,
        }

    hidden = {key: value for key, value in one(4).items() if key != "Answer"}
    records = [one(1), one(2, SearchResults=[]), hidden, one(3)]
    table = {"Data": records, "Domain": "Web", "VerifiedEval": False, "Version": 1.0}
    return write_json(folder / "unfiltered-web-dev.json", table, indent=2, sort_keys=True)


def marco(number: int, answers: list[str]) -> dict[str, Any]:
    passages = [
        {"is_selected": int(i == 1), "passage_text": f"Passage {i}.", "url": f"http://p{i}.example"}
        for i in range(2)
    ]
    return {
        "answers": answers,
        "passages": passages,
        "query": f"what is {number}",
        "query_id": number,
        "query_type": "DESCRIPTION",
        "wellFormedAnswers": "[]",
    }


MARCO = [
    marco(11, ["A number."]),
    marco(12, ["No Answer Present."]),
    marco(13, ["Twelve and one.", "A prime."]),
    marco(14, ["Two sevens."]),
]


def msmarco(folder: Path) -> Path:
    columns = {key: {str(i): record[key] for i, record in enumerate(MARCO)} for key in MARCO[0]}
    return write_json(folder / "dev_v2.1.json", columns)


def qacc(folder: Path) -> Path:
    def one(number: int, **more: Any) -> dict[str, Any]:
        return {
            "annotation_task_id": number,
            "firstAnswer": "Wasim Akram",
            "firstContext": "['C', 'A']",
            "secondAnswerExist": "B",
            "secondAnswer": float("nan"),
            "secondContext": float("nan"),
            "correctAnswer": "Wasim Akram",
            "question": f"Who bowled {number}?",
            "contexts": ["Akram did.", "Some say Sami.", "It was Akram.", "Nothing here."],
            "sources": ["a.example", "b.example", "c.example", "d.example"],
            "split": "dev",
            **more,
        }

    second = {"secondAnswerExist": "A", "secondAnswer": "Sami", "secondContext": "['B', 'C']"}
    records = [one(0), one(1, **second), one(2, split="test")]
    return write_json(folder / "ConflictQA_Dataset.json", records)


def realtimeqa(folder: Path) -> Path:
    def one(number: int, answer: list[str]) -> dict[str, Any]:
        return {
            "question_id": f"20230106_{number}",
            "question_date": "2023/01/05",
            "question_source": "CNN",
            "question_url": "https://news.example/quiz",
            "question_sentence": f"Which team won {number}?",
            "choices": ["Steelers", "Bengals", "Bills"],
            "answer": answer,
            "evidence": "",
        }

    def article(text: str | None) -> dict[str, Any]:
        return {
            "url": "https://news.example/a",
            "title": "Bills win",
            "text": text,
            "authors": [],
            "publish_date": "2023/01/05",
        }

    write_lines(
        folder / "20230106_gcs.jsonl",
        [
            {
                "question_id": "20230106_0",
                "search_time": "2023/01/07/05:11",
                "search_result": [article("The Bills won."), article(""), article(None)],
            }
        ],
    )
    return write_lines(folder / "20230106_qa.jsonl", [one(0, ["2"]), one(1, ["0", "1"]), one(2, ["1"])])


def beir(folder: Path) -> Path:
    write_lines(
        folder / "corpus.jsonl",
        [
            {"_id": "d1", "title": "Tea", "text": "Tea is hot.", "metadata": {}},
            {"_id": "d2", "title": "", "text": "Milk is white."},
            {"_id": "d3", "title": "Rain", "text": "Rain is wet."},
        ],
    )
    write_lines(
        folder / "queries.jsonl",
        [
            {"_id": "q1", "text": "is tea hot", "metadata": {"answer": "hot"}},
            {"_id": "q2", "text": "what is white", "metadata": {"answers": ["milk", "snow"]}},
            {"_id": "q3", "text": "is rain wet", "metadata": {}},
            {"_id": "q4", "text": "nobody judged this"},
        ],
    )
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq2\td2\t2\nq3\td3\t1\nq3\tgone\t1\n", "utf-8"
    )
    return folder


def own(folder: Path) -> Path:
    passages = [{"id": "p", "text": "It is Oslo.", "label": "factual", "relevance": "high"}]
    records = [
        {"id": f"o{i}", "question": f"Where is {i}?", "answers": ["Oslo"], "passages": passages}
        for i in range(3)
    ]
    return write_lines(folder / "questions.jsonl", records)
