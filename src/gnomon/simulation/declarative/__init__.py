"""
Simulation of the declarative door: the real `Scheduler` on virtual time, and judges of its own.

A `world` is a program that lives and dies around one journal in a real SQLite database. What the
scheduler writes goes before a `court`: the minutes and dues that an independent scan finds are put
among the entries, and `gnomon.theory` judges the whole. Beside it the `witness` compares what is
written with what the callbacks themselves have seen. Neither imports what it judges.
"""
