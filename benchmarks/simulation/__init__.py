"""
How many simulated hours pass in a second? The declarative scheduler with its journal and its judge.

There is no rival to put beside it: the figure says how much of a proof fits into a night.
"""
