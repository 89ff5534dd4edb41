"""
The worker: a turn, the runs in its hands, the loop over turns, the life of a process.

A turn loads what is due, lets the engine decide, commits, and launches. What a run is launched with
and where its facts are kept does not belong here: launchers and stores come through ports, and no
door is known.
"""
