"""The relational store, which is the truth: documents, feedback, answers, and what was derived from them."""

from veridical.stores.engine import Store

__all__ = ["Store"]
