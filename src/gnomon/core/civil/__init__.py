"""
Civil time: how instants, calendars, zones and durations are written and counted.

An instant inside the core is an integer, whole seconds since 1970-01-01T00:00:00Z; a local time is
the same kind of integer, shifted by a zone's offset. `datetime` appears only in `instant`, where
values cross the edge. Nothing here knows what a cron expression or a schedule is.
"""
