"""
Launchers: what starts runs, and says how they ended.

Each launcher keeps the contract of `ports.Launcher` and passes its suite. There is one: a process
of this machine (`process`), with how it begins (`process_start`), which one it is (`process_id`),
where its output goes (`outputs`) and how it ended (`ends`).
What does not belong here: whether a run may start, which the ledger has settled before.
"""
