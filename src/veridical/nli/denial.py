"""What a sentence denies: "contrary to popular belief it was not Paris but Lyon" says Lyon, and not Paris."""

from __future__ import annotations

import re

_BELIEVED = (
    r"(?:thought|believed?s?|held|assumed?s?|suggest(?:s|ed)?|report(?:s|ed)?|claim(?:s|ed)?|estimated|think|"
    r"consider(?:s|ed)?|attribut\w+|credit(?:s|ed)?|ascribed?|associat\w+|identif\w+|maintain(?:s|ed)?|"
    r"accepted|presumed?|imagined?|perceived?|supposed|regarded|cited?|stated?|said|recorded|taught|named|"
    r"understood|confus\w+|mistaken|point(?:s|ed)?|argued?s?|speculated?s?|insist(?:s|ed)?|linked|listed|told)"
)
_WRONGLY = r"(?:mistakenly|wrongly|erroneously|falsely|incorrectly|inaccurately)"
_OFTEN = (
    r"(?:commonly|widely|popularly|generally|often|frequently|traditionally|long|once|previously|formerly|"
    r"initially|originally|usually|typically|sometimes|historically|conventionally|universally)"
)
_OLD = (
    r"(?:long[- ]held|long[- ]standing|common|popular|widespread|widely[- ]held|mistaken|false|wrong|"
    r"incorrect|erroneous|inaccurate|previous|earlier|prior|outdated|conventional|traditional|prevailing|persistent|"
    r"unfounded|baseless|general)"
)
_BELIEF = (
    r"(?:beliefs?|assumptions?|views?|notions?|claims?|ideas?|theor(?:y|ies)|wisdom|opinions?|narratives?|"
    r"reports?|accounts?|attributions?|assertions?|suggestions?|statements?|impressions?|understandings?|"
    r"perceptions?|records?|sources?|information|rumou?rs?|speculations?|stor(?:y|ies)|lore)"
)
_MYTH = (
    r"(?:myths?|misconceptions?|fallac(?:y|ies)|falsehoods?|hoax(?:es)?|misinformation|misunderstandings?)"
)
_REFUTED = (
    r"(?:false|wrong|incorrect|inaccurate|untrue|unfounded|baseless|mistaken|misleading|erroneous|"
    r"debunked|dispro(?:ved|ven)|refuted|dispelled|discredited|overturned|contradicted|dismissed|rejected|"
    r"an?\s+(?:\w+\s+)?(?:myth|misconception|fallacy|hoax|mistake|error|rumou?r))"
)
_PEOPLE = (
    r"(?:many|most|some|people|others?|several|sources|historians|scholars|fans|experts|critics|one|you)"
)
_NO_DENIAL = r"(?!only\b|just\b|merely\b|simply\b|least\b|until\b|to\s+mention\b|necessarily\b|long\b|far\b)"

_CUES = (
    r"(?:contrary\s+to|rather\s+than|instead\s+of|as\s+opposed\s+to|in\s+place\s+of|no\s+longer)\b",
    r"(?:and|but)\s+not\b",
    rf"(?:is|was|are|were|be|been)\s+not\s+{_NO_DENIAL}",
    rf"(?:(?:is|was|are|were)n['’]t|(?:it|that|this|he|she)['’]s\s+not)\s+{_NO_DENIAL}",
    rf"not\s+{_NO_DENIAL}(?=(?:the|an?|in|by|on|at|from|with|of|for|as)\b|\d|[\"“‘']?[A-Z])",
    r"neither\b",
    r"nor\s+(?!(?:did|does|do|is|was|are|were|has|had|have|can|could|will|would)\b)",
    # A verb of refuting, and what it refutes.
    r"(?:dispel(?:s|led|ling)?|debunk(?:s|ed|ing)?|refut(?:e|es|ed|ing)|disprov(?:e|es|ed|en|ing)|"
    r"contradict(?:s|ed|ing)?|overturn(?:s|ed|ing)?|discredit(?:s|ed|ing)?|shatter(?:s|ed|ing)?)\b",
    # What is, or was, thought, and is not so.
    rf"(?:previously|formerly|initially|long|once|mistakenly|wrongly)\s+{_BELIEVED}\b",
    rf"{_WRONGLY}\s+{_BELIEVED}\b",
    rf"(?:commonly|widely|popularly|often|frequently|generally)\s+(?:{_WRONGLY}\s+)?"
    r"(?:thought|believed?|assumed?|attributed|credited|ascribed|mistaken|confused|held|presumed)\b",
    rf"(?:while|although|though|whereas)\s+(?:it\s+(?:is|was|has\s+been)\s+|{_PEOPLE}\s+)?"
    rf"[^,.;:]{{0,40}}?\b{_BELIEVED}\b",
    rf"{_PEOPLE}\s+(?:people\s+|still\s+|may\s+|might\s+|have\s+|had\s+|{_OFTEN}\s+|{_WRONGLY}\s+)*"
    r"(?:think|thought|believed?|assumed?|presumed?|supposed)\b",
    rf"{_OLD}\s+(?:\w+\s+)?{_BELIEF}\b(?:\s+(?:that|of|which|about))?",
    rf"{_MYTH}\s+(?:that|of|about|surrounding)\b",
    rf"despite\s+(?:the\s+)?(?:{_OLD}\s+)?(?:{_BELIEF}|what)\b",
    r"(?:unlike|in\s+contrast\s+to)\s+what\b",
)
#: What follows one of these, to the end of the clause, is what the sentence denies.
DENIED_NEXT = re.compile(
    rf"\b(?:{'|'.join(_CUES)})|(?<=[,;(–—])\s?not\b|(?<=[,;][\"”’'])\s?not\b", re.IGNORECASE
)
#: The belief that ... is false: the clause between is denied.
_DENIED_BEFORE = re.compile(
    rf"\b(?:{_BELIEF}|{_MYTH})\s+that\b(?P<denied>[^.;:!?\n]*?)\b(?:is|are|was|were|has\s+been|have\s+been)\s+"
    rf"(?:now\s+|been\s+|simply\s+|in\s+fact\s+|since\s+|widely\s+|completely\s+|entirely\s+|\w+ly\s+)*{_REFUTED}\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[.;:!?,\n)]|\s[-–—]\s|—|\b(?:but|because|while|however|whereas|although)\b", re.IGNORECASE
)

#: No denial without one of these, which are quicker to look for.
_HINTS = (
    "not", "n't", "n’t", "contrary", "rather", "instead", "opposed", "in place", "no longer", "neither",
    "nor ", "dispel", "debunk", "refut", "disprov", "contradict", "overturn", "discredit", "shatter",
    "long", "once", "previous", "former", "initial", "mistaken", "wrong", "erron", "false", "incorrect",
    "inaccura", "common", "wide", "popular", "often", "frequent", "general", "while", "though",
    "whereas", "think", "believ", "assum", "presum", "suppos", "myth", "conception", "fallac", "hoax",
    "misinfo", "misunder", "despite", "unlike", "contrast", "earlier", "prior", "outdated",
    "convention", "tradition", "prevail", "persist", "unfounded", "baseless", "untrue", "mislead",
)  # fmt: skip


def denied_spans(sentence: str) -> list[tuple[int, int]]:
    """Stretches [start, end) of a sentence that it denies, or says that others believe wrongly.

    "B, not A", "contrary to A", "many believe that A", "the claim that A is false", "A was long believed".
    """
    lower = sentence.lower()
    if not any(hint in lower for hint in _HINTS):
        return []
    spans = [(cue.end(), _clause_end(sentence, cue.end())) for cue in DENIED_NEXT.finditer(sentence)]
    spans.extend(match.span("denied") for match in _DENIED_BEFORE.finditer(sentence))
    return spans


def _clause_end(sentence: str, start: int) -> int:
    stop = _CLAUSE_END.search(sentence, start)
    while stop and _within_number(sentence, stop.start()):
        stop = _CLAUSE_END.search(sentence, stop.end())
    return stop.start() if stop else len(sentence)


def _within_number(sentence: str, at: int) -> bool:
    return (
        sentence[at] in ".,"
        and at + 1 < len(sentence)
        and at > 0
        and sentence[at - 1].isdigit()
        and sentence[at + 1].isdigit()
    )
