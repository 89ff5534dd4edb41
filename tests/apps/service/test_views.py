"""Rows of the ledger as answers: the seed's fields, and what a pause does to the next run."""

import pytest

from gnomon.apps.service.views import run_view, schedule_view
from gnomon.core.engine import Pause
from gnomon.core.ledger.lifecycle import State
from tests.apps.service.rows import DAY, NOON, THREE, run_row, schedule_row
from tests.clauses import clause

NOW_MS = NOON * 1000


@clause("SERVICE-41")
def test_a_schedule_shows_its_fields_and_its_next_five_runs() -> None:
    view = schedule_view(schedule_row(max_duration="90s"), now_ms=NOW_MS)

    assert (view.schedule_id, view.workflow_id, view.version, view.user_id) == (
        "nightly", "report", 3, "acme",
    )  # fmt: skip
    assert (view.cron_expr, view.timezone, view.paused) == ("0 3 * * *", "UTC", False)
    assert (view.overlap_policy, view.catchup_policy, view.jitter_ms) == ("skip", "none", 0)
    assert (view.max_duration, view.description) == ("1m30s", "At 03:00 every day")
    assert view.next_run_at == "2026-03-02T03:00:00Z"
    assert view.preview == [
        "2026-03-02T03:00:00Z", "2026-03-03T03:00:00Z", "2026-03-04T03:00:00Z",
        "2026-03-05T03:00:00Z", "2026-03-06T03:00:00Z",
    ]  # fmt: skip


@clause("SERVICE-41")
def test_a_schedule_that_is_paused_for_good_has_no_next_run() -> None:
    view = schedule_view(schedule_row(pause=Pause(None)), now_ms=NOW_MS, count=1)

    assert (view.paused, view.next_run_at, view.pause_reason) == (True, None, "holidays")
    assert view.preview == []


@clause("SERVICE-41")
def test_a_schedule_that_is_paused_until_an_instant_runs_after_it() -> None:
    until_ms = (THREE + 2 * DAY) * 1000
    view = schedule_view(schedule_row(pause=Pause(until_ms)), now_ms=NOW_MS)

    assert (view.paused_until, view.next_run_at) == (
        "2026-03-03T03:00:00.000Z", "2026-03-03T03:00:00Z",
    )  # fmt: skip


@clause("SERVICE-41")
@pytest.mark.parametrize("skips", [(), (THREE + DAY,), (THREE + DAY, THREE + 3 * DAY)])
@pytest.mark.parametrize("end_at", [None, "2026-03-02T03:00:00Z", "2026-03-04T03:00:00Z"])
@pytest.mark.parametrize("days", [None, -1, 0, 1, 2, 9, "good"])
def test_the_next_run_is_the_first_that_is_shown(
    days: int | str | None, skips: tuple[int, ...], end_at: str | None
) -> None:
    until_ms = None if isinstance(days, str) or days is None else NOW_MS + days * DAY * 1000
    pause = None if days is None else Pause(until_ms)
    row = schedule_row(pause=pause, skips=skips, end_at=end_at)
    view = schedule_view(row, now_ms=NOW_MS)

    assert view.next_run_at == (view.preview[0] if view.preview else None)
    assert all(one not in view.skips for one in view.preview)
    assert not view.paused or all(one > (view.paused_until or "9") for one in view.preview)


@clause("SERVICE-41")
def test_a_pause_that_is_over_is_none() -> None:
    view = schedule_view(schedule_row(pause=Pause(NOW_MS - 1)), now_ms=NOW_MS)

    assert (view.paused, view.paused_until, view.pause_reason) == (False, None, "")


@clause("SERVICE-41")
def test_a_period_that_is_left_out_is_not_the_next_one() -> None:
    view = schedule_view(schedule_row(skips=(THREE + DAY,)), now_ms=NOW_MS, count=1)

    assert view.next_run_at == "2026-03-03T03:00:00Z"
    assert (view.preview, view.skips) == (["2026-03-03T03:00:00Z"], ["2026-03-02T03:00:00Z"])


@clause("SERVICE-41")
def test_a_schedule_that_has_ended_has_no_next_run() -> None:
    view = schedule_view(schedule_row(end_at="2026-03-01T03:00:00Z"), now_ms=NOW_MS)

    assert (view.next_run_at, view.preview) == (None, [])


@clause("SERVICE-41")
def test_a_run_shows_its_planned_instant_and_its_drift() -> None:
    view = run_view(run_row())

    assert (view.run_at, view.status, view.kind) == ("2026-03-01T03:00:00Z", "SUCCESS", "period")
    assert (view.drift_ms, view.ended_at) == (12, "2026-03-01T03:00:05.000Z")
    assert run_view(run_row(state=State.PLANNED, outcome=None, status=None)).drift_ms is None
