"""Metrics: answers against gold answers, and rankings against what is true and what is false."""
