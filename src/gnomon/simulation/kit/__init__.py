"""
The simulation kit: what every simulated world is made of, whatever lives in it.

A seed throws `dice`, and all chance comes from them. On a virtual `loop` time passes by itself,
and a `clock` can be set. Each call of a process to what is around it passes the `gate` of that
process, where `faults` strike. A `world` lets processes begin, stand still and die; `notes` keep
what happened. A `campaign` goes on from seed to seed, tries every way to die, and says how to see
a world again. The `matcher` says which periods are owed, for judges that use nothing of the core.
What is drawn, who acts and what is judged belongs to a scenario, in a package beside this one.
"""
