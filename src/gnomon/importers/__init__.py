"""
Moving in: what other schedulers were told, in Gnomon's words, with every difference said.

Each module reads one source and gives values and notes; nothing here opens a file, reaches a
server or reads the clock. What a source means is settled by what its own program does.
"""
