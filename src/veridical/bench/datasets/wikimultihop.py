"""2WikiMultiHopQA (Ho et al., COLING 2020) in its published format: HotpotQA's, and a file of aliases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from veridical.bench.datasets import files
from veridical.bench.datasets.base import DataSet
from veridical.bench.datasets.hotpotqa import multihop_question
from veridical.bench.datasets.questions import Question
from veridical.errors import InputError

_ALIASES = "id_aliases.json"


class TwoWikiMultiHopQA(DataSet):
    """2WikiMultiHopQA: questions over two to four Wikipedia paragraphs among ten, made along Wikidata."""

    name = "2wikimultihopqa"
    files = ("dev.json", "train.json")

    def load(self, path: Path) -> list[Question]:
        """See `DataSet.load`.

        Where the file has ``answer_id`` and ``id_aliases.json`` stands beside it, aliases and demonyms of an
        answer are gold answers too, as in the official evaluation.
        """
        aliases = _aliases(path.parent / _ALIASES)

        def read(record: Any, _: str) -> Question | None:
            own = aliases.get(str(record.get("answer_id")), ())
            return multihop_question(record, own)

        return files.questions(path, files.elements(path), read, "2WikiMultiHopQA")


def _aliases(path: Path) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    if not path.is_file():
        return found
    for place, record in files.lines(path):
        try:
            names = files.texts(record, "aliases")
            more = files.texts(record, "demonyms") if "demonyms" in record else ()
            found[str(record["Q_id"])] = tuple(dict.fromkeys([*names, *more]))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}, {place}: not the aliases of an entity ({error}).",
                "Give the file as 2WikiMultiHopQA publishes it.",
            ) from error
    return found
