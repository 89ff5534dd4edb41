"""
Processes put together: one context for each kind, from checked settings to the last report.

A door says what happens, the shell has the parts, and here they meet: which store, which executor,
which metrics, in which order they begin and end. Options of the command line are read before.
"""
