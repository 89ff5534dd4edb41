"""
The command that shows what became of periods: `gnomon history`.

Each row is a period, or a range of periods that share one fate, newest first: its outcome and the
reason, how its run ended, and when. The ledger may be in use by `gnomon run` at the same time: the
command opens it for reading only, waits for no other process, and changes nothing.

Spec: CLI-24, CLI-25.
"""

import asyncio
from pathlib import Path
from typing import NamedTuple

from gnomon.apps.run.saving import schedule_names
from gnomon.cli.problem import printable
from gnomon.cli.screen import Json, Line, Part, Table, render, render_json
from gnomon.core.civil.instant import format_instant
from gnomon.errors import DefinitionError, StoreError
from gnomon.ports import Ledger, RunRow
from gnomon.shell.store.instant_text import maybe_to_text
from gnomon.shell.store.sqlite import MOVED_TO, SqliteLedger

__all__ = ["History", "history_of", "history_text", "read_history"]

_COLUMNS = ("period", "state", "outcome", "reason", "status", "started", "ended", "detail", "note")
_HINTED_MAX = 20


class History(NamedTuple):
    """The newest rows by schedule, and where they are from."""

    place: str
    rows: dict[str, list[RunRow]]
    moved_to: str | None = None
    """The database that has had the ledger since these rows were written."""


def history_of(store: Path, *, name: str | None, limit: int) -> History:
    """The newest rows of one schedule, or of every schedule."""
    if not store.is_file():
        raise StoreError(
            "is not there", where=str(store), hint="gnomon run makes a ledger beside its file"
        )

    async def read() -> History:
        ledger = SqliteLedger.look_into(store)
        try:
            history = await read_history(ledger, str(store), name, limit)
            return history._replace(moved_to=await ledger.note(MOVED_TO))
        finally:
            await ledger.close()

    return asyncio.run(read())


def history_text(history: History, *, as_json: bool) -> str:
    """The rows as a person, or a program, reads them."""
    if as_json:
        rows = [_json(row) for rows in history.rows.values() for row in rows]
        return render_json({"store": history.place, "runs": rows})
    parts: list[Part] = []
    for schedule_id, runs in history.rows.items():
        title = Line(schedule_id, "bold")
        shown = [_cells(row) for row in runs]
        parts += [title, Table(_COLUMNS, shown) if shown else "  nothing has happened yet", ""]
    return render(*parts[:-1]) if parts else "There are no schedules.\n"


async def read_history(ledger: Ledger, place: str, name: str | None, limit: int) -> History:
    """Ask a ledger for its newest rows."""
    known = await schedule_names(ledger)
    names = known if name is None else [name]
    # What is not printable cannot be the name of a schedule, nor asked of a database.
    found = {one: await ledger.runs(one, limit=limit) for one in names if one.isprintable()}
    if name is not None and name not in known and not found.get(name):
        raise DefinitionError(
            "is no schedule of this ledger", where="name", got=name,
            hint=f"the schedules are {', '.join(known[:_HINTED_MAX]) or 'none'}",
        )  # fmt: skip
    return History(place, found)


def _cells(row: RunRow) -> tuple[str, ...]:
    return (
        format_instant(row.nominal),
        row.state,
        row.outcome or "-",
        row.reason or "-",
        row.status or "-",
        maybe_to_text(row.started_ms) or "-",
        maybe_to_text(row.ended_ms) or "-",
        printable(row.detail or "-"),
        _note(row),
    )


def _note(row: RunRow) -> str:
    if row.last_nominal:
        number = "1 period" if row.periods == 1 else f"{row.periods} periods"
        return f"{number} up to {format_instant(row.last_nominal)}"
    return f"try {row.launches}" if row.launches > 1 else ""


def _json(row: RunRow) -> dict[str, Json]:
    return {
        "schedule": row.schedule_id,
        "period": format_instant(row.nominal),
        "lastPeriod": format_instant(row.last_nominal) if row.last_nominal else None,
        "periods": row.periods,
        "key": row.key,
        "state": row.state,
        "outcome": row.outcome,
        "reason": row.reason,
        "status": row.status,
        "chosen": maybe_to_text(row.chosen_ms),
        "launches": row.launches,
        "started": maybe_to_text(row.started_ms),
        "ended": maybe_to_text(row.ended_ms),
        "detail": row.detail,
        "owner": row.owner,
        "runId": row.run_id,
        "revision": row.revision,
    }
