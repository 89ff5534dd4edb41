"""
When does a CronJob run? Its schedule and its zone, in the words of KronJob.

The CronJob controller reads schedules with a library of its own. A field with a `*` or a `?` in it
is unrestricted, also as `*/1`, and a day field such as `*/2` is restricted, as in the dialect
`standard`. A local time that a change of clocks skips does not come, and one that it repeats comes
twice: that is the policy `civil`. `@every` counts from when the object was made, so that no cron
expression means the same.

Spec: CRONJOB-1 to CRONJOB-3.
"""

import re
from dataclasses import dataclass

from gnomon.core.cron.dialect import MACROS, Dst
from gnomon.core.recurrence import Recurrence, cron
from gnomon.errors import DefinitionError

__all__ = ["CronJobTimes", "read_times"]

_IN_SCHEDULE = re.compile(r"(?:CRON_)?TZ=(\S*)\s*(.*)", re.DOTALL)
_FREE = re.compile(r"[*?](?:/0*1)?")
_UNIT_S = {"s": 1, "m": 60, "h": 3600}
_EVERY = re.compile(r"@every\s+([0-9]{1,6})([smh])(?:0s)?")
_FIELDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CronJobTimes:
    """The instants of a CronJob, and how a KronJob says them."""

    schedule: str
    zone: str
    is_zone_named: bool
    """Whether the CronJob names it; else it is that of the controller."""
    recurrence: Recurrence
    """As the CronJob controller reads it."""


def read_times(schedule: object, zone: object, *, controller_zone: str) -> CronJobTimes:
    """What `spec.schedule` and `spec.timeZone` of a CronJob mean."""
    if not isinstance(schedule, str):
        raise DefinitionError(
            "must be text", where="spec.schedule", got=schedule, hint='write e.g. "0 2 * * *"'
        )
    if zone is not None and not isinstance(zone, str):
        raise DefinitionError(
            "must be text", where="spec.timeZone", got=zone, hint="write e.g. Europe/Paris"
        )
    named, text = zone or "", schedule.strip()
    if inside := _IN_SCHEDULE.fullmatch(text):
        if named:
            raise DefinitionError(
                "names a zone beside timeZone", where="spec.schedule", got=schedule,
                hint="leave the one in the schedule out",
            )  # fmt: skip
        named, text = inside[1], inside[2]
    text = _translated(text, schedule)
    read_in = named or controller_zone
    return CronJobTimes(
        schedule=text,
        zone=read_in,
        is_zone_named=bool(named),
        recurrence=_recurrence(text, read_in),
    )


def _translated(text: str, schedule: str) -> str:
    """The same instants in the dialect `standard`."""
    if text.startswith("@"):
        return _macro(text, schedule)
    fields = text.split()
    if len(fields) != _FIELDS:
        raise DefinitionError(
            f"has {len(fields)} fields, where a CronJob has five", where="spec.schedule",
            got=schedule, hint='write minute, hour, day, month and weekday, e.g. "0 2 * * *"',
        )  # fmt: skip
    return " ".join(
        "*" if any(_FREE.fullmatch(one) for one in field.split(",")) else field.replace("?", "*")
        for field in fields
    )


def _macro(text: str, schedule: str) -> str:
    if text in MACROS:
        return text
    hint = f"write five fields, or one of {', '.join(MACROS)}"
    if every := _EVERY.fullmatch(text):
        hint = _instead_of_every(int(every[1]) * _UNIT_S[every[2]])
    reason = (
        "counts from when the controller began, which no cron expression does"
        if text.startswith("@every")
        else "is no macro of a CronJob"
    )
    raise DefinitionError(reason, where="spec.schedule", got=schedule, hint=hint)


def _instead_of_every(seconds: int) -> str:
    minutes, hours = seconds // 60, seconds // 3600
    if seconds % 60 == 0 and 0 < minutes < 60 and 60 % minutes == 0:
        return f'write "*/{minutes} * * * *", which counts from the full hour'
    if seconds % 3600 == 0 and 0 < hours <= 24 and 24 % hours == 0:
        return f'write "0 */{hours} * * *", which counts from midnight' if hours < 24 else (
            'write "0 0 * * *", which is midnight'
        )  # fmt: skip
    return "write the times as a cron expression, e.g. */5 * * * *"


def _recurrence(text: str, zone: str) -> Recurrence:
    try:
        return cron(text, zone=zone, dst=Dst.CIVIL.value)
    except DefinitionError as error:
        where = "spec.timeZone" if error.where == "zone" else "spec.schedule"
        field = "" if error.where in ("zone", "expression") else f"{error.where} field "
        raise DefinitionError(
            f"{field}{error.reason}", where=where, got=error.got, hint=error.hint
        ) from error
