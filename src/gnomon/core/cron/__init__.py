"""
Cron expressions: reading them, finding their occurrences, saying them in English.

Text becomes an `Expression` in `parse`, under a `Dialect`, which is data. An expression is a few
bit masks; `days` and `times` turn them into what a search needs, `search` finds occurrences on a
zone's timeline, and `explain` writes the sentence.

What does not belong here: intervals and single instants (`recurrence`), windows and constraints
(`decision`), and any idea of a schedule.
"""
