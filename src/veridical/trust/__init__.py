"""The trust problem: its definition, its solvers, and what a solution means."""
