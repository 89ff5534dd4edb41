"""
Launchers: what starts runs, and says how they ended.

Each launcher keeps the contract of `ports.Launcher` and passes its suite. Here belong the ways of
starting something: a coroutine of this process (`function`), a process of this machine (`process`).
What does not belong here: whether a run may start, which the ledger has settled before.
"""
