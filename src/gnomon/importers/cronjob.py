"""
A CronJob becomes a KronJob, with every difference in meaning said.

What can be kept is kept: name, namespace, labels, annotations, template, limits. The fires of both
are compared over two years. A CronJob without a deadline starts the newest missed run however late
it is; a KronJob always has one, and gets the shortest time between two of its periods, so that
after an outage one run is made up for and not several.

Spec: CRONJOB-1 to CRONJOB-6.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice, pairwise, takewhile
from typing import NamedTuple

from gnomon.apps.operator.definition import Definition, read_definition
from gnomon.core.civil.duration import short_duration
from gnomon.core.civil.instant import format_instant
from gnomon.core.fire_diff import FireDiff, compare_fires
from gnomon.core.recurrence import cron
from gnomon.errors import DefinitionError
from gnomon.importers.cronjob_schedule import CronJobTimes, read_times
from gnomon.ports.kubernetes import GROUP, VERSION
from gnomon.ports.kubernetes_object import mapping, text

__all__ = ["COMPARED_S", "Difference", "TakenCronJob", "general_differences", "take_cronjob"]

COMPARED_S = 2 * 366 * 86_400
"""Fires are compared over so long a time."""

_SHOWN_MAX = 10
_GAPS_MAX = 10_000
_CONCURRENCY = {"Allow": "allow", "Forbid": "forbid", "Replace": "replace"}
_OF_THE_SERVER = (
    "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink",
    "ownerReferences", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers",
)  # fmt: skip
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_FIELDS = (
    "schedule", "timeZone", "startingDeadlineSeconds", "concurrencyPolicy", "suspend",
    "jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit",
)  # fmt: skip


class Difference(NamedTuple):
    """What means something else from now on, and in which field."""

    field: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenCronJob:
    """What became of a CronJob."""

    manifest: Mapping[str, object]
    """Of the KronJob, for `kubectl apply`."""
    differences: tuple[Difference, ...]
    fires: FireDiff
    """Which of its fires come and go."""


def general_differences() -> tuple[str, ...]:
    """What is different for every CronJob."""
    return (
        "Jobs get other names, which hold their period; each is made suspended and then released",
        "an edit makes no new period due; what is due already runs while its deadline lasts,"
        " and what was handled stays handled",
        "a period that has to wait past its deadline is missed, and the status says so;"
        " many missed runs never stop a KronJob",
        "a KronJob begins with the first period after it was made:"
        " suspend the CronJob before you apply the KronJob, or both run",
    )


def take_cronjob(cronjob: Mapping[str, object], *, controller_zone: str, now: int) -> TakenCronJob:
    """The KronJob for a CronJob; a `DefinitionError` names the field that cannot be taken over."""
    given = mapping(cronjob, "spec")
    for field in given:
        if field not in _FIELDS:
            raise DefinitionError(
                "is not a field of CronJob", where=f"spec.{field}", got=given[field],
                hint=f"the fields are {', '.join(_FIELDS)}",
            )  # fmt: skip
    times = read_times(
        given.get("schedule"), given.get("timeZone"), controller_zone=controller_zone
    )
    deadline = _deadline(given.get("startingDeadlineSeconds"), times, now)
    spec: dict[str, object] = {
        "schedule": times.schedule,
        "timezone": times.zone,
        "policy": {
            "concurrency": _concurrency(given.get("concurrencyPolicy")),
            "deadline": short_duration(deadline),
            **({"suspend": given["suspend"]} if given.get("suspend") else {}),
        },
        **{
            name: given[name]
            for name in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit", "jobTemplate")
            if given.get(name) is not None
        },
    }
    metadata = _metadata(mapping(cronjob, "metadata"))
    identity = f"{text(metadata, 'namespace') or 'default'}/{text(metadata, 'name')}"
    definition = read_definition(identity, spec)
    fires = compare_fires(
        times.recurrence, definition.schedule.recurrence, since=now, until=now + COMPARED_S
    )
    return TakenCronJob(
        manifest={
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": "KronJob",
            "metadata": metadata,
            "spec": spec,
        },
        differences=tuple(_differences(given, times, definition, fires)),
        fires=fires,
    )


def _metadata(given: Mapping[str, object]) -> dict[str, object]:
    """What the author of a CronJob wrote, without what the server adds."""
    if not text(given, "name"):
        raise DefinitionError(
            "must name the CronJob", where="metadata.name", got=given.get("name"),
            hint="write e.g. name: report",
        )  # fmt: skip
    kept = {key: value for key, value in given.items() if key not in _OF_THE_SERVER}
    annotations = {
        key: value for key, value in mapping(given, "annotations").items() if key != _APPLIED
    }
    kept.pop("annotations", None)
    return kept | ({"annotations": annotations} if annotations else {})


def _concurrency(given: object) -> str:
    word = "Allow" if given is None else given
    if not isinstance(word, str) or word not in _CONCURRENCY:
        raise DefinitionError(
            "is not a concurrencyPolicy", where="spec.concurrencyPolicy", got=given,
            hint=f"write one of {', '.join(_CONCURRENCY)}",
        )  # fmt: skip
    return _CONCURRENCY[word]


def _deadline(given: object, times: CronJobTimes, now: int) -> timedelta:
    if given is None:
        return timedelta(seconds=_shortest_gap(times, now))
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise DefinitionError(
            "must be a number of seconds", where="spec.startingDeadlineSeconds", got=given,
            hint="write e.g. 200",
        )  # fmt: skip
    return timedelta(seconds=given)


def _shortest_gap(times: CronJobTimes, now: int) -> int:
    """Seconds between two periods, so that only one of them is within the deadline."""
    periods = cron(times.schedule, zone=times.zone)
    fires = takewhile((now + COMPARED_S).__ge__, periods.iterate_epochs(now))
    gaps = (later - earlier for earlier, later in pairwise(islice(fires, _GAPS_MAX)))
    return max(min(gaps, default=86_400) - 1, 1)


def _differences(
    given: Mapping[str, object], times: CronJobTimes, definition: Definition, fires: FireDiff
) -> Iterator[Difference]:
    if times.schedule != given["schedule"]:
        yield Difference("schedule", f"{given['schedule']!r} is written {times.schedule!r}")
    if not times.is_zone_named:
        yield Difference(
            "timeZone",
            f"is not set, so that the zone of the controller counts; {times.zone} is written",
        )
    yield from _of_fires(fires, times)
    yield from _of_policy(given, definition)


def _of_fires(fires: FireDiff, times: CronJobTimes) -> Iterator[Difference]:
    for instants, said in (
        (fires.gone, "CronJob runs, KronJob does not (it is a local time that comes twice)"),
        (fires.come, "KronJob runs, CronJob does not (it makes up for a local time that is"
                     " skipped)"),
    ):  # fmt: skip
        for one in instants[:_SHOWN_MAX]:
            yield Difference("schedule", f"{format_instant(one)}: {said}")
        if (rest := len(instants) - _SHOWN_MAX) > 0:
            yield Difference("schedule", f"and {rest} more where {said}")
    if (fires.gone or fires.come) and times.zone != "UTC":
        yield Difference("schedule", "write dst: civil in the KronJob to keep those fires")


def _of_policy(given: Mapping[str, object], definition: Definition) -> Iterator[Difference]:
    deadline = short_duration(definition.schedule.policy.deadline or timedelta(0))
    if given.get("startingDeadlineSeconds") is None:
        yield Difference(
            "startingDeadlineSeconds",
            "is not set, so that CronJob starts the newest missed run however late;"
            f" the deadline is {deadline}, just below the shortest time between two periods",
        )
    match _concurrency(given.get("concurrencyPolicy")):
        case "forbid":
            yield Difference(
                "concurrencyPolicy",
                "CronJob starts a run that Forbid held back when the one before has ended;"
                " KronJob skips it, with the reason overlap",
            )
        case "replace":
            yield Difference(
                "concurrencyPolicy",
                "CronJob starts the new Job beside the pods that still end; KronJob waits until"
                " they have gone",
            )
    if given.get("suspend"):
        yield Difference(
            "suspend",
            "when it is taken back, each period that was not handled follows its deadline",
        )
