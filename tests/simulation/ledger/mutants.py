"""
Deliberate mistakes in the engine, the store and the runtime: each is made by replacing one piece.

A mutant is what a tired programmer could have written. None of them may survive the judges.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import NamedTuple
from unittest.mock import patch

from gnomon.core.engine import Change, Due, Limits, judging, line, plan
from gnomon.core.ledger.lifecycle import Reason, State
from gnomon.core.ledger.period import Fact, Waiting
from gnomon.core.schedule import Uncertain
from gnomon.ports import Claim, Failed, Held, Report
from gnomon.shell.clock import Reading
from gnomon.shell.store import asked, commitment
from gnomon.shell.store.queries import named
from gnomon.shell.store.reported import Batch, ReportedRun
from gnomon.shell.store.transaction import Transaction
from gnomon.shell.worker import worker
from gnomon.shell.worker.ending import Ending
from gnomon.shell.worker.held_run import HeldEvent, HeldRun
from gnomon.shell.worker.held_runs import HeldRuns
from gnomon.simulation.ledger.launcher import SimulatedLauncher
from gnomon.simulation.ledger.plan import World
from tests.simulation.ledger import mistold

__all__ = ["MUTANTS", "Mutant"]

Patch = AbstractContextManager[object]


class Mutant(NamedTuple):
    """A mistake, and the worlds in which it must show."""

    name: str
    world: World
    make: Callable[[], Patch]
    first_seed: int = 0
    """From which world on it is looked for; of what hardly ever happens, shortly before it does."""


@contextmanager
def _commit_without_looking() -> Iterator[None]:
    """Neither the version of the schedule nor the state of its rows is compared."""

    advance = commitment._advance

    def whatever_version(
        connection: sqlite3.Connection, changes: Sequence[Change], now: str
    ) -> int:
        for change in changes:
            found = connection.execute(
                "SELECT lock_version FROM schedules WHERE schedule_id = ?",
                (change.schedule.schedule_id,),
            ).fetchone()
            advance(connection, [change._replace(version=found[0])], now)
        return len(changes)

    with (
        patch.object(commitment, "_advance", whatever_version),
        patch.object(commitment, "_with_current_version", lambda _, changes: list(changes)),
        patch.object(commitment, "may_follow", lambda *_: True),
    ):
        yield


def _act_before_commit() -> Patch:
    claim_and_commit = worker.Worker._claim

    async def launch_first(self: worker.Worker, at: Reading) -> bool:
        dues = await self.ledger.load(now_ms=at.now_ms, limit=self.batch)
        for change in plan(dues, now_ms=at.now_ms, limits=self.limits):
            for one in change.launches:
                schedule, fence = change.schedule, one.launches
                await self.launcher.launch(
                    Claim(schedule, one.key, one.nominal, one.fire_ms, one.launches, fence, ())
                )
        return await claim_and_commit(self, at)

    return patch.object(worker.Worker, "_claim", launch_first)


def _report_without_fence() -> Patch:
    accept = Batch.accept

    def any_fence(self: Batch, run: ReportedRun, one: Report) -> bool:
        return accept(self, run, one._replace(fence=run.fence))

    return patch.object(Batch, "accept", any_fence)


def _cursor_without_row() -> Patch:
    """A period whose instant is still to come is not written down."""

    def forget(due: Due, change: Change) -> Change:
        kept = [fact for fact in change.facts if not (fact.is_new and fact.state is State.PLANNED)]
        return change._replace(facts=kept)

    return _planning(after=forget)


def _cursor_goes_back() -> Patch:
    """A late period is opened once more by the next look."""

    def back(due: Due, change: Change) -> Change:
        before = due.schedule.recurrence.latest_epoch(change.cursor - 1)
        is_late = len(change.facts) > 1 and before is not None and before >= due.cursor
        return change._replace(cursor=before) if is_late and before else change

    return _planning(after=back)


def _launched_twice() -> Patch:
    act = worker.Worker._take

    def take_twice(self: worker.Worker, claims: Sequence[Claim], at: Reading) -> None:
        act(self, claims, at)
        # What is being caught up with.
        act(self, [claim for claim in claims if at.now_ms - claim.fire_ms > 2_000], at)

    return patch.object(worker.Worker, "_take", take_twice)


def _overlap_ignored() -> Patch:
    return _planning(before=lambda due: due._replace(in_flight=()))


def _unsure_is_ignored() -> Patch:
    """A launch without an answer is taken for one that was refused."""

    def sure(due: Due) -> Due:
        return due._replace(waiting=[one._replace(may_have_run=False) for one in due.waiting])

    return _planning(before=sure)


def _unsure_is_not_ended() -> Patch:
    """What may be running is replaced without being ended."""

    def leave(due: Due, change: Change) -> Change:
        ended = [run for run in change.replaced if run.state is not State.PLANNED]
        return change._replace(replaced=ended)

    return _planning(after=leave)


def _abandoned_is_relaunched() -> Patch:
    def restart(due: Due) -> Due:
        policy = replace(due.schedule.policy, uncertain=Uncertain.RESTART)
        return due._replace(schedule=replace(due.schedule, policy=policy))

    return _planning(before=restart)


def _deadline_ignored() -> Patch:
    def no_deadline(due: Due) -> Due:
        policy = replace(due.schedule.policy, deadline=None)
        return due._replace(schedule=replace(due.schedule, policy=policy))

    return _planning(before=no_deadline)


def _left_out_runs() -> Patch:
    return _planning(before=lambda due: due._replace(skips=()))


def _asked_for_is_forgotten() -> Patch:
    def without(due: Due) -> Due:
        return due._replace(waiting=[one for one in due.waiting if ":" not in one.key])

    return _planning(before=without)


def _parameters_given_last_count() -> Patch:
    add = asked._add

    async def as_if_new(
        transaction: Transaction, schedule_id: str, facts: Iterable[Fact], now_ms: int
    ) -> int | None:
        return None if await add(transaction, schedule_id, facts, now_ms) is None else 1

    return patch.object(asked, "_add", as_if_new)


def _queue_dropped() -> Patch:
    return _planning(
        before=lambda due: due._replace(waiting=[one for one in due.waiting if not one.queued])
    )


def _range_off_by_one() -> Patch:
    """The last period of a range is left out, and the cursor has passed it."""

    def shorter(due: Due, change: Change) -> Change:
        facts = list(change.facts)
        for place, fact in enumerate(facts):
            if fact.last_nominal > fact.nominal:
                last = due.schedule.recurrence.latest_epoch(fact.last_nominal - 1) or 0
                facts[place] = fact._replace(last_nominal=last, periods=fact.periods - 1)
        return change._replace(facts=facts)

    return _planning(after=shorter)


def _lost_run_is_forgotten() -> Patch:
    return _planning(before=lambda due: due._replace(lost=()))


def _lease_is_not_renewed() -> Patch:
    async def renew_nothing(self: worker.Worker, at: Reading) -> None:
        return

    return patch.object(worker.Worker, "_renew", renew_nothing)


def _renewed_as_defined() -> Patch:
    """A renewal lasts as long as the definition says by now, and the worker has another in mind."""
    due = HeldRuns.due

    def without_length(self: HeldRuns, at: Reading) -> list[Held]:
        return [run._replace(lease_ms=None) for run in due(self, at)]

    return patch.object(HeldRuns, "due", without_length)


def _end_wakes_nobody() -> Patch:
    """A queue that was planned while a run ended is never looked at."""
    accept = Batch.accept

    def forget(self: Batch, run: ReportedRun, one: Report) -> bool:
        accepted = accept(self, run, one)
        self.ended.clear()
        return accepted

    return patch.object(Batch, "accept", forget)


def _failure_is_not_reported() -> Patch:
    def forget(self: Ending, run: HeldRun, event: HeldEvent, failed: Failed) -> None:
        self._runs.move(run, event)

    return patch.object(Ending, "fail", forget)


def _killed_in_the_ledger_alone() -> Patch:
    """What may be running is over when a user asks for its end, and no worker ends it."""
    sql = named("ledger.sql")
    at_once = sql["end_waiting"].replace("'skipped'", "coalesce(outcome, 'skipped')")
    return patch.dict(sql, {"end_waiting": at_once.replace("AND outcome IS NULL", "")})


def _killed_is_tried_again() -> Patch:
    """What may be running has its next try, whether a user asked for its end or not."""

    def forget(due: Due) -> Due:
        unheld = [run for run in due.in_flight if run.state is State.PLANNED]
        waiting = [
            Waiting(run.key, run.nominal, run.fire_ms, False, run.launches, True, run.fence)
            for run in unheld
        ]
        flying = [run for run in due.in_flight if run.state is not State.PLANNED]
        return due._replace(waiting=[*due.waiting, *waiting], in_flight=flying)

    return _planning(before=forget)


def _further_try_gives_way_alone() -> Patch:
    """Who is replaced before its second launch is over, whether its first one runs or not."""

    async def drop(self: Ending, run: HeldRun) -> bool:
        reason = Reason.SUPERSEDED
        failed = Failed(run.key, run.fence, "replaced", permanent=True, reason=reason)
        self.fail(run, HeldEvent.REPLACED, failed)
        return True

    return patch.object(Ending, "_give_way", drop)


def _spread_anew_in_each_look() -> Patch:
    """What waits in line is not looked at when more is put into it."""
    return patch.object(line, "_waits_in_line", lambda *_: False)


def _newest_overdue_first() -> Patch:
    return patch.object(line, "_by_nominal", lambda one: -one.nominal)


def _tick_of_no_length() -> Patch:
    """As many start in one look as may, and the next look follows at once."""
    return _planning(limits=lambda limits: limits._replace(tick_ms=1, line_max=1))


def _queue_goes_past_the_line() -> Patch:
    return patch.object(
        judging, "_keeping_their_turn",
        lambda _, __, later: sum(1 for one in later if one.launches),
    )  # fmt: skip


def _unknown_is_over() -> Patch:
    """A launcher that does not have a run says that it is over, wherever that may go on."""
    end = SimulatedLauncher.end

    async def say_yes(self: SimulatedLauncher, key: str, reason: Reason) -> bool:
        return await end(self, key, reason) is not False

    return patch.object(SimulatedLauncher, "end", say_yes)


def _planning(
    *,
    before: Callable[[Due], Due] = lambda due: due,
    after: Callable[[Due, Change], Change] = lambda due, change: change,
    limits: Callable[[Limits], Limits] = lambda limits: limits,
) -> Patch:
    others = limits

    def changed(dues: Iterable[Due], *, now_ms: int, limits: Limits) -> list[Change]:
        given = list(dues)
        made = plan([before(due) for due in given], now_ms=now_ms, limits=others(limits))
        return [
            after(due, change._replace(schedule=due.schedule))
            for due, change in zip(given, made, strict=True)
        ]

    return patch.object(worker, "plan", changed)


MUTANTS = [
    Mutant("a commit looks at no version", World.WORKERS, _commit_without_looking),
    Mutant("a run is launched before the commit", World.CRASH, _act_before_commit),
    Mutant("a report is accepted whatever its fence", World.WORKERS, _report_without_fence),
    Mutant("the cursor passes a period without a row", World.CRASH, _cursor_without_row),
    Mutant("the cursor goes back while catching up", World.CRASH, _cursor_goes_back),
    Mutant("a late period is launched twice", World.CRASH, _launched_twice),
    Mutant("overlap is ignored", World.CRASH, _overlap_ignored),
    Mutant("what may be running is ignored", World.WORKERS, _unsure_is_ignored),
    Mutant("what may be running is not ended", World.WORKERS, _unsure_is_not_ended),
    Mutant("an abandoned run is started again", World.CRASH, _abandoned_is_relaunched),
    Mutant("the deadline is ignored", World.CRASH, _deadline_ignored),
    Mutant("the queue is forgotten", World.CRASH, _queue_dropped),
    Mutant("a range ends one period early", World.WORKERS, _range_off_by_one),
    Mutant("a lost run is never settled", World.CRASH, _lost_run_is_forgotten),
    Mutant("no lease is renewed", World.CRASH, _lease_is_not_renewed),
    Mutant(
        "a lease is renewed as defined by now",
        World.WORKERS,
        _renewed_as_defined,
        first_seed=100,
    ),
    Mutant("the end of a run wakes no queue", World.WORKERS, _end_wakes_nobody),
    Mutant("a launch that failed is not reported", World.CRASH, _failure_is_not_reported),
    Mutant("a period that is left out runs", World.WORKERS, _left_out_runs),
    Mutant("what was asked for is forgotten", World.CRASH, _asked_for_is_forgotten),
    Mutant("the parameters given last count", World.WORKERS, _parameters_given_last_count),
    Mutant("a kill is written down alone", World.WORKERS, _killed_in_the_ledger_alone),
    Mutant("what was killed is tried again", World.WORKERS, _killed_is_tried_again),
    Mutant("what did not hold is told", World.WORKERS, mistold.what_did_not_hold),
    Mutant("each part of a line is spread anew", World.CRASH, _spread_anew_in_each_look),
    Mutant("the newest overdue period goes first", World.CRASH, _newest_overdue_first),
    Mutant("a tick has no length", World.WORKERS, _tick_of_no_length),
    Mutant(
        "what is on time goes past a queue",
        World.WORKERS,
        _queue_goes_past_the_line,
        first_seed=200,
    ),
    Mutant("a launcher takes what it does not have for over", World.WORKERS, _unknown_is_over),
    Mutant(
        "a run that has ended is told as lost",
        World.WORKERS,
        mistold.ended_as_lost,
        first_seed=50,
    ),
    Mutant("what is settled last is not told", World.WORKERS, mistold.without_a_word),
    Mutant(
        "what may be running is not ended where a further try of it gives way",
        World.WORKERS,
        _further_try_gives_way_alone,
        first_seed=700,
    ),
]
