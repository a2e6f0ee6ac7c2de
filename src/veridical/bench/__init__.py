"""Loading, sampling, attacks, metrics and results of the benchmarks."""
