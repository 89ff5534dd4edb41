"""
Simulation of the ledger: the real runtime over a real store on virtual time, with its own judges.

A seed draws schedules, what people do to them, and faults (`workload`, `plan`). Workers live
and die around one ledger in a `world`; a `launcher` has the runs that they start; an `onlooker`
keeps a `record` of what they were given and what they reported. The `judge` and the modules that
it asks read that record, and import nothing of the engine, the policies or the stores.
"""
