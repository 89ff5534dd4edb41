"""Rows of a ledger as tests need them: a schedule at 03:00, and what became of its periods."""

from dataclasses import replace

from gnomon.apps.service.schedule_input import ScheduleInput, schedule_of
from gnomon.apps.service.settings import Settings
from gnomon.core.engine import Pause
from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.core.ledger.period import period_key
from gnomon.ports.ledger_rows import RunRow, ScheduleRow

__all__ = ["DAY", "NOON", "THREE", "run_row", "schedule_row"]

DAY = 86_400
THREE = 1_772_334_000
"""2026-03-01T03:00:00Z."""
NOON = THREE + 9 * 3600
"""2026-03-01T12:00:00Z."""


def schedule_row(
    *,
    pause: Pause | None = None,
    skips: tuple[int, ...] = (),
    cursor: int = NOON,
    end_at: str | None = None,
    max_duration: str | None = None,
) -> ScheduleRow:
    """A schedule that was registered five days before."""
    given = ScheduleInput(
        workflow_id="report", version=3, user_id="acme", schedule_id="nightly",
        cron_expr="0 3 * * *", end_at=end_at, max_duration=max_duration,
    )  # fmt: skip
    return ScheduleRow(
        schedule=schedule_of(given, Settings()),
        revision=2,
        version=7,
        cursor=cursor,
        wake_ms=None,
        pause=pause,
        pause_reason="holidays" if pause is not None else "",
        in_flight=0,
        created_ms=(THREE - 5 * DAY) * 1000,
        updated_ms=(THREE - DAY) * 1000,
        skips=skips,
    )


def run_row(
    *,
    state: State = State.DONE,
    outcome: Outcome | None = Outcome.EXECUTED,
    reason: Reason | None = None,
    status: Status | None = Status.SUCCESS,
    **changes: int | str | None,
) -> RunRow:
    """The row of the period at 03:00, which ran well unless something else is said."""
    ran = state is not State.PLANNED and outcome is Outcome.EXECUTED
    row = RunRow(
        key=period_key("nightly", THREE),
        schedule_id="nightly",
        nominal=THREE,
        last_nominal=0,
        periods=1,
        fire_ms=THREE * 1000,
        state=state,
        outcome=outcome,
        reason=reason,
        status=status,
        launches=1,
        fence=1,
        owner=None,
        lease_ms=None,
        run_id=None,
        detail=None,
        revision=2,
        started_ms=THREE * 1000 + 12 if ran else None,
        ended_ms=THREE * 1000 + 5_000 if ran else None,
        created_ms=(THREE - 60) * 1000,
        updated_ms=THREE * 1000 + 5_000,
    )
    return replace(row, **changes)  # type: ignore[arg-type]
