"""
What carries workflows out: implementations of the port `Executor`.

`embedded` runs the nodes of a DAG itself, in this process and its children; `http` hands them to
somebody else's executor, whose word comes back as a signed callback; `noop` does nothing, for those
who measure. Deciding when something runs does not belong here, and neither does the ledger.
"""
