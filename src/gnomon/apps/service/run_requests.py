"""
Requests about runs: have one by hand, one without a schedule, a backfill, leave one out, end one.

Each is written together with who asked for it. Asking again under the same name asks for nothing
new, so that a client that got no answer can ask again.

What is started directly, without a schedule, is a version of a DAG, under a key of the caller's. It
becomes a run like any other: a row that the worker finds, whatever happens in between, under the
schedule of such runs, which never runs by itself. So it is seen, explained, ended and recovered as
runs are, and an executor may say how it ends. A DAG that is not there starts nothing.

Spec: REGISTRAR-5 to REGISTRAR-7, START-1 to START-4.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.feedback import record_feedback
from gnomon.apps.service.parameters import Params, joined_params
from gnomon.apps.service.queries import Queries, owner_of, read_instant
from gnomon.apps.service.schedule_id import START, direct_id
from gnomon.apps.service.schedule_input import ScheduleInput, schedule_of, target_of
from gnomon.apps.service.settings import Settings
from gnomon.apps.service.views import Backfilled, RunView, run_view
from gnomon.core.civil.instant import format_instant
from gnomon.core.identifier import ID, check_id
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import backfill_key
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import canonical
from gnomon.errors import ConflictError, DefinitionError, NotFoundError
from gnomon.ports import Clock, Ledger
from gnomon.ports.dag import DagStore
from gnomon.ports.executor import Feedback
from gnomon.ports.ledger_rows import Actor, By, RunRow

__all__ = ["BACKFILL_MAX", "RunRequests", "Started", "by_of"]

BACKFILL_MAX = 10_000
"""How many runs one backfill may have."""
_NEVER = "1970-01-01T00:00:00Z"
"""The one instant of a schedule that never runs by itself."""
_DIRECTLY = "started directly"


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """Whether a run is there now, and under which key."""

    started: bool
    idempotency_key: str
    """The key of the run; empty without one."""
    reason: str = ""
    """Why nothing was started."""


class RunRequests(Queries):
    """The part of the registrar that asks for runs."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock,
        settings: Settings,
        events: EventFeed,
        dags: DagStore,
        *,
        unique: Callable[[], str],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """`unique` names runs by hand that come without a name; `wake` tells the worker."""
        super().__init__(ledger, clock)
        self._settings = settings
        self._dags = dags
        self._events = events
        self._unique = unique
        self._wake = wake

    async def trigger(
        self, actor: Actor, schedule_id: str, *, token: str | None = None, reason: str = "",
        params: Params | None = None,
    ) -> RunView:  # fmt: skip
        """Have a run by hand start now; the same token again asks for nothing new."""
        name = self._unique() if token is None else check_id(token, where="idempotency-key")
        row = await self._own(actor, schedule_id)
        owner, target = owner_of(row), target_of(row.schedule)
        assert target is not None
        run = await self._ledger.trigger(
            schedule_id, name=name, now_ms=self._clock.now_ms(),
            by=by_of(actor, owner, reason=reason), params=joined_params(target.params, params),
        )  # fmt: skip
        if run is None:
            raise NotFoundError(where="schedule_id", got=schedule_id)
        self._tell("run.triggered", owner, schedule_id, key=run.key)
        return run_view(run)

    async def start(
        self, actor: Actor, workflow_id: str, version: int, user_id: str, scheduled_for: str,
        idempotency_key: str,
    ) -> Started:  # fmt: skip
        """Have a version of a DAG run now; the same key again starts nothing, and answers alike."""
        given = ScheduleInput(
            workflow_id=workflow_id, version=version, user_id=user_id, trigger_id=START,
            schedule_id=direct_id(workflow_id, version, user_id), once=_NEVER,
            overlap_policy="allow", catchup_policy="none", jitter_ms=0,
        )  # fmt: skip
        schedule = self._asked(actor, given)
        nominal = read_instant(scheduled_for, "scheduled_for")
        if await self._dags.load(user_id, workflow_id, version) is None:
            reason = f"DAG {workflow_id} has no version {version}; deploy it first"
            return Started(started=False, idempotency_key="", reason=reason)
        run = await self._run_of(
            schedule, _name(idempotency_key), nominal, by_of(actor, user_id, reason=_DIRECTLY)
        )
        self._tell("run.triggered", user_id, schedule.schedule_id, key=run.key)
        return Started(started=True, idempotency_key=run.key)

    async def skip_next(self, actor: Actor, schedule_id: str) -> str:
        """Leave out the next period; its planned instant."""
        owner = owner_of(await self._own(actor, schedule_id))
        nominal = await self._ledger.skip_next(
            schedule_id, now_ms=self._clock.now_ms(), by=by_of(actor, owner)
        )
        if nominal is None:
            raise ConflictError(
                "has no period ahead that could be left out", where="schedule_id", got=schedule_id
            )
        run_at = format_instant(nominal)
        self._tell("schedule.skip_next", owner, schedule_id, run_at=run_at)
        return run_at

    async def backfill(
        self,
        actor: Actor,
        schedule_id: str,
        *,
        start: str,
        end: str,
        name: str | None = None,
        dry_run: bool = False,
    ) -> Backfilled:
        """Have a run for each period from start to end; under one name each period has one."""
        first, last = read_instant(start, "start"), read_instant(end, "end")
        name = f"{first}-{last}" if name is None else check_id(name, where="name")
        row = await self._own(actor, schedule_id)
        nominals = _past(row.schedule, first, last, now=self._clock.now_ms() // 1000)
        if dry_run:
            new = await self._without_run(schedule_id, name, nominals)
        else:
            new = await self._make_up(actor, owner_of(row), schedule_id, name, nominals)
        return Backfilled(
            schedule_id=schedule_id,
            name=name,
            count=len(nominals),
            new=new,
            first=format_instant(nominals[0]) if nominals else None,
            last=format_instant(nominals[-1]) if nominals else None,
            dry_run=dry_run,
        )

    async def kill_run(self, actor: Actor, key: str, *, reason: str = "") -> RunView:
        """Have a run ended: at once when it waits, else by the worker that holds it."""
        row, owner = await self._own_run(actor, key)
        if row.state is State.DONE:
            raise ConflictError("is over already", where="key", got=key)
        ended = await self._ledger.kill(
            key, by=by_of(actor, owner, reason=reason), now_ms=self._clock.now_ms()
        )
        if ended is None:
            raise NotFoundError(where="key", got=key)
        self._tell("run.kill_asked", owner, ended.schedule_id, key=key)
        return run_view(ended)

    async def feedback(self, feedback: Feedback) -> str:
        """What an executor said about a run: accepted, known already, or unknown."""
        result = await record_feedback(self._ledger, feedback, now_ms=self._clock.now_ms())
        if result == "accepted":
            run = await self._ledger.run(feedback.key)
            row = None if run is None else await self._ledger.get(run.schedule_id)
            if row is not None:
                schedule_id = row.schedule.schedule_id
                kind = f"run.{feedback.status.lower()}"
                self._tell(kind, owner_of(row), schedule_id, key=feedback.key)
        return result

    def _asked(self, actor: Actor, given: ScheduleInput) -> Schedule:
        """The schedule that the actor asks for, if it may."""
        if not actor.may_see(given.user_id):
            raise DefinitionError(
                "is not the sender's", where="user_id", got=given.user_id,
                hint=f"write {actor.tenant}",
            )  # fmt: skip
        return schedule_of(given, self._settings)

    async def _run_of(self, schedule: Schedule, name: str, nominal: int, by: By) -> RunRow:
        """A run beside all schedules: one of a schedule that never runs by itself."""
        schedule_id, now_ms = schedule.schedule_id, self._clock.now_ms()
        run = None
        while run is None:  # it may be deleted in between
            row = await self._ledger.get(schedule_id)
            if row is None or row.schedule != schedule:
                await self._ledger.save(schedule, now_ms=now_ms, by=by)
            run = await self._ledger.trigger(
                schedule_id, name=name, now_ms=now_ms, by=by, nominal=nominal
            )
        return run

    async def _make_up(
        self, actor: Actor, owner: str, schedule_id: str, name: str, nominals: Sequence[int]
    ) -> int:
        added = await self._ledger.backfill(
            schedule_id, name=name, nominals=nominals, now_ms=self._clock.now_ms(),
            by=by_of(actor, owner),
        )  # fmt: skip
        if added is None:
            raise NotFoundError(where="schedule_id", got=schedule_id)
        self._tell("schedule.backfilled", owner, schedule_id, runs=added, name=name)
        return added

    async def _without_run(self, schedule_id: str, name: str, nominals: Sequence[int]) -> int:
        keys = [backfill_key(schedule_id, name, nominal) for nominal in nominals]
        return sum([await self._ledger.run(key) is None for key in keys])

    def _tell(
        self,
        kind: str,
        user_id: str,
        schedule_id: str,
        **fields: str | int | bool | None,
    ) -> None:
        """Tell callers that watch, and a worker of this process that there is something to do."""
        self._events.publish(kind, user_id=user_id, schedule_id=schedule_id, **fields)
        self._wake()


def by_of(actor: Actor, user_id: str, **detail: str) -> By:
    """Who asks, for whose schedule; what is empty is not written down."""
    said = {name: text for name, text in detail.items() if text}
    return By(subject=actor.subject, user_id=user_id, detail=canonical(said))


def _name(key: str) -> str:
    """The key where it can be part of another, else what stands for it."""
    return key if ID.fullmatch(key) else sha256(key.encode()).hexdigest()


def _past(schedule: Schedule, first: int, last: int, *, now: int) -> list[int]:
    """The periods of a time that is over."""
    shown = format_instant(last)
    if last < first:
        raise DefinitionError(
            "must not lie before start", where="end", got=shown,
            hint=f"write {format_instant(first)} or later",
        )  # fmt: skip
    if last > now:
        raise DefinitionError(
            "must not lie ahead, where periods run by themselves", where="end", got=shown,
            hint=f"write {format_instant(now)} or earlier",
        )  # fmt: skip
    found: list[int] = []
    at = schedule.recurrence.next_epoch(first - 1)
    while at is not None and at <= last:
        if len(found) == BACKFILL_MAX:
            raise DefinitionError(
                f"would be more than {BACKFILL_MAX} runs", where="end", got=shown,
                hint=f"write {format_instant(found[-1])}",
            )  # fmt: skip
        found.append(at)
        at = schedule.recurrence.next_epoch(at)
    return found
