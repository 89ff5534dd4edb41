"""
The shell: what Gnomon does to the world and reads from it.

Here belong the clock and, as they come, stores, launchers and the loop that connects them to the
core. What does not belong here: an `if` about scheduling, which is the core's business.
"""
