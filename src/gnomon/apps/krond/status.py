"""
When does each job run next, is it running, and what became of it last?

What lies ahead of a job follows from its definition: the periods whose chosen second has not come
yet. A period lies ahead also when its nominal time has passed, as long as its second has not; one
that is unschedulable does until its window ends.

All else is read from the ledger, so that it can be asked whether or not krond runs, and costs a
running krond nothing. What only krond itself knows, its process and its files, it is asked for over
the control socket.

Spec: KRONTAB-32, KROND-25, KROND-26, KROND-34.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from gnomon.apps.krond.control import ask
from gnomon.apps.krond.job import id_stem
from gnomon.apps.krond.state import StateDirectory, advised
from gnomon.core.decision import Chosen, Decision
from gnomon.core.ledger.lifecycle import IN_FLIGHT, WAITING, Outcome, State
from gnomon.core.ledger.period import Kind, kind_of
from gnomon.core.recurrence import Boot
from gnomon.core.schedule import CONCURRENCY, Schedule
from gnomon.errors import DefinitionError, StoreError
from gnomon.ports import RunRow, ScheduleRow
from gnomon.shell.store.installation import SUSPENDED
from gnomon.shell.store.sqlite import SqliteLedger

__all__ = [
    "AHEAD_MAX",
    "DaemonStatus",
    "JobStatus",
    "PeriodRecord",
    "find_job",
    "next_chosen",
    "over_at",
    "periods_after",
    "read_history",
    "read_status",
]

LOOKED_AT_MAX = 2_000
"""How many periods are looked at for one that is not unschedulable: those of more than a day."""

AHEAD_MAX = 100
"""After how many periods without any allowed second the search looks no further."""

_NEWEST = 40
"""How many rows of a job are looked at: more are open at a time only with very long windows."""

_OPEN_MAX = 100_000
"""How many, where the oldest of those still waits: so many may have been planned again."""

_PAGE = 1_000
_HINTED_MAX = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """One job as it stands now."""

    name: str
    file: str
    schedule: Schedule
    suspended: bool
    next: Decision | None
    """The first period that is not handled and can run, if one of the next can; None when there is
    none, or while suspended."""
    next_ms: int | None
    """When it runs: its chosen instant, or that of its next try."""
    active: tuple[RunRow, ...]
    last: RunRow | None
    """What was handled last; a range of periods too."""
    cursor: int = 0
    """The nominal instant up to which everything was handled or is planned."""
    waiting: int | None = None
    """The first nominal instant of that which is planned and was not started yet."""

    @property
    def identity(self) -> str:
        return self.schedule.decider.identity

    @property
    def at_boot(self) -> bool:
        """Whether it runs when the machine has been booted, and at no instant that is known."""
        return isinstance(self.schedule.recurrence, Boot)

    def handled_ahead(self, now_ms: int) -> int | None:
        """Up to which nominal instant a clock that was ahead has handled it, if its next, too."""
        if self.at_boot:
            return None
        following = self.schedule.recurrence.next_epoch(now_ms // 1000)
        if self.waiting is not None and following is not None and self.waiting <= following:
            return None  # it was planned again
        return self.cursor if self.cursor * 1000 - self.schedule.lead_ms > now_ms else None

    @property
    def concurrency(self) -> str:
        """The word of krontab files for it."""
        overlap = self.schedule.policy.overlap
        return next((word for word, one in CONCURRENCY.items() if one is overlap), overlap.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonStatus:
    """A krond, whether or not it runs, and its jobs."""

    state: StateDirectory
    running: Mapping[str, object] | None
    """What krond says about itself; None when it does not run."""
    jobs: tuple[JobStatus, ...]

    @property
    def problem(self) -> str | None:
        """Why the last reload was refused."""
        found = (self.running or {}).get("problem")
        return None if found is None else str(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodRecord:
    """A row of a job's history, with the decision it was made from."""

    row: RunRow
    decision: Decision | None
    """None for what is no single period, or when the definition of that time cannot be read."""


async def read_status(state: StateDirectory) -> DaemonStatus:
    """How krond and its jobs stand."""
    running = ask(state, "status")
    jobs: list[JobStatus] = []
    if state.ledger.exists():
        with advised(state):
            jobs = await _read_jobs(state)
    elif running is None:
        raise StoreError(
            "holds no state of krond", where=str(state.path),
            hint="name the directory with --state-dir, or start krond",
        )  # fmt: skip
    by_name = sorted(jobs, key=lambda job: (job.name, job.file))
    return DaemonStatus(state=state, running=running, jobs=tuple(by_name))


async def find_job(ledger: SqliteLedger, text: str) -> tuple[str, Schedule]:
    """The id and the definition of the job with this name or identity; removed ones too."""
    name = text.rpartition(":")[2]
    found: dict[str, tuple[str, Schedule]] = {}
    for schedule_id in await ledger.ids(f"{id_stem(name)}-"):
        schedule = await _newest_definition(ledger, schedule_id)
        if schedule is not None and schedule.decider.identity.endswith(f":{name}"):
            found[schedule.decider.identity] = schedule_id, schedule
    if text in found:
        return found[text]
    if len(found) == 1 and text == name:
        return next(iter(found.values()))
    if found:
        raise DefinitionError(
            "is the name of several jobs", where="job", got=text,
            hint=f"write one of {', '.join(found)}",
        )  # fmt: skip
    known = [_name_of(row.schedule) for row in await ledger.schedules(limit=_HINTED_MAX)]
    raise DefinitionError(
        "is no job of this krond", where="job", got=text,
        hint=f"the jobs are {', '.join(known) or 'none'}",
    )  # fmt: skip


async def read_history(ledger: SqliteLedger, schedule_id: str, *, limit: int) -> list[PeriodRecord]:
    """What became of the periods of a job, newest first."""
    definitions: dict[int, Schedule | None] = {}
    records = []
    for row in await ledger.runs(schedule_id, limit=limit):
        if row.revision not in definitions:
            definitions[row.revision] = await ledger.definition(schedule_id, row.revision)
        schedule = definitions[row.revision]
        is_period = kind_of(row.key) is Kind.PERIOD
        decision = schedule.decider.decide(row.nominal) if schedule and is_period else None
        records.append(PeriodRecord(row=row, decision=decision))
    return records


def periods_after(schedule: Schedule, at: int) -> Iterator[Decision]:
    """The periods that lie ahead at an instant, in the order of their nominal times."""
    rule = schedule.decider.window
    for nominal in schedule.recurrence.iterate_epochs(at - (rule.span - rule.lead) - 1):
        decision = schedule.decider.decide(nominal)
        if over_at(decision) > at:
            yield decision


def over_at(decision: Decision) -> int:
    """When a period no longer lies ahead: its chosen second, or the end of its window."""
    outcome = decision.outcome
    return outcome.at if isinstance(outcome, Chosen) else decision.window.end


def next_chosen(schedule: Schedule, at: int) -> int | None:
    """The earliest chosen second ahead among the next periods; None when there is none."""
    rule, decide = schedule.decider.window, schedule.decider.choose
    first = at - (rule.span - rule.lead) - 1
    best: int | None = None
    for nominal in islice(schedule.recurrence.iterate_epochs(first), AHEAD_MAX):
        if best is not None and nominal - rule.lead >= best:
            break  # no later window can begin before it
        chosen = decide(nominal)
        if chosen is not None and chosen > at and (best is None or chosen < best):
            best = chosen
    return best


async def _read_jobs(state: StateDirectory) -> list[JobStatus]:
    jobs: list[JobStatus] = []
    ledger = SqliteLedger.look_into(state.ledger)
    try:
        while page := await ledger.schedules(
            after=jobs[-1].schedule.schedule_id if jobs else "", limit=_PAGE
        ):
            jobs += [await _job_status(ledger, row) for row in page]
    finally:
        await ledger.close()
    return jobs


async def _job_status(ledger: SqliteLedger, row: ScheduleRow) -> JobStatus:
    schedule, rows = row.schedule, await ledger.runs(row.schedule.schedule_id, limit=_NEWEST)
    if len(rows) == _NEWEST and rows[-1].state in WAITING:
        rows = await ledger.runs(schedule.schedule_id, limit=_OPEN_MAX)
    suspended = row.pause is not None and row.pause_reason == SUSPENDED
    nominal, next_ms = (None, None) if suspended else _next(schedule, row.cursor, rows)
    at_boot = isinstance(schedule.recurrence, Boot)
    done = [run for run in rows if _is_handled(run)]
    name = _name_of(schedule)
    return JobStatus(
        name=name,
        file=schedule.decider.identity.removesuffix(f":{name}"),
        schedule=schedule,
        suspended=suspended,
        next=None if nominal is None or at_boot else schedule.decider.decide(nominal),
        next_ms=next_ms,
        active=tuple(run for run in rows if run.state in IN_FLIGHT),
        last=max(done, key=lambda run: run.updated_ms, default=None),
        cursor=row.cursor,
        waiting=min((run.nominal for run in rows if run.state in WAITING), default=None),
    )


def _next(schedule: Schedule, cursor: int, rows: list[RunRow]) -> tuple[int | None, int | None]:
    """The nominal and the chosen instant of what runs next."""
    coming = [(run.fire_ms, run.nominal) for run in rows if run.state in WAITING]
    ahead = list(islice(_runs_after(schedule, cursor), 1))
    nominal = schedule.recurrence.next_epoch(cursor)
    if not ahead and nominal is not None:  # none of those that were looked at can run
        ahead = [(nominal * 1000, nominal)]
    coming += ahead
    if not coming:
        return None, None
    fire_ms, first = min(coming)
    return first, fire_ms


def _runs_after(schedule: Schedule, cursor: int) -> Iterator[tuple[int, int]]:
    """The chosen and the nominal instants of the periods that are not unschedulable."""
    for nominal in islice(schedule.recurrence.iterate_epochs(cursor), LOOKED_AT_MAX):
        chosen_ms = schedule.chosen_ms(nominal)
        if chosen_ms is not None:
            yield chosen_ms, nominal


def _is_handled(run: RunRow) -> bool:
    return run.state is State.DONE or run.outcome is Outcome.EXECUTED


def _name_of(schedule: Schedule) -> str:
    return schedule.decider.identity.rpartition(":")[2]


async def _newest_definition(ledger: SqliteLedger, schedule_id: str) -> Schedule | None:
    row = await ledger.get(schedule_id)
    if row is not None:
        return row.schedule
    newest = await ledger.runs(schedule_id, limit=1)  # it was removed, and its rows are left
    return await ledger.definition(schedule_id, newest[0].revision if newest else 1)
