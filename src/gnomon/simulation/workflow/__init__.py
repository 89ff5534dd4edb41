"""
Simulation of the workflow door: the real host on virtual time, and judges of its own.

A `world` is a process that lives and dies around one workflow in a real SQLite database, an
`outside` system that it changes and that counts what was done to it, and a `person` who decides
what no machine can know. The `audit` reads the tables with plain SQL and holds them against what
the outside system has seen; it imports nothing of what it judges.
"""
