"""
What people are told of a KronJob: Events, with a reason that can be looked for.

An Event is told once it is certain, and forgotten by the server after an hour; the truth is the
status.
"""

from enum import StrEnum
from typing import NamedTuple

from gnomon.core.civil.instant import format_instant
from gnomon.ports.kubernetes import API_VERSION, Create, Kind, Object
from gnomon.ports.kubernetes_object import digest, mapping, text

__all__ = ["Notice", "Told", "event_of"]

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
