"""Solvers of the trust problem, one a file, under one contract (see `veridical.testing`)."""
