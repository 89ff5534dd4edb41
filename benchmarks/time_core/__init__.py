"""
The time core beside five cron libraries: parse, next, iterate, batch; and what a decision costs.

`corpus` says which schedules and instants, `cells` what is timed, `engines` how each library is
asked, `targets` what was promised, `report` what is shown. Run it with `python -m
benchmarks.time_core`.
"""
