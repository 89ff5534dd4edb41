"""
The monitor of the theory: how many events a second, beside two tools for runtime verification.

`cells` says what is measured, `workload` makes the events, `engines` judge them, `targets` holds
what was promised, `report` what is shown. Run it with `python -m benchmarks.theory`.
"""
