"""Compared systems: one file each, behind the contract of `veridical.bench.systems.base`."""
