"""Readers: what does this passage, read on its own, answer to a question?"""
