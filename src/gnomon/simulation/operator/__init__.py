"""
Simulation of the operator: its own code over an API server in memory, in worlds that go wrong.

A seed draws KronJobs, what people do to them, and what happens to two operators that know nothing
of each other (`plan`). What came of it is judged by the rules that are asked of the audit log of a
real cluster, too (`judge`, `duty`); they share no code with the operator.
"""
