"""
What is expected of schedules, on SQLite: what is to be looked at, and what did not come true.

A breach is written once, and its writer is told that it is new, so that one alarm is raised for it.

Spec: SERVICE-20.
"""

import sqlite3
from collections.abc import Sequence

from gnomon.ports.request import Breach, Expected, Judged
from gnomon.shell.store.instant_text import to_text
from gnomon.shell.store.queries import named

__all__ = ["judge"]

_SQL = named("ledger.sql")


def judge(
    connection: sqlite3.Connection, one: Expected, judged: Judged, *, now_ms: int
) -> Sequence[Breach]:
    """Write down what was found; return the breaches that were not noted before."""
    values = {"id": one.schedule_id, "former": to_text(one.after * 1000)}
    if judged.check_ms is None:
        connection.execute(_SQL["judge_nothing"], values)
    else:
        values |= {"check": to_text(judged.check_ms), "after": to_text(judged.after * 1000)}
        connection.execute(_SQL["judge_expected"], values)
    return [
        breach for breach in judged.breaches if _note(connection, one.schedule_id, breach, now_ms)
    ]


def _note(connection: sqlite3.Connection, schedule_id: str, breach: Breach, now_ms: int) -> bool:
    values = {
        "id": schedule_id, "at": to_text(breach.nominal * 1000), "what": breach.expectation,
        "now": to_text(now_ms),
    }  # fmt: skip
    return connection.execute(_SQL["add_breach"], values).rowcount > 0
