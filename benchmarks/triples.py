"""How many of the triples that questions were made from does an extractor find in their passages?

    python benchmarks/triples.py DATA_DIR [--dataset NAME] [--extractor embedded|llm] [--llm GGUF]
        [--limit N] [--json PATH] [--work FOLDER]

DATA_DIR holds 2wikimultihopqa, one question a line with its gold triples (head, relation, tail), its answers,
and ten passages of which some sentences are marked as supporting. Nothing that ships was tuned on it.

*recall*: share of gold triples of which some triple of the question's passages has the head (half of the
words shared, or one holds the other) and says the tail (holds it, or means the same, as a date in other
writing); relations are worded freely, and are not compared. *own passage*: only triples of passages whose
title is the head. *strict*: head and tail are equal after normalisation. *supporting sentences covered*:
share of those that at least one triple was found in. *answer in a tail / triple*: of the questions with an
answer that stands in a supporting passage, share with that answer in a triple of one. *passages a second*
is of one core for the embedded extractor, and by the clock for a language model.

With --extractor llm, --llm is a GGUF file; its calls are kept in the work folder, so that a run that was
stopped goes on, and --limit takes the first N questions.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from veridical.bench import results, script, triples
from veridical.errors import InputError, VeridicalError
from veridical.evidence.extract_embedded import EmbeddedExtractor
from veridical.evidence.extract_llm import LLMExtractor
from veridical.evidence.triples import Extraction, Extractor
from veridical.llm.cache import ReplyCache
from veridical.llm.llama_cpp_ import LlamaCppLLM
from veridical.llm.managed import ManagedLLM
from veridical.pipeline.models import Models
from veridical.settings import Settings


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, help="folder with the data sets")
    parser.add_argument("--dataset", default="2wikimultihopqa", help="which (default 2wikimultihopqa)")
    parser.add_argument(
        "--extractor", choices=("embedded", "llm"), default="embedded", help="which to measure"
    )
    parser.add_argument("--llm", type=Path, help="GGUF file of --extractor llm")
    parser.add_argument("--limit", type=int, help="only the first N questions")
    parser.add_argument("--seed", type=int, default=0, help="of the intervals")
    script.add_outputs(parser)
    return parser.parse_args()


def run(
    extractor: Extractor, questions: Sequence[triples.Question], progress: Progress
) -> tuple[list[list[Extraction]], float]:
    """Extract from all passages, each once: what was found, by question, and passages a second."""
    passages = list(dict.fromkeys((p.title, p.text) for q in questions for p in q.passages))
    task = progress.add_task(f"{extractor.name}: passages", total=len(passages))
    clock = time.process_time if isinstance(extractor, EmbeddedExtractor) else time.perf_counter
    began = clock()
    found = extractor.extract(passages, tick=lambda: progress.advance(task))
    seconds = clock() - began
    of = dict(zip(passages, found, strict=True))
    return [[of[p.title, p.text] for p in q.passages] for q in questions], len(passages) / seconds


def main() -> int:
    args = arguments()
    try:
        questions = triples.read(args.data_dir, args.dataset)[: args.limit]
        with script.bars(Console(stderr=True)) as progress:
            extractor = _extractor(args, progress)
            found, speed = run(extractor, questions, progress)
    except VeridicalError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    scores = triples.score(questions, found)
    rows = triples.summarise(args.dataset, extractor.name, scores, speed, seed=args.seed)
    about = {"seed": args.seed, "questions": len(questions), "extractor": extractor.name}
    about = script.head(__file__, about)
    print(triples.table(rows))
    problems = [one.problem for own in found for one in own if one.problem is not None]
    if problems:
        print(f"{len(problems)} passages with a problem; the first: {problems[0]}")
    if args.json:
        results.write(args.json, rows, about)
    return 0


def _extractor(args: argparse.Namespace, progress: Progress) -> Extractor:
    if args.extractor == "embedded":
        return EmbeddedExtractor()
    if args.llm is None:
        raise InputError("--extractor llm needs a model.", "Name a GGUF file with --llm.")
    settings = Settings.from_env()
    models = Models(settings, announce=progress.console.print)
    llm = LlamaCppLLM(args.llm, n_ctx=4096, n_threads=settings.n_threads)
    return LLMExtractor(ManagedLLM(llm, cache=ReplyCache(args.work / "llm.sqlite")), models.encoder.encode)


if __name__ == "__main__":
    sys.exit(main())
