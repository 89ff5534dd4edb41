"""
The ledger: the facts about periods, and what may follow what.

A period ends in exactly one outcome, with a reason, and nothing takes it back. Here are the facts
as values (`period`), the tables of what may follow what (`lifecycle`), and the invariants that a
whole ledger keeps (`audit`). How facts are stored is the stores' business, and which fact comes
next is the engine's.
"""
