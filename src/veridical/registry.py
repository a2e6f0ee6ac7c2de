"""Names to implementations: ``keyword -> "module:attribute"``, imported only when asked for.

A third party adds its own through an entry point of the group ``veridical.KIND`` (such as
``veridical.methods``), whose name is the keyword.
"""

from __future__ import annotations

from importlib import import_module, metadata
from typing import Any

from veridical.errors import InputError

_BUILT_IN: dict[str, dict[str, str]] = {
    "methods": {
        "veridical": "veridical.methods.veridical:Veridical",
        "trustprop": "veridical.methods.trustprop:TrustProp",
        "reliable": "veridical.methods.reliable:Reliable",
    },
    "nli": {
        "features": "veridical.nli.features:FeatureNLI",
        "onnx": "veridical.nli.onnx_:OnnxNLI",
        "llm": "veridical.nli.llm_:LLMNLI",
    },
    "readers": {
        "embedded": "veridical.reading.embedded:EmbeddedReader",
        "onnx": "veridical.reading.onnx_:OnnxReader",
        "llm": "veridical.reading.llm_:LLMReader",
    },
    "selectors": {
        "embedded": "veridical.evidence.selectors:EmbeddedSelector",
        "llm": "veridical.evidence.select_llm:LLMSelector",
    },
    "extractors": {
        "embedded": "veridical.evidence.extract_embedded:EmbeddedExtractor",
        "llm": "veridical.evidence.extract_llm:LLMExtractor",
    },
    "attacks": {
        "citing": "veridical.bench.attacks.citing:Citing",
        "colluding_raters": "veridical.bench.attacks.colluding_raters:ColludingRaters",
        "forged_dates": "veridical.bench.attacks.forged_dates:ForgedDates",
        "injection": "veridical.bench.attacks.injection:Injection",
        "news": "veridical.bench.attacks.news:News",
        "outdated": "veridical.bench.attacks.outdated:Outdated",
        "poisonedrag": "veridical.bench.attacks.poisonedrag:PoisonedRAG",
        "repetition": "veridical.bench.attacks.repetition:Repetition",
        "substitution": "veridical.bench.attacks.substitution:Substitution",
        "template": "veridical.bench.attacks.template:Template",
    },
    "datasets": {
        "2wikimultihopqa": "veridical.bench.datasets.wikimultihop:TwoWikiMultiHopQA",
        "beir": "veridical.bench.datasets.beir:BEIR",
        "hotpotqa": "veridical.bench.datasets.hotpotqa:HotpotQA",
        "jsonl": "veridical.bench.datasets.jsonl:JSONL",
        "msmarco": "veridical.bench.datasets.msmarco:MSMARCO",
        "musique": "veridical.bench.datasets.musique:MuSiQue",
        "natural_questions": "veridical.bench.datasets.natural_questions:NaturalQuestions",
        "qacc": "veridical.bench.datasets.qacc:QACC",
        "realtimeqa": "veridical.bench.datasets.realtimeqa:RealTimeQA",
        "triviaqa": "veridical.bench.datasets.triviaqa:TriviaQA",
    },
    "systems": {
        "astute": "veridical.bench.systems.astute:AstuteRAG",
        "cag": "veridical.bench.systems.cag:CAG",
        "cram": "veridical.bench.systems.cram:CrAM",
        "exclusion": "veridical.bench.systems.exclusion:Exclusion",
        "instructrag": "veridical.bench.systems.instructrag:InstructRAG",
        "knowledgeable_r1": "veridical.bench.systems.knowledgeable_r1:KnowledgeableR1",
        "naive": "veridical.bench.systems.naive:Naive",
        "prompt_based": "veridical.bench.systems.prompt_based:PromptBased",
        "reliabilityrag": "veridical.bench.systems.reliabilityrag:ReliabilityRAG",
        "reliabilityrag_keyword": "veridical.bench.systems.reliabilityrag:ReliabilityRAGKeyword",
        "reliabilityrag_sampled": "veridical.bench.systems.reliabilityrag:ReliabilityRAGSampled",
        "reliable_sbs": "veridical.bench.systems.reliable:ReliableSBS",
        "reliable_sbs_no_credibility": "veridical.bench.systems.reliable:SBSNoCredibility",
        "reliable_sbs_no_extraction": "veridical.bench.systems.reliable:SBSNoExtraction",
        "reliable_tbs": "veridical.bench.systems.reliable:ReliableTBS",
        "reliable_tbs_no_credibility": "veridical.bench.systems.reliable:TBSNoCredibility",
        "reliable_tbs_no_extraction": "veridical.bench.systems.reliable:TBSNoExtraction",
        "reliable_trust": "veridical.bench.systems.reliable:ReliableTrust",
        "robustrag_decoding": "veridical.bench.systems.robustrag:RobustRAGDecoding",
        "robustrag_keyword": "veridical.bench.systems.robustrag:RobustRAGKeyword",
        "self_rag": "veridical.bench.systems.self_rag:SelfRAG",
        "trustprop": "veridical.bench.systems.trustprop:TrustProp",
        "trustprop_nli_only": "veridical.bench.systems.trustprop:NLIOnly",
        "trustprop_no_optimisation": "veridical.bench.systems.trustprop:NoOptimisation",
        "trustprop_no_prompt": "veridical.bench.systems.trustprop:NoPrompt",
        "trustprop_no_rescoring": "veridical.bench.systems.trustprop:NoRescoring",
        "trustprop_trivial_feedback": "veridical.bench.systems.trustprop:TrivialFeedback",
        "trustrag": "veridical.bench.systems.trustrag:TrustRAG",
        "trustrag_stage1": "veridical.bench.systems.trustrag:TrustRAGFilter",
        "truthfulrag": "veridical.bench.systems.truthfulrag:TruthfulRAG",
        "vanilla": "veridical.bench.systems.vanilla:Vanilla",
        "veridical": "veridical.bench.systems.veridical:Veridical",
        "veridical_no_board": "veridical.bench.systems.veridical:NoBoard",
        "veridical_no_questions": "veridical.bench.systems.veridical:NoQuestions",
        "veridical_no_sources": "veridical.bench.systems.veridical:NoSources",
        "veridical_no_trust": "veridical.bench.systems.veridical:NoTrust",
    },
    "solvers": {
        "reference": "veridical.trust.solvers.reference:Reference",
        "projected_gradient": "veridical.trust.solvers.projected_gradient:ProjectedGradient",
        "conjugate_gradient": "veridical.trust.solvers.conjugate_gradient:ConjugateGradient",
    },
}


def names(kind: str) -> list[str]:
    """All keywords of a kind, third parties' included."""
    plugins = {entry.name for entry in metadata.entry_points(group=f"veridical.{kind}")}
    return sorted(_BUILT_IN.get(kind, {}).keys() | plugins)


def load(kind: str, name: str) -> Any:
    """Import what a keyword stands for.

    Raises
    ------
    InputError
        There is no such keyword, and the hint lists those there are; or a third party's cannot be imported.
    """
    target = _BUILT_IN.get(kind, {}).get(name)
    if target is None:
        for entry in metadata.entry_points(group=f"veridical.{kind}", name=name):
            return _plugin(kind, entry)
        raise InputError(f"{name!r} is none of the {kind}.", "There are: " + ", ".join(names(kind)))
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def _plugin(kind: str, entry: metadata.EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as error:  # somebody else's code, which may raise anything
        raise InputError(
            f"{entry.name!r} of the {kind} is a plugin that cannot be loaded: {error}",
            "Mend or remove the package that brings it.",
        ) from error
