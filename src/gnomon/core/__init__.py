"""
The core: what Gnomon decides, as pure functions of their arguments.

Here belong civil time, recurrences and decisions, and everything else whose answer follows from
its inputs alone. What does not belong here: reading a clock, drawing a random number, a file, a
socket, a thread, an event loop, a log line, a third party. The one thing read from outside is the
zone data of the `tzdata` package, a constant of the installation (see `civil.tzif`).

Imports point down: `decision` > `recurrence` > `cron` > `civil`.
"""
