"""
The daemon door: krond, which runs the jobs of krontab files on one machine.

Pure are `job`, `execution` and the package `krontab`: text becomes jobs, and jobs become text. The
others carry jobs out, over the ports Clock, Ledger and Launcher, with the shared engine. Here
belongs what seed 003 calls the host daemon: its files, what a job is executed with, its state
directory, what it reports. Not here: which second is chosen (`core.decision`), what becomes of a
period (`core.engine`), how people are told of it (`shell.observe.notify`), and the commands, which
are the command line's.
"""
