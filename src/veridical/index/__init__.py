"""Retrieval: BM25, dense and hybrid indexes, all derived from the store and rebuildable from it."""
