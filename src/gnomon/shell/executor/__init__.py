"""
What carries DAGs out: implementations of the port `Executor`.

`embedded` runs the nodes of a DAG itself, in this process and its children, and on a cluster as
Jobs; `http` hands them to an executor elsewhere, whose word comes back as a signed callback.
Deciding when something runs does not belong here, and neither does the ledger.
"""
