"""
Which schedules go with a DAG that is removed, and what stands against that?

Those of its triggers, and of its runs that were started directly, came with it and go with it. A
schedule that was registered apart from it would start what is not there, so it must go first, and
so must runs in flight come to their end.

Spec: HTTP-39.
"""

from collections.abc import Iterable, Sequence

from gnomon.apps.service.schedule_id import derived_id, direct_id
from gnomon.apps.service.schedule_input import Target, target_of
from gnomon.errors import ConflictError
from gnomon.ports.ledger_rows import ScheduleRow

__all__ = ["is_of_trigger", "to_withdraw"]

_SHOWN = 3


def to_withdraw(rows: Iterable[ScheduleRow], version: int | None) -> list[str]:
    """The ids of the schedules of a DAG that go with it, or with one version of it."""
    found = [(row, target) for row in rows if (target := target_of(row.schedule)) is not None]
    meant = [(row, target) for row, target in found if version in (None, target.version)]
    apart = [row for row, target in meant if not _came_along(row, target)]
    if apart:
        raise _conflict("is started by", apart, "delete those first, or have them start another")
    of_triggers = [row for row, target in meant if is_of_trigger(row, target)]
    if version is not None and of_triggers:
        hint = "deploy another version first, or leave the version out to remove the DAG"
        raise _conflict("is the version that its triggers start:", of_triggers, hint)
    busy = [row for row, _ in meant if row.in_flight]
    if busy:
        raise _conflict("has runs in flight of", busy, "wait for their end, or end them")
    return [row.schedule.schedule_id for row, _ in meant]


def is_of_trigger(row: ScheduleRow, target: Target) -> bool:
    """Whether the id was derived, and not chosen."""
    derived = derived_id(target.workflow_id, target.user_id, target.trigger_id)
    return row.schedule.schedule_id == derived


def _came_along(row: ScheduleRow, target: Target) -> bool:
    direct = direct_id(target.workflow_id, target.version, target.user_id)
    return is_of_trigger(row, target) or row.schedule.schedule_id == direct


def _conflict(what: str, rows: Sequence[ScheduleRow], hint: str) -> ConflictError:
    names = ", ".join(row.schedule.schedule_id for row in rows[:_SHOWN])
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return ConflictError(f"{what} {names}{more}", where="workflow_id", got=None, hint=hint)
