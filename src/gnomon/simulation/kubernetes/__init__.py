"""
Simulation of the operator: its own code over an API server in memory, and a judge of its own.

A `server` keeps objects as Kubernetes does, `controllers` run Jobs and collect what lost its owner,
and `api` is the port over both, for one caller. What a promise of a real server is to the operator,
the contract suite asks of this one and of the real one alike.
"""
