"""Runs a comparison: every question, system and setting, each row kept as soon as it is there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from veridical import __version__, registry
from veridical.bench import layout as layouts
from veridical.bench import material, plan
from veridical.bench.account import about_credibility, about_run, about_scene, about_trust
from veridical.bench.attacks.base import Attack, create
from veridical.bench.config import BUILT_IN_ATTACKS, Choice, Config, DatasetChoice
from veridical.bench.datasets.questions import Question
from veridical.bench.marking import Marker, answer_marks
from veridical.bench.plan import Cell, Variant
from veridical.bench.results import commit
from veridical.bench.rows import Key, Results, Row
from veridical.bench.scene import Making, Scene
from veridical.bench.shared import priced
from veridical.bench.systems.base import Reply, System, Task, Tools
from veridical.errors import BudgetError, InputError, LLMError, UnreachableError, VeridicalError
from veridical.llm.usage import measure
from veridical.types import Record, Usage

_CHUNK = 10  # questions that each system answers before the next one does
_MOST_UNREACHED = 3
NO_ANSWERS = "none: only rankings"
"""Stands for the language model in rows of a run that asks for no answers."""


class Watch(Protocol):
    """Shows how far a run has come."""

    def plan(self, n_rows: int, n_known: int) -> None:
        """Say how many rows there are in all, and how many are there from before."""
        ...

    def stage(self, title: str, total: int | None) -> Callable[[int], None]:
        """Begin something that is done once for many rows; returns what to call with what was done."""
        ...

    def row(self, row: Row, spent: Usage) -> None:
        """Take note of a new row, and of what all new ones have cost."""
        ...

    def say(self, line: str) -> None:
        """Tell the user something."""
        ...


class Unwatched:
    """Shows nothing."""

    def plan(self, n_rows: int, n_known: int) -> None:
        """See `Watch.plan`."""

    def stage(self, title: str, total: int | None) -> Callable[[int], None]:
        """See `Watch.stage`."""
        del title, total
        return lambda _: None

    def row(self, row: Row, spent: Usage) -> None:
        """See `Watch.row`."""

    def say(self, line: str) -> None:
        """See `Watch.say`."""


@dataclass
class Outcome(Record):
    """What became of a run.

    Attributes
    ----------
    n_rows
        In all; of these ``n_known`` were there before, ``n_new`` were made now, and ``n_failed`` of the new
        ones are failures.
    not_run
        Systems that lack something, each with what.
    stopped
        Why it ended before all rows were there; empty if they are.
    spent
        What the new rows cost.
    """

    n_rows: int = 0
    n_known: int = 0
    n_new: int = 0
    n_failed: int = 0
    not_run: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stopped: str = ""
    spent: Usage = field(default_factory=Usage)
    seconds: float = 0.0


class Run:
    """One comparison.

    Parameters
    ----------
    config
        What is compared.
    results
        Where rows are kept; those that are there are not made again.
    making, tools
        The models.
    limit
        Only so many questions of each data set are answered; the corpora are the same.
    workers
        Answers that are worked out at once.
    retry
        Whether rows that failed are tried again.
    watch
        Shows progress.
    """

    def __init__(
        self,
        config: Config,
        results: Results,
        making: Making,
        tools: Tools,
        *,
        limit: int | None = None,
        workers: int = 1,
        retry: bool = False,
        watch: Watch | None = None,
    ) -> None:
        if workers < 1 or (limit is not None and limit < 1):
            raise InputError("Workers and limit are 1 or more.")
        self.config, self.results, self.making, self.tools = config, results, making, tools
        self.limit, self.workers, self.retry = limit, workers, retry
        self.watch: Watch = watch or Unwatched()
        self.llm = "" if tools.llm is None else tools.llm.name
        if not config.answers:
            self.llm = NO_ANSWERS  # rows without answers never stand for rows with them
        self.version = f"{__version__} {commit(Path(__file__).parent)}"
        self.outcome = Outcome()
        self._made = threading.local()
        self._n_unreached = 0

    def __call__(self) -> Outcome:
        """Make the rows that are missing.

        Raises
        ------
        InputError
            The configuration does not fit the systems or the data.
        StoreError
            Rows cannot be written.
        """
        began = time.monotonic()
        variants = plan.variants(self.config, self.tools)
        self.outcome.not_run = {v.label: v.lacks for v in variants if v.lacks}
        try:
            scenes = [(scene, self._cells(variants, scene)) for scene in self._scenes()]
            todo = [self._todo(scene, cells) for scene, cells in scenes]
            self.results.say(about_run(self.config, variants, self.making, self.llm, self.version))
            self.results.say({"attacks_not_run": self._attacks_not_run()})
            n_known = self.outcome.n_rows - sum(map(len, todo))
            self.outcome.n_known = n_known
            self.watch.plan(self.outcome.n_rows, n_known)
            while scenes:  # each is let go when it is done, with its vectors and its trust
                (scene, cells), missing = scenes.pop(0), todo.pop(0)
                self._tell_corpus(scene)
                if missing:
                    self._scene(scene, cells, missing)
        except BudgetError as error:
            self.outcome.stopped = f"{error.message} {error.hint}"
        except UnreachableError as error:
            self.outcome.stopped = f"{error.message} What was done is kept."
        finally:
            self.outcome.seconds = time.monotonic() - began
        return self.outcome

    def _tell_corpus(self, scene: Scene) -> None:
        at = scene.layout
        attack = next(choice for choice in self.config.attacks if choice.label == at.attack)
        about = about_scene(scene, attack)
        self.results.put_corpus(scene.digest, at.dataset, at.attack, at.seed, about)

    # --- what there is to do ---

    def _scenes(self) -> Iterator[Scene]:
        config = self.config
        made = {choice.label: self._attack(choice) for choice in config.attacks}
        for dataset in config.datasets:
            asked = material.questions(config.data, dataset.name)
            for choice in config.attacks:
                if f"attack {choice.label}" in self.outcome.not_run:
                    continue
                for seed in config.seeds:
                    yield self._laid_out(dataset, choice, made[choice.label], asked, seed)

    def _attack(self, choice: Choice) -> Attack | None:
        """Make an attack; one that is not made here, or that needs what is missing, is none."""
        if choice.name in BUILT_IN_ATTACKS:
            return None
        if registry.load("attacks", choice.name).needs_llm and self.tools.llm is None:
            self.outcome.not_run[f"attack {choice.label}"] = ("llm",)
            return None
        return create(choice.name, choice.settings, llm=self.tools.llm)

    def _attacks_not_run(self) -> dict[str, list[str]]:
        named = {choice.label: f"attack {choice.label}" for choice in self.config.attacks}
        lacking = self.outcome.not_run
        return {label: list(lacking[name]) for label, name in named.items() if name in lacking}

    def _laid_out(
        self, dataset: DatasetChoice, choice: Choice, attack: Attack | None, asked: list[Question], seed: int
    ) -> Scene:
        protocol, n_asked = self.config.protocol, dataset.questions
        clean = found = material.clean(asked)
        if attack is not None:
            found = material.attacked(asked, attack, protocol, seed=seed, n_asked=n_asked)
        elif choice.name == "own":
            found = asked
        made = layouts.lay_out(
            dataset.name,
            choice.label,
            clean,
            found,
            protocol,
            seed=seed,
            n_asked=n_asked,
            keep_dates=attack is not None and attack.dated,
        )
        if not made.questions:
            self.watch.say(f"{dataset.name}: attack {choice.label} can do nothing to any question.")
        return Scene(made, protocol, self.making, attack)

    def _cells(self, variants: Sequence[Variant], scene: Scene) -> list[Cell]:
        poisoned = bool((~scene.true).any())
        judges = self.making.evaluator is not None
        known = plan.knowns(self.config, poisoned=poisoned, has_evaluator=judges)
        return plan.cells(variants, known)

    def _key(self, scene: Scene, cell: Cell, place: int) -> Key:
        at = scene.layout
        return Key(
            at.dataset,
            at.attack,
            cell.known.name,
            cell.variant.label,
            cell.variant.choice.written,
            at.questions[place].id,
            at.seed,
            scene.digest,
            self.llm,
        )

    def _todo(self, scene: Scene, cells: Sequence[Cell]) -> set[Key]:
        n = len(scene.layout.questions)
        n = n if self.limit is None else min(n, self.limit)
        keys = {self._key(scene, cell, place) for cell in cells for place in range(n)}
        self.outcome.n_rows += len(keys)
        return keys - self.results.done(scene.digest, self.llm, failures_too=not self.retry)

    # --- doing it ---

    def _scene(self, scene: Scene, cells: Sequence[Cell], missing: set[Key]) -> None:
        marker = Marker(scene.layout)
        if self.config.answers:
            scene.read_ahead(self.limit)
        told: set[tuple[str, str]] = set()
        with ThreadPoolExecutor(self.workers, "veridical-bench") as pool:
            for begin in range(0, len(scene.layout.questions), _CHUNK):
                places = range(begin, min(begin + _CHUNK, len(scene.layout.questions)))
                for cell in cells:
                    todo = [place for place in places if self._key(scene, cell, place) in missing]
                    if todo:
                        self._tell_trust(scene, cell, told)
                        self._chunk(scene, cell, todo, marker, pool)
        credibility = about_credibility(scene)
        if credibility is not None:
            self.results.put_belief(scene.digest, "evaluator", "credibility evaluator", credibility)

    def _tell_trust(self, scene: Scene, cell: Cell, told: set[tuple[str, str]]) -> None:
        """Keep what the trust that a cell goes by is worth, once."""
        belief = cell.variant.about.belief
        if belief is None or (belief, cell.known.name) in told:
            return
        told.add((belief, cell.known.name))
        self.results.put_belief(scene.digest, belief, cell.known.name, about_trust(scene, belief, cell.known))

    def _chunk(
        self, scene: Scene, cell: Cell, places: Sequence[int], marker: Marker, pool: ThreadPoolExecutor
    ) -> None:
        tasks = {place: scene.task(place, cell.variant.about.belief, cell.known) for place in places}
        if self.workers == 1:
            for place, task in tasks.items():
                self._put(self._row(scene, cell, place, task, marker))
            return
        sent: list[Future[tuple[Row, LLMError | None]]] = [
            pool.submit(copy_context().run, self._row, scene, cell, place, task, marker)
            for place, task in tasks.items()
        ]
        try:
            for future in as_completed(sent):
                self._put(future.result())
        finally:  # after an error, what has not begun is not begun
            for future in sent:
                future.cancel()

    def _row(
        self, scene: Scene, cell: Cell, place: int, task: Task, marker: Marker
    ) -> tuple[Row, LLMError | None]:
        """Have one question answered; with the error, if nobody could be reached."""
        key = self._key(scene, cell, place)
        began = time.perf_counter()
        with measure() as spent, priced() as saved:
            try:
                reply = _checked(self._system(cell.variant).answer(task), task)
            except BudgetError:
                raise
            except Exception as error:  # somebody's system, which may raise anything: the others go on
                said = error.message if isinstance(error, VeridicalError) else str(error)
                failure = f"{type(error).__name__}: {said}"
                lost = error if isinstance(error, UnreachableError) else None
                used = spent.total + saved.total
                marks = answer_marks(scene.layout.questions[place], "")
                return Row(key, marks=marks, error=failure, usage=used, version=self.version), lost
        seconds = time.perf_counter() - began
        used = spent.total + saved.total
        ranking = tuple(task.pool[at].document for at in reply.ranking)
        k = cell.variant.top_k
        given = reply.text if self.config.answers else None
        marks = marker.marks(place, given, ranking, k)
        if not saved.total.calls:  # else the time says how fast the cache is
            marks["seconds"] = seconds
        return (
            Row(
                key,
                reply.text,
                reply.probability,
                ranking,
                marks,
                used if used.calls else reply.usage,
                seconds,
                reply.notes,
                reply.detail,
                version=self.version,
            ),
            None,
        )

    def _system(self, variant: Variant) -> System:
        """One system a thread, since nothing says that they can be shared."""
        made: dict[str, System] = self._made.__dict__
        if variant.label not in made:
            made[variant.label] = variant.system(self.tools)
        return made[variant.label]

    def _put(self, found: tuple[Row, LLMError | None]) -> None:
        row, lost = found
        self.results.put(row)
        self.outcome.n_new += 1
        self.outcome.n_failed += row.failed
        self.outcome.spent += row.usage
        self.watch.row(row, self.outcome.spent)
        self._n_unreached = self._n_unreached + 1 if lost is not None else 0
        if lost is not None and self._n_unreached >= _MOST_UNREACHED:
            raise lost


def _checked(reply: Reply, task: Task) -> Reply:
    """Refuse a reply that cannot be measured. Raises `InputError`."""
    places = list(reply.ranking)
    if len(set(places)) != len(places) or not all(0 <= place < len(task.pool) for place in places):
        raise InputError("The ranking names a place twice, or one that is not in the pool.")
    if not isinstance(reply.text, str):
        raise InputError(f"The answer is {type(reply.text).__name__}, not a text.")
    if reply.probability is not None and not 0.0 <= reply.probability <= 1.0:
        raise InputError(f"The probability is {reply.probability}.")
    return reply
