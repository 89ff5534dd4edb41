"""
Recorders: traces of other schedulers, for the theory to judge.

Each runs the real library in an environment of its own, on a clock that only the recorder moves,
and writes a trace with `"pulses": "derived"`, so that the library does not testify in its own case.
`python -m benchmarks.theory.recorders` records all of them into examples/traces.
"""
