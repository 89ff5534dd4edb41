"""
The command line: questions to the core, asked by a person or a script.

Here belongs reading arguments and files, choosing the parts that answer, and showing the answer as
text or JSON. What does not belong here: any answer of its own. Click and rich are imported here
and nowhere else.

Each command is a function that returns what is to be printed; `program.main` prints it, turns
errors into one line each, and knows the exit codes.
"""

from gnomon.cli.program import app, krond_main, main

__all__ = ["app", "krond_main", "main"]
