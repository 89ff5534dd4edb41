"""
The doors: what people use, each a scheduler of its own kind over the shared core and shell.

A door knows the outside form of what it is asked (registrations, files, requests) and nothing of
the other doors.
"""
