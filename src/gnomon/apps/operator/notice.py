"""
What people are told of a KronJob: Events, with a reason that can be looked for.

An Event is told once it is certain, and forgotten by the server after an hour; the truth is the
status. Where the status has a code for a reason, an Event has the sentence.

Spec: OPERATOR-30.
"""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from gnomon.apps.operator.periods import TOO_MANY_ACTIVE
from gnomon.apps.operator.status import ACTIVE_MAX, Entry, Range, Record
from gnomon.core.civil.duration import short_duration
from gnomon.core.civil.instant import format_instant
from gnomon.core.ledger.lifecycle import Outcome, Reason
from gnomon.core.schedule import Schedule
from gnomon.ports.kubernetes import API_VERSION, Create, Kind, Object
from gnomon.ports.kubernetes_object import digest, mapping, text

__all__ = ["Notice", "Told", "event_of", "notices_of"]

_MESSAGE_MAX = 1_000


class Told(StrEnum):
    """The reasons of Events."""

    STARTED = "Started"
    COMPLETED = "Completed"
    SKIPPED = "Skipped"
    MISSED = "Missed"
    UNSCHEDULABLE = "Unschedulable"
    REPLACING = "Replacing"
    LAUNCH_FAILED = "LaunchFailed"
    INVALID_SPEC = "InvalidSpec"
    NAME_TAKEN = "NameTaken"
    CLOCK_SKEW = "ClockSkew"
    STATUS_REPAIRED = "StatusRepaired"


class Notice(NamedTuple):
    """One thing to tell."""

    told: Told
    message: str
    is_warning: bool = False


_TOLD = {
    Outcome.SKIPPED: Told.SKIPPED, Outcome.MISSED: Told.MISSED,
    Outcome.UNSCHEDULABLE: Told.UNSCHEDULABLE,
}  # fmt: skip


def notices_of(
    entries: Sequence[Entry], *, schedule: Schedule, active: str = ""
) -> Sequence[Notice]:
    """What is told of periods that did not run; `active` is the Job that was in their way."""
    notices = []
    for one in entries:
        if isinstance(one, Range):
            span = f"{one.size} periods from {format_instant(one.first)}"
            span += f" to {format_instant(one.last)}"
        else:
            span = f"the period {format_instant(one.period)}"
        message = f"{span}: {one.outcome}: {_why(one, schedule, active)}"
        notices.append(Notice(_TOLD[one.outcome], message, one.outcome is not Outcome.SKIPPED))
    return notices


def _why(one: Entry, schedule: Schedule, active: str) -> str:
    late = short_duration(schedule.policy.deadline or timedelta(0))
    second = "its chosen second" if isinstance(one, Record) else "the chosen second of each"
    if isinstance(one, Record) and one.chosen is not None:
        second += f", {format_instant(one.chosen)}"
    said: dict[str, str] = {
        Reason.DEADLINE: f"more than {late} after {second}",
        Reason.LAUNCH_FAILED: f"no Job could be made until {late} after {second}",
        Reason.OVERLAP: f"{active} was active, and concurrency is forbid",
        Reason.SUPERSEDED: "a newer period was due at the same time, and concurrency is replace",
        Reason.CATCHUP_LIMIT: "too many newer periods were overdue",
        Reason.CONSTRAINTS: "the constraints allow no second of the window",
        TOO_MANY_ACTIVE: f"{ACTIVE_MAX} Jobs were active",
    }
    return said.get(one.reason, one.reason)


def event_of(kronjob: Object, notice: Notice, *, now: int, reporter: str) -> Create:
    """The Event that tells it; the same thing told again in the same second has the same name."""
    metadata = mapping(kronjob, "metadata")
    name, namespace = text(metadata, "name"), text(metadata, "namespace")
    instant = format_instant(now)
    mark = digest(text(metadata, "uid"), notice, instant)[:16]
    event: dict[str, object] = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{mark}", "namespace": namespace},
        "involvedObject": {
            "apiVersion": API_VERSION, "kind": "KronJob", "name": name, "namespace": namespace,
            "uid": text(metadata, "uid"),
        },
        "type": "Warning" if notice.is_warning else "Normal",
        "reason": notice.told.value,
        "message": notice.message[:_MESSAGE_MAX],
        "firstTimestamp": instant,
        "lastTimestamp": instant,
        "count": 1,
        "source": {"component": "gnomon-operator"},
        "reportingComponent": "gnomon-operator",
        "reportingInstance": reporter,
    }  # fmt: skip
    return Create(Kind.EVENT, namespace, event)
