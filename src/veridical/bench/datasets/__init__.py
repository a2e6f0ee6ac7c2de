"""Data sets of the benchmarks: one reader a file format."""
