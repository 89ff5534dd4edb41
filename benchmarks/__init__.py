"""
What Gnomon costs, measured beside its peers on one machine in one run.

`harness` is what every benchmark shares: environments, worker processes, timing, interleaving,
ratios. Each further package is one benchmark and is run as a module: `python -m
benchmarks.time_core`. Nothing here is a test: time never decides whether Gnomon is right.
"""
