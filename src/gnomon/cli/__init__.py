"""
The command line: questions to the core, asked by a person or a script.

Here belongs reading arguments and files, choosing the parts that answer, and showing the answer as
text or JSON. What does not belong here: any answer of its own, and putting a process together,
which `compose` does. Click and rich are imported here and nowhere else.

A family of commands has a module, and another for what it shows where that is much. `program`
knows where each command is, and imports it when it is called. A command is a function that returns
what is to be printed; `program.main` prints it, turns errors into one line each, and knows the exit
codes. `click_parts` says what a command and its help are, `screen` how an answer looks as plain
text, and `terminal` draws the same with rich.
"""

from gnomon.cli.program import app, krond_main, main

__all__ = ["app", "krond_main", "main"]
