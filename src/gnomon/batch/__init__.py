"""
The next occurrence of very many recurrences at once, with NumPy (the extra `fast`).

    from gnomon.batch import Table

    table = Table(recurrences)
    table.next_epochs(now)

The answers are those of `recurrence.next_epoch(now)`, in the order of the input, as whole seconds
since 1970; `NONE` stands where the scalar answer is `None`. This package holds no rule of its own
about cron or zones: what the core says about one recurrence, it says about a million.

How: recurrences share their parts. Times of day, rules for days and zones are few compared with
schedules, so each part is searched once per question (`times`, `days`), and a schedule costs two
look-ups, an addition and a comparison (`group`). Only what passes a change of its zone's offset
needs more (`crossing`).

Spec: BATCH-1 to BATCH-7.
"""

from gnomon.errors import MissingExtraError

try:
    import numpy  # noqa: F401
except ImportError as error:
    raise MissingExtraError("gnomon.batch", extra="fast") from error

from gnomon.batch.table import NONE, Table, next_epochs

__all__ = ["NONE", "Table", "next_epochs"]
