"""
The service under load: many schedules on SQLite, a thousand of them due each second.

`server` is the service in a process of its own, as `gnomon up` puts it together but with an
executor that does nothing; `load` asks its API meanwhile and looks at its processor time and
memory. What became of every period is read from the ledger afterwards.
"""
