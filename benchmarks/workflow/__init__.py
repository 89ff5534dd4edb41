"""Benchmarks of the workflow host: the event path, its latency, and what idle workflows cost."""
