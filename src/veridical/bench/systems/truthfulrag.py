"""TruthfulRAG (arXiv 2511.10375): paths of a graph of facts that unsettle the model, beside the passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from veridical.answer.context import escape
from veridical.bench.systems.answering import numbered, say
from veridical.bench.systems.base import TOP_K, About, Reply, Retrieved, Task, Tools, nearest
from veridical.bench.systems.replies import final_answer
from veridical.bench.systems.truthful_graph import (
    FactGraph,
    Path,
    chunks,
    conflicting,
    entropy,
    legacy_conflicting,
)
from veridical.errors import EmptyReplyError, InputError
from veridical.evidence.triples import Pieces, parse
from veridical.llm.base import Message
from veridical.llm.managed import ManagedLLM, Request
from veridical.llm.usage import measure
from veridical.prompts import render

MAX_PATHS = 30
MAX_ENTITIES = 5
_FACT_TOKENS, _ASKED_TOKENS, _ANSWER_TOKENS = 300, 60, 200
_N_TOP = 10
_LIST = re.compile(r"^\W*(entit\w*|types?)\b[^:\n]*:(.*)$", re.IGNORECASE | re.MULTILINE)

Rule = Literal["paper", "legacy"]


class TruthfulRAG:
    """Answer from passages and from those facts in them that the model did not expect.

    The model lists entities and facts of each chunk, and once more what it missed; they are merged into a
    graph. One call names the question's entities and the type of an answer. Paths of up to two steps from
    the nearest entities are ranked (`FactGraph.paths`), and for each of the best the model's answer is begun
    with the path and without anything. Where the mean entropy of the tokens is higher with the path, it is
    taken to conflict with what the model knows. The last call sees these paths and all passages, and thinks
    before it answers.

    Parameters
    ----------
    tools
        With an encoder and a language model that lists next tokens.
    top_k
        Passages answered from.
    rule
        ``paper``: keep paths that raise the entropy by more than ``tau`` bits, which may be none. ``legacy``:
        the rule of the public code, see `legacy_conflicting`.
    tau
        1; the paper has 3 for Qwen.
    n_paths
        The most paths that are tried.
    n_tokens
        Tokens of an answer that the entropy is the mean of; fewer if it ends before. The public code takes as
        many as the right answer has, which gives part of it away.
    """

    name = "truthfulrag"
    about = About(
        "TruthfulRAG",
        "arXiv 2511.10375",
        "chunks are cut at four characters a token; types are facts 'is a'; the entropy is over 8 tokens, "
        "not as many as the right answer has, each one call; the run's encoder finds entities",
        "2 a chunk + 1 + 8 (1 + up to 30 paths) + 1",
        frozenset({"llm", "next tokens", "encoder"}),
    )

    def __init__(
        self,
        tools: Tools,
        *,
        top_k: int = TOP_K,
        rule: Rule = "paper",
        tau: float = 1.0,
        n_paths: int = MAX_PATHS,
        n_tokens: int = 8,
    ) -> None:
        if rule not in ("paper", "legacy"):
            raise InputError(f"rule is {rule!r}.", "Pass paper or legacy.")
        if n_paths < 1 or n_tokens < 1:
            raise InputError(f"n_paths is {n_paths} and n_tokens {n_tokens}.", "Pass 1 or more.")
        self.tools, self.top_k, self.rule, self.tau = tools, top_k, rule, tau
        self.n_paths, self.n_tokens = n_paths, n_tokens

    def answer(self, task: Task) -> Reply:
        """Answer from passages and surprising facts; see `System.answer`."""
        llm, encode = self.tools.llm, self.tools.encode
        if llm is None or encode is None:
            raise InputError("There is no language model, or no encoder.", "Give both.")
        passages = [task.pool[place] for place in nearest(task, self.top_k)]
        with measure() as spent:
            graph = FactGraph()
            graph.add(facts(llm, passages))
            entities, types = asked_about(self.tools, task.question)
            paths = graph.paths(task.question, entities, types, encode)[: self.n_paths]
            kept = self._surprising(llm, task.question, paths)
            said = say(
                self.tools,
                "bench_truthfulrag_answer",
                stage="answer",
                max_tokens=_ANSWER_TOKENS,
                facts=_listed([path.text for path in kept]),
                passages=numbered(passages),
                question=escape(task.question).strip(),
            )
        detail = {"n_paths": len(paths), "kept": [path.text for path in kept]}
        ranking = tuple(range(len(task.pool)))
        return Reply(final_answer(said.text), ranking, usage=spent.total, detail=detail)

    def _surprising(self, llm: ManagedLLM, question: str, paths: Sequence[Path]) -> list[Path]:
        if not paths:
            return []
        with llm.stage("entropy"):
            without = mean_entropy(llm, _trying(question, ""), self.n_tokens)
            each = [mean_entropy(llm, _trying(question, path.text), self.n_tokens) for path in paths]
        rule: Callable[..., tuple[int, ...]] = conflicting if self.rule == "paper" else legacy_conflicting
        return [paths[place] for place in rule(each, without, self.tau)]


def facts(llm: ManagedLLM, passages: Sequence[Retrieved]) -> list[Pieces]:
    """Have the model list the facts of passages, and then what it missed; two calls a chunk.

    A reply without text counts as none. Raises as `LLM.generate`.
    """
    system = Message("system", render("bench_truthfulrag_facts_system"))
    begun = [
        (system, Message("user", render("bench_truthfulrag_facts_user", passage=escape(chunk))))
        for passage in passages
        for chunk in chunks(f"{passage.title}: {passage.text}" if passage.title else passage.text)
    ]
    first = _texts(llm, begun)
    more = Message("user", render("bench_truthfulrag_missed_user"))
    gone_on = [
        (*messages, Message("assistant", text or "(none)"), more)
        for messages, text in zip(begun, first, strict=True)
    ]
    return [triple for text in (*first, *_texts(llm, gone_on)) for triple in parse(text)]


def asked_about(tools: Tools, question: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Have the model name the question's entities, `MAX_ENTITIES` at most, and the types of an answer."""
    said = say(
        tools,
        "bench_truthfulrag_question",
        stage="question",
        max_tokens=_ASKED_TOKENS,
        question=escape(question).strip(),
    )
    found: dict[str, tuple[str, ...]] = {}
    for label, values in _LIST.findall(said.text):
        names = tuple(part.strip(" .\"'") for part in re.split(r"[;,]", values))
        found.setdefault(label[0].lower(), tuple(name for name in names if re.search(r"\w", name)))
    return found.get("e", ())[:MAX_ENTITIES], found.get("t", ())


def mean_entropy(llm: ManagedLLM, messages: Sequence[Message], n_tokens: int) -> float:
    """Return the mean entropy, in bits, of the next tokens along the likeliest reply.

    Each is over the ten likeliest. The end of the reply, or of its line, ends it.
    """
    written, values = "", list[float]()
    for _ in range(n_tokens):
        likely = llm.next_tokens(messages, written, n_top=_N_TOP).tokens
        values.append(entropy([value for _, value in likely]))
        token = likely[0][0]
        if not token or (written.strip() and "\n" in token):
            break
        written += token
    return sum(values) / len(values)


def _texts(llm: ManagedLLM, asked: Sequence[tuple[Message, ...]]) -> list[str]:
    texts = []
    for reply in llm.generate_many([Request(messages, _FACT_TOKENS) for messages in asked], stage="facts"):
        if isinstance(reply, EmptyReplyError):
            texts.append("")
        elif isinstance(reply, Exception):
            raise reply
        else:
            texts.append(reply.text)
    return texts


def _trying(question: str, fact: str) -> tuple[Message, Message]:
    """The conversation that an answer is begun in, with one path or without any."""
    shown = render(
        "bench_truthfulrag_try_user", facts=_listed([fact] if fact else []), question=escape(question)
    )
    return Message("system", render("bench_truthfulrag_try_system")), Message("user", shown)


def _listed(texts: Sequence[str]) -> str:
    return "\n".join(f"- {escape(text)}" for text in texts) or "(none)"
