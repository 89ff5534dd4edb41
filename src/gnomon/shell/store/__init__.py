"""
Stores: where facts outlive the process.

Here belong the implementations of the store ports, what they share (connection, transactions,
migrations), and their statements, written by hand in `sql/`. What does not belong here: deciding
what happens to a period, which is the engine's business; a store keeps guards and promises.
"""
