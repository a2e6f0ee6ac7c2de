"""Feedback: recorded, attributed, reversible, and averaged into anchors for the trust problem."""
