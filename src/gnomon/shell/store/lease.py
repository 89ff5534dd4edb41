"""
Leases: who works on which run, and until when that counts.

A lease is extended only for the worker that holds it, and for the length that this worker reckons
with: a definition may have got another length meanwhile, and the worker does not know that. A
worker that owns the store alone need not wait for the leases of its predecessors: their runs are
lost at once, except those it finds still going on and adopts, under a new fencing number.

Spec: LEDGER-8, LEDGER-38.
"""

import json
import sqlite3
from collections.abc import Sequence

from gnomon.core.ledger.lifecycle import IN_FLIGHT, State
from gnomon.ports import Held, Renewal
from gnomon.shell.store.instant_text import BEGINNING, to_text
from gnomon.shell.store.queries import named

__all__ = ["recover", "renew"]

_SQL = named("ledger.sql")
_ANSWERS = {state.value: Renewal.HELD for state in IN_FLIGHT} | {State.DONE.value: Renewal.OVER}


def renew(
    connection: sqlite3.Connection, runs: Sequence[Held], *, owner: str, now_ms: int
) -> list[Renewal]:
    keys = json.dumps([run.key for run in runs])
    rows = connection.execute(_SQL["leases"], {"keys": keys})
    # The row of a run keeps its worker when it ends, and not when another worker judges it lost.
    mine = {
        (key, fence): (_ANSWERS.get(state, Renewal.TAKEN), lease_ms)
        for key, fence, holder, state, lease_ms in rows
        if holder == owner
    }
    now = to_text(now_ms)
    found = [mine.get((run.key, run.fence), (Renewal.TAKEN, 0)) for run in runs]
    connection.executemany(
        _SQL["renew"],
        [
            (to_text(now_ms + (run.lease_ms or usual_ms)), now, run.key)
            for run, (answer, usual_ms) in zip(runs, found, strict=True)
            if answer is Renewal.HELD
        ],
    )
    return [answer for answer, _ in found]


def recover(
    connection: sqlite3.Connection, *, owner: str, adopted: Sequence[str], now_ms: int
) -> list[tuple[str, int]]:
    rows = connection.execute(_SQL["abandoned"], {"owner": owner}).fetchall()
    wanted, now = set(adopted), to_text(now_ms)
    taken = [row for row in rows if row[0] in wanted]
    connection.executemany(
        _SQL["adopt"], [(owner, to_text(now_ms + row[3]), now, row[0]) for row in taken]
    )
    lost = [(BEGINNING, now, row[0]) for row in rows if row[0] not in wanted]
    connection.executemany(_SQL["lose"], lost)
    schedule_ids = json.dumps(list({row[1] for row in rows}))
    connection.execute(_SQL["new_versions"], {"ids": schedule_ids, "now_at": now})
    return [(row[0], row[2] + 1) for row in taken]
