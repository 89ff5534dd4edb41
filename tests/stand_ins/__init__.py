"""What stands in for a launcher or an executor in tests and benchmarks, under the same contract."""
