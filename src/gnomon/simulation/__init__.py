"""
Simulation: the real runtime and the real store, in a world that one seed decides.

Here are the virtual event loop, the simulated ports (clock, launcher, and a ledger that fails), the
schedules and faults that a seed draws, and the judges of what came of it. Nothing here decides when
something runs: that is the code under test, which is used as it is. The judges (`matcher`, `judge`)
import nothing of the engine, the policies or the stores, so that they cannot acquit themselves.
"""
