"""
What an upsert would change: fields of the definition, and which runs would come and go.

Both lists of planned instants are cut at the instant up to which both are known, so that a run is
never called new or gone only because one list is longer.

Spec: REGISTRAR-3.
"""

import json

from gnomon.apps.service.views import Plain, UpsertDiff, next_nominals
from gnomon.core.civil.instant import format_instant
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import write_schedule

__all__ = ["compare", "flat_record"]


def compare(
    former: Schedule | None, schedule: Schedule, *, now: int, count: int, warnings: list[str]
) -> UpsertDiff:
    """What putting a schedule in the place of a former one, or of none, would change."""
    before = [] if former is None else next_nominals(former, after=now, count=count)
    after = next_nominals(schedule, after=now, count=count)
    known = min([found[-1] for found in (before, after) if len(found) == count], default=None)
    old = {} if former is None else flat_record(former)
    new = flat_record(schedule)
    return UpsertDiff(
        schedule_id=schedule.schedule_id,
        changed=former != schedule,
        fields={
            name: [old.get(name), new.get(name)]
            for name in {**old, **new}
            if old.get(name) != new.get(name)
        },
        before=[format_instant(one) for one in before],
        after=[format_instant(one) for one in after],
        added=_only_in(after, before, known),
        removed=_only_in(before, after, known),
        warnings=warnings,
    )


def flat_record(schedule: Schedule) -> dict[str, Plain]:
    """The fields of a definition, those of its target among them."""
    record = write_schedule(schedule)
    target = record.pop("target")
    assert isinstance(target, dict)
    return {
        name: value if isinstance(value, str | int | bool | None) else json.dumps(value)
        for name, value in {**record, **target}.items()
    }


def _only_in(these: list[int], those: list[int], known: int | None) -> list[str]:
    found = sorted(set(these) - set(those))
    return [format_instant(one) for one in found if known is None or one <= known]
