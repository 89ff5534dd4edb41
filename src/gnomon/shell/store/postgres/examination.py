"""
Is a ledger on PostgreSQL in good order, and are its workers?

Everything is read in one view, while workers may write, and nothing is changed, not even the
schema: one schedule at a time, so that memory does not grow with their number.

A finding is what an operator must look after. A worker that has fallen silent is one as long as
runs are under its name, because it is not known how they are doing. Once other workers have them it
is none: it was replaced, which is what workers are for, and an alarm that stays for an hour after
everything went well teaches people not to look. But when the worker that was heard of last is a
silent one, no worker runs, and what is due waits: then that is the finding, whether or not it held
anything. Workers that an operator has stopped on purpose have said so, and are no finding. The
clock of a worker matters only while it is there.

Spec: CLI-28, CLI-40, PG-11, PG-14.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.ledger.audit import AuditRun, Finding
from gnomon.shell.store.postgres.migration import absent, schema_number
from gnomon.shell.store.postgres.pool import Pool, PoolOptions
from gnomon.shell.store.postgres.presence import WorkerRow, workers
from gnomon.shell.store.postgres.statement import SCHEMA, Statements, migrations
from gnomon.shell.store.stored_audit import (
    FINDINGS_MAX,
    StoredRun,
    StoredSchedule,
    audit_run,
    audit_stored,
    finding,
)

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["AHEAD_MAX_MS", "Held", "SharedExamination", "examine_shared"]

AHEAD_MAX_MS = 2_000
"""By how much a worker's clock may differ from the database's."""
_PAGE = 500


class Held(NamedTuple):
    """What the ledger has under the name of a worker."""

    runs: int
    left_ms: int
    """How long its last lease lasts; negative when it is over."""


class SharedExamination(NamedTuple):
    """What was found out about a ledger and its workers."""

    place: str
    schema: int
    schema_known: int
    schedules: int | None
    """None, as the number of rows and the workers, where the schema is another."""
    runs: int | None
    workers: list[WorkerRow] | None
    held: dict[str, Held]
    """By the names of those that hold anything."""
    findings: list[Finding]


async def examine_shared(
    url: str, *, schema: str = SCHEMA, pooler: bool = False
) -> SharedExamination:
    """Look at everything; `StoreError` when there is nothing that could be looked at."""
    sql, looking = Statements(schema), Statements(schema, "examination.sql")
    pool = await Pool.open(url, PoolOptions(connections=2, pooler=pooler))
    known = len(migrations(schema))
    try:
        async with pool.transaction() as connection:
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            number = await schema_number(connection, pool.place, sql)
            if number == 0:
                raise absent(pool.place, sql)
            if number != known:
                code = "newer" if number > known else "older"
                problem = f"the schema is {number}, and {known} is the newest here"
                return SharedExamination(
                    pool.place, number, known, None, None, None, {}, [finding(code, problem)]
                )
            counts = await connection.fetchrow(looking["counts"])
            assert counts is not None
            findings = [one async for one in _findings(connection, looking)]
        present = await workers(pool, sql)
        held = {owner: Held(*of) for owner, *of in await pool.fetch(looking["held"])}
        findings += _about_workers(present, held)
        schedules, runs = counts
        return SharedExamination(
            pool.place, number, known, schedules, runs, present, held, findings
        )
    finally:
        await pool.close()


async def _findings(connection: "Connection", looking: Statements) -> AsyncIterator[Finding]:
    left, after = FINDINGS_MAX, ""
    while rows := await connection.fetch(looking["schedules"], after, _PAGE):
        for row in rows:
            one = StoredSchedule(*row)
            after = one.schedule_id
            async for found in _findings_of(connection, looking, one):
                yield found
                left -= 1
                if not left:
                    return
    for schedule_id, count in await connection.fetch(looking["strangers"]):
        yield finding("stranger", f"{count} rows belong to no schedule", schedule_id)


async def _findings_of(
    connection: "Connection", looking: Statements, one: StoredSchedule
) -> AsyncIterator[Finding]:
    runs: list[AuditRun] = []
    for values in await connection.fetch(looking["runs"], one.schedule_id):
        row = StoredRun(*values)
        try:
            runs.append(audit_run(row))
        except ValueError as error:
            yield finding("row", f"it cannot be read ({error})", one.schedule_id, row.key)
    # Who set the wake may have had another clock than who wrote last, as far as both are right: one
    # ahead of the database's, the other behind it.
    by_any_clock = one._replace(updated_ms=one.updated_ms + 2 * AHEAD_MAX_MS)
    for found in audit_stored(by_any_clock, runs):
        yield found


def _about_workers(present: Sequence[WorkerRow], held: Mapping[str, Held]) -> Iterator[Finding]:
    for worker in present:
        if worker.is_silent and worker.owner in held:
            yield finding("silent", _still_holds(worker, held[worker.owner]))
        elif worker.is_there and abs(worker.ahead_ms) > AHEAD_MAX_MS:
            way = "ahead of" if worker.ahead_ms > 0 else "behind"
            problem = f"the clock of {worker.owner} is {abs(worker.ahead_ms)} ms {way}"
            yield finding("clock", f"{problem} the database's")
    last = max(present, key=lambda one: one.seen_ms, default=None)
    if last is not None and last.is_silent:
        problem = f"no worker runs: {last.owner} was the last, and was heard of {_ago(last)}"
        yield finding("nobody", f"{problem}, without a good-bye")


def _still_holds(worker: WorkerRow, held: Held) -> str:
    runs = "1 run" if held.runs == 1 else f"{held.runs} runs"
    ends = f"end in {held.left_ms // 1000} s" if held.left_ms > 0 else "are over"
    return f"{worker.owner} was last heard of {_ago(worker)}, and has {runs} whose leases {ends}"


def _ago(worker: WorkerRow) -> str:
    return f"{worker.silent_ms // 1000} s ago"
