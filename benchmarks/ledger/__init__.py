"""
The ledger and the runtime beside two schedulers and the bare database: how many periods a second,
how late, what an idle tick costs, and how much memory a worker takes.

`cells` says what is measured, `population` fills a ledger, `engines` do the work, `targets` holds
what was promised, `report` what is shown. Run it with `python -m benchmarks.ledger`.
"""
