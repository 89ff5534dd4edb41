"""
What krond says while it works: a line for each decision, start, end and period without a run.

The names of the events and their keys are a contract. A decision is logged with all it was made
from, so that a reader can make it again; it precedes the trigger of its period. At the level of
debugging the seed and the draws are said before it. The same facts, once they are certain, go to
the listener that tells people what became of a job.

A line has timestamp, level, component and event, then `key=value` pairs; or it is JSON with the
same keys. A value with blanks or quotes in it is written as a JSON text, so that a line can always
be taken apart again.

Spec: KROND-28 to KROND-30.
"""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gnomon.apps.krond.job import Job
from gnomon.core.civil.instant import format_instant
from gnomon.core.decision import Decision
from gnomon.core.engine import Change
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, Kind, kind_of
from gnomon.ports import Clock, Committed, Ended, Failed, Launched, Observer, Report, RunRow
from gnomon.shell.launcher.ends import read_exit, without_usage
from gnomon.shell.launcher.process_id import ProcessId
from gnomon.shell.observe.log import LOGGER, log_facts
from gnomon.shell.observe.notify.message import Happening
from gnomon.shell.observe.notify.rule import Occasion
from gnomon.shell.store.instant_text import to_text

__all__ = ["JobLog", "KronLines"]

COMPONENT = "krond"

_EVENTS = {
    Reason.OVERLAP: "skipped_concurrency",
    Reason.SUPERSEDED: "skipped_concurrency",
    Reason.DEADLINE: "missed_deadline",
    Reason.LAUNCH_FAILED: "launch_failed",
    Reason.CONSTRAINTS: "constraint_unsatisfiable",
}
_OCCASIONS = {
    Outcome.SKIPPED: Occasion.SKIPPED,
    Outcome.MISSED: Occasion.MISSED,
    Outcome.UNSCHEDULABLE: Occasion.UNSCHEDULABLE,
}
_PLAIN = re.compile(r"[^\s\"'=\\]+")
_ODD = re.compile(r"[^a-z0-9]+")


@dataclass(slots=True)
class _Flight:
    """A run from its claim to its end."""

    key: str
    schedule_id: str
    nominal: int
    chosen_ms: int
    started_ms: int | None = None
    run_id: str = ""
    """What a former krond has called it."""


class JobLog(Observer):
    """Tells the log, and the listener `tell`, what a worker has written."""

    def __init__(
        self, clock: Clock, *, tell: Callable[[Happening], None] = lambda _: None,
        output_of: Callable[[str], Path | None] = lambda _: None,
    ) -> None:  # fmt: skip
        self.jobs: Mapping[str, Job] = {}
        """By the ids that the ledger has for them."""
        self.waiters: dict[str, asyncio.Future[tuple[bool, str]]] = {}
        """By the key of a run: what is told to a caller, whether it ended well, and how."""
        self._clock = clock
        self._tell = tell
        self._output_of = output_of
        self._flights: dict[str, _Flight] = {}
        self._failures: dict[str, str] = {}
        """Why periods could not be started so far."""

    def committed(self, held: Committed) -> None:
        for claim in held.claims:
            self._flights[claim.key] = _Flight(
                claim.key,
                claim.schedule.schedule_id,
                claim.nominal,
                claim.chosen_ms or claim.fire_ms,
            )
        for change in held.changes:
            for fact in change.facts:
                self._say_fact(change, fact)

    def reported(self, reports: Sequence[Report]) -> None:
        for report in reports:
            flight = self._flights.get(report.key)
            if flight is None:
                continue
            match report:
                case Launched():
                    flight.started_ms = self._clock.now_ms()
                    self._say_run("job_created", flight, pid=_pid(report.run_id))
                case Failed(reason=Reason.STOPPED):
                    del self._flights[report.key]
                case Failed(message=message, permanent=permanent):
                    self._failures[report.key] = message
                    self._say_run("error", flight, logging.ERROR, message=message)
                    del self._flights[report.key]
                    if permanent:
                        self._answer(report.key, success=False, detail=message)
                case Ended():
                    self._say_end(flight, report)
                    del self._flights[report.key]

    def took_over(self, found: Sequence[RunRow], adopted: Collection[str]) -> None:
        for row in found:
            self._flights[row.key] = _Flight(
                row.key,
                row.schedule_id,
                row.nominal,
                row.chosen_ms,
                row.started_ms,
                row.run_id or "",
            )
        for key in adopted:
            flight = self._flights[key]
            self._say_run("job_exists", flight, pid=_pid(flight.run_id))

    def _say_fact(self, change: Change, fact: Fact) -> None:
        schedule_id = change.schedule.schedule_id
        if fact.is_new and kind_of(fact.key) is Kind.PERIOD:
            _say_decision(change.schedule.decider.decide(fact.nominal))
        match fact.state:
            case State.CLAIMED:
                chosen_ms = _chosen_ms(fact)
                flight = _Flight(fact.key, schedule_id, fact.nominal, chosen_ms)
                late_ms = self._clock.now_ms() - chosen_ms
                self._say_run("trigger", flight, attempt=fact.launches, latenessMs=late_ms)
            case State.DONE if fact.outcome is not Outcome.EXECUTED:
                self._say_settled(schedule_id, fact)
            case State.DONE:
                gone = self._flights.pop(fact.key, None) or _Flight(
                    fact.key, schedule_id, fact.nominal, _chosen_ms(fact)
                )
                self._say_run("job_finished", gone, logging.WARNING, reason=fact.reason,
                              exitStatus=None, detail="exit unknown")  # fmt: skip
                self._tell_run(gone, fact.key, success=False, reason=fact.reason,
                               detail="exit unknown", ended_ms=self._clock.now_ms())  # fmt: skip
            case _:
                pass

    def _say_settled(self, schedule_id: str, fact: Fact) -> None:
        assert fact.outcome is not None
        event = _EVENTS.get(fact.reason or Reason.OVERLAP, str(fact.outcome))
        level = logging.WARNING if fact.outcome is Outcome.UNSCHEDULABLE else logging.INFO
        why = self._failures.pop(fact.key, None)
        facts: dict[str, object] = {
            "identity": self._identity(schedule_id), **_which(fact.key, fact.nominal),
            "outcome": fact.outcome, "reason": fact.reason, "periods": fact.periods,
            "lastPeriodId": format_instant(fact.last_nominal) if fact.last_nominal else None,
            "chosenTime": None if fact.last_nominal else to_text(_chosen_ms(fact)), "message": why,
        }  # fmt: skip
        log_facts(level, event, facts)
        self._answer(fact.key, success=False, detail=f"{fact.outcome}({fact.reason})")
        job = self.jobs.get(schedule_id)
        if job is not None:
            self._tell(Happening(
                job=job, occasion=_OCCASIONS[fact.outcome], outcome=fact.outcome,
                period_id=format_instant(fact.nominal), periods=fact.periods, reason=fact.reason,
                chosen_ms=None if fact.last_nominal else _chosen_ms(fact), detail=why or "",
                brief=why or "", ended_ms=self._clock.now_ms(),
            ))  # fmt: skip

    def _say_end(self, flight: _Flight, end: Ended) -> None:
        ended_ms = end.ended_ms or self._clock.now_ms()
        found = read_exit(end.detail)
        usage = None if found is None else found.usage
        event = "replaced_job" if end.reason is Reason.REPLACED else "job_finished"
        level = logging.INFO if end.success else logging.WARNING
        self._say_run(
            event, flight, level, success=end.success, reason=end.reason,
            exitStatus=None if found is None else found.code,
            signal=None if found is None else found.signal,
            durationMs=None if flight.started_ms is None else ended_ms - flight.started_ms,
            userSeconds=usage and usage.user_s, systemSeconds=usage and usage.system_s,
            maxRssKib=usage and usage.memory_kib,
        )  # fmt: skip
        self._tell_run(
            flight, end.key, success=end.success, reason=end.reason, detail=end.detail,
            ended_ms=ended_ms,
        )  # fmt: skip

    def _tell_run(
        self, flight: _Flight, key: str, *, success: bool, reason: Reason | None, detail: str,
        ended_ms: int,
    ) -> None:  # fmt: skip
        self._failures.pop(key, None)
        self._answer(key, success=success, detail=detail)
        job = self.jobs.get(flight.schedule_id)
        if job is None:
            return
        self._tell(Happening(
            job=job, occasion=Occasion.SUCCESS if success else Occasion.FAILURE,
            period_id=format_instant(flight.nominal), chosen_ms=flight.chosen_ms,
            outcome=Outcome.EXECUTED, reason=reason, detail=detail, brief=without_usage(detail),
            started_ms=flight.started_ms, ended_ms=ended_ms, output=self._output_of(key),
        ))  # fmt: skip

    def _say_run(
        self, event: str, flight: _Flight, level: int = logging.INFO, **facts: object
    ) -> None:
        who: dict[str, object] = {
            "identity": self._identity(flight.schedule_id),
            **_which(flight.key, flight.nominal), "chosenTime": to_text(flight.chosen_ms),
        }  # fmt: skip
        log_facts(level, event, who | facts)

    def _answer(self, key: str, *, success: bool, detail: str) -> None:
        """Tell the caller that waits for the end of a run."""
        waiter = self.waiters.pop(key, None)
        if waiter is not None and not waiter.done():
            waiter.set_result((success, detail))

    def _identity(self, schedule_id: str) -> str:
        job = self.jobs.get(schedule_id)
        return schedule_id if job is None else job.identity


class KronLines(logging.Formatter):
    """Lines of krond, as text or as JSON."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        found = getattr(record, "fields", None)
        facts: dict[str, object] = dict(found) if isinstance(found, dict) else {}
        event = str(facts.pop("event", None) or record.getMessage())
        head: dict[str, object] = {
            "timestamp": at.replace("+00:00", "Z"), "level": record.levelname,
            "component": COMPONENT, "event": _ODD.sub("_", event.lower()).strip("_"),
        }  # fmt: skip
        if record.exc_info:
            facts["traceback"] = self.formatException(record.exc_info)
        if self._as_json:
            return json.dumps(head | facts, default=str)
        pairs = [f"{name}={_value(fact)}" for name, fact in facts.items() if fact is not None]
        return " ".join([*map(str, head.values()), *pairs])


def _say_decision(decision: Decision) -> None:
    if LOGGER.isEnabledFor(logging.DEBUG):
        who = {"identity": decision.identity, "periodId": decision.period_id}
        seed = {
            "periodKey": decision.period_key, "seedMaterial": decision.seed_material,
            "seedHash": decision.seed_hash,
        }  # fmt: skip
        log_facts(logging.DEBUG, "seed_computed", who | seed)
        rejected = decision.attempt_count - (decision.chosen_at is not None)
        if rejected > 0:
            log_facts(logging.DEBUG, "constraint_reject", who | {"candidates": rejected})
        log_facts(logging.DEBUG, "sample", who | {"attemptCount": decision.attempt_count})
    log_facts(logging.INFO, "decision", decision.to_json())


def _which(key: str, nominal: int) -> dict[str, str]:
    """Which run it is: that of a period or of a boot, or one that was asked for, by its name."""
    if kind_of(key) is Kind.MANUAL:
        return {"manual": key.rpartition(":")[2]}
    if kind_of(key) is Kind.BOOT:
        return {"periodId": format_instant(nominal), "boot": key.rpartition(":")[2]}
    return {"periodId": format_instant(nominal)}


def _chosen_ms(fact: Fact) -> int:
    """The instant that was chosen for a period, whichever try of it this is."""
    return fact.chosen_ms or fact.fire_ms


def _pid(run_id: str) -> int | None:
    found = ProcessId.read(run_id)
    return None if found is None else found[0].pid


def _value(fact: object) -> str:
    text = fact if isinstance(fact, str) else json.dumps(fact, default=str, separators=(",", ":"))
    return text if _PLAIN.fullmatch(text) and text.isprintable() else json.dumps(text)
