"""The audit: a ledger that holds together has no findings, and each fault has its own."""

import pytest

from gnomon.core.ledger.audit import CODES, AuditRun, AuditSchedule, Finding, audit
from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.core.ledger.period import boot_key, period_key, range_key
from gnomon.core.schedule_record import read_schedule
from tests.clauses import clause

HOURLY = read_schedule({"schedule_id": "report", "cron_expr": "0 * * * *"})
H00 = 1_773_100_800  # 2026-03-10T00:00:00Z


def hour(number: int) -> int:
    return H00 + number * 3600


def schedule(**changes: object) -> AuditSchedule:
    """Everything up to 10:00 is planned; 11:00 is next."""
    row = AuditSchedule(
        HOURLY, cursor=hour(10), floor=hour(2), wake_ms=hour(11) * 1000,
        written_ms=hour(10) * 1000, paused=False, in_flight=0,
    )  # fmt: skip
    return row._replace(**changes)  # type: ignore[arg-type]  # names of fields, by hand


def run(number: int, **changes: object) -> AuditRun:
    """The period of an hour, which ran and succeeded."""
    nominal = hour(number)
    row = AuditRun(
        period_key("report", nominal), "report", nominal, 0, 1, nominal * 1000, State.DONE,
        Outcome.EXECUTED, None, Status.SUCCESS, launches=1, fence=1, lease_ms=None,
    )  # fmt: skip
    return row._replace(**changes)  # type: ignore[arg-type]  # names of fields, by hand


def missed(first: int, last: int, periods: int, **changes: object) -> AuditRun:
    """A range of hours that no worker saw."""
    row = run(
        first, key=range_key("report", hour(first)), last_nominal=hour(last), periods=periods,
        outcome=Outcome.MISSED, reason=Reason.OUTAGE, status=Status.SKIPPED, launches=0, fence=0,
    )  # fmt: skip
    return row._replace(**changes)  # type: ignore[arg-type]  # names of fields, by hand


def waiting(number: int, at: int, state: State = State.PLANNED) -> AuditRun:
    return run(
        number, state=state, fire_ms=hour(at) * 1000, outcome=None, status=None, launches=0,
        fence=0,
    )  # fmt: skip


def flying(number: int) -> AuditRun:
    return run(
        number, state=State.RUNNING, status=Status.STARTED, lease_ms=hour(number) * 1000 + 60_000
    )


SOUND = [missed(3, 7, 5), run(8), run(9), run(10)]


END: dict[str, object] = {  # no period comes after 10:00
    "schedule": read_schedule({"schedule_id": "report", "once": "2026-03-10T10:00:00Z"}),
    "floor": hour(9),
}


def codes(rows: list[AuditRun], **changes: object) -> list[str]:
    return [finding.code for finding in audit([schedule(**changes)], rows)]


@clause("LIFE-5")
def test_a_ledger_that_holds_together_has_no_findings() -> None:
    assert audit([schedule()], SOUND) == []


@clause("LIFE-5")
@pytest.mark.parametrize(
    "row",
    [
        run(10, outcome=Outcome.EXECUTED, reason=Reason.UNCERTAIN, status=Status.FAILED),
        run(10, launches=2, fence=5),
        run(10, outcome=Outcome.SKIPPED, reason=Reason.OVERLAP, status=Status.SKIPPED),
        run(10, outcome=Outcome.MISSED, reason=Reason.LAUNCH_FAILED, status=Status.FAILED),
        run(10, outcome=Outcome.UNSCHEDULABLE, reason=Reason.CONSTRAINTS, status=Status.SKIPPED,
            launches=0, fence=0),
    ],
)  # fmt: skip
def test_every_way_to_end_is_sound(row: AuditRun) -> None:
    assert codes([*SOUND[:-1], row]) == []


@clause("LIFE-5")
@pytest.mark.parametrize(
    ("row", "code"),
    [
        (run(10, outcome=None, status=Status.SKIPPED), "outcome"),
        (waiting(10, 11)._replace(outcome=Outcome.SKIPPED), "outcome"),
        (run(10, outcome=Outcome.SKIPPED, status=Status.SKIPPED), "reason"),
        (run(10, reason=Reason.OVERLAP), "reason"),
        (run(10, outcome=Outcome.MISSED, reason=Reason.PAUSED, status=Status.SKIPPED), "reason"),
        (waiting(10, 11)._replace(reason=Reason.OUTAGE), "reason"),
        (run(10, status=Status.STARTED), "status"),
        (run(10, status=None), "status"),
        (run(10, outcome=Outcome.MISSED, reason=Reason.LAUNCH_FAILED, status=Status.SKIPPED),
         "status"),
        (run(10, lease_ms=1), "lease"),
        (run(10, launches=2, fence=1), "count"),
        (run(10, launches=0, fence=1), "count"),
        (run(10, key=period_key("report", hour(9))), "key"),
        (run(10, key="other:1"), "key"),
        (run(10, periods=2), "range"),
    ],
)  # fmt: skip
def test_a_row_that_contradicts_itself_is_found(row: AuditRun, code: str) -> None:
    assert codes([*SOUND[:-1], row]) == [code]


@clause("LIFE-5")
def test_a_run_in_flight_has_a_lease_and_was_launched() -> None:
    assert codes([*SOUND[:-1], flying(10)], in_flight=1) == []
    assert codes([*SOUND[:-1], flying(10)._replace(lease_ms=None)], in_flight=1) == ["lease"]
    assert codes([*SOUND[:-1], flying(10)._replace(launches=0)], in_flight=1) == ["count"]


@clause("LIFE-5")
def test_the_number_in_flight_is_the_number_of_rows_in_flight() -> None:
    assert codes(SOUND, in_flight=1) == ["in_flight"]
    assert codes([*SOUND[:-1], flying(10)]) == ["in_flight"]


@clause("LIFE-6")
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([missed(3, 10, 8)], []),
        ([run(number) for number in range(3, 11)], []),
        ([], ["gap"]),
        (SOUND[1:], ["gap"]),
        (SOUND[:-1], ["gap"]),
        ([SOUND[0], run(8), run(10)], ["gap"]),
        ([*SOUND, run(5)], ["twice"]),
        ([*SOUND, missed(4, 6, 3)], ["twice"]),
        ([missed(3, 7, 5), missed(7, 10, 4)], ["twice"]),
        ([*SOUND, run(8)], ["twice"]),
        ([*SOUND, run(11)], ["beyond"]),
        ([*SOUND[:-1], missed(10, 12, 3)], ["beyond"]),
        ([missed(3, 7, 4), run(8), run(9), run(10)], ["range"]),
        ([missed(3, 7, 6), run(8), run(9), run(10)], ["range"]),
        ([missed(3, 7, 5, last_nominal=hour(7) + 60), run(8), run(9), run(10)], ["range"]),
        ([missed(3, 7, 5, launches=1, fence=1), run(8), run(9), run(10)], ["range"]),
        ([*SOUND, run(2), missed(0, 1, 7)], []),  # below the floor nothing is owed or counted
        ([missed(1, 7, 7), run(8), run(9), run(10)], []),
        ([missed(1, 7, 7), run(9), run(10)], ["gap"]),
        ([missed(1, 7, 7), run(7), run(8), run(9), run(10)], ["twice"]),
    ],
    ids=[
        "one range", "rows", "nothing", "no beginning", "no end", "a hole", "row in range",
        "range in range", "ranges that meet", "row beside row", "row beyond", "range beyond",
        "counts too few", "counts too many", "ends between two", "a range that ran", "history",
        "the floor in a range", "a hole after it", "row in it",
    ],
)  # fmt: skip
def test_every_period_after_the_floor_is_accounted_for_exactly_once(
    rows: list[AuditRun], expected: list[str]
) -> None:
    assert codes(rows) == expected


@clause("LIFE-6")
def test_a_row_at_an_instant_that_never_occurs_is_found() -> None:
    nominal = hour(9) + 60
    row = run(9, nominal=nominal, key=period_key("report", nominal))

    assert codes([*SOUND, row]) == ["stray"]


@clause("LIFE-7")
@pytest.mark.parametrize(
    ("rows", "changes", "expected"),
    [
        (SOUND, {"wake_ms": None}, ["wake"]),
        (SOUND, {"wake_ms": hour(11) * 1000 + 1}, ["wake"]),
        (SOUND, {"wake_ms": hour(10) * 1000}, []),
        (SOUND, {"wake_ms": None, "paused": True}, []),
        ([*SOUND[:-1], waiting(10, 12)], {}, []),
        ([*SOUND[:-1], waiting(10, 12)], {**END, "wake_ms": hour(12) * 1000}, []),
        ([*SOUND[:-1], waiting(10, 12)], {**END, "wake_ms": None}, ["wake"]),
        ([*SOUND[:-1], waiting(10, 9)], {}, ["wake"]),
        ([*SOUND[:-1], waiting(10, 9)], {"wake_ms": hour(10) * 1000}, []),
        ([*SOUND[:-1], waiting(10, 10, State.QUEUED)], {}, ["wake"]),
        ([*SOUND[:-1], waiting(10, 10, State.QUEUED)], {"wake_ms": hour(10) * 1000}, []),
        ([SOUND[0], run(8), flying(9), waiting(10, 10, State.QUEUED)], {"in_flight": 1}, []),
        (SOUND, {**END, "wake_ms": None}, []),
    ],
)
def test_whatever_waits_will_be_looked_at(
    rows: list[AuditRun], changes: dict[str, object], expected: list[str]
) -> None:
    assert codes(rows, **changes) == expected


@clause("LIFE-8")
def test_of_a_deleted_schedule_only_history_is_left() -> None:
    assert audit([], SOUND) == []
    assert [finding.code for finding in audit([], [waiting(10, 11)])] == ["orphan"]


@clause("LIFE-9")
def test_a_finding_says_where_what_and_how_to_mend_it() -> None:
    (finding,) = audit([schedule()], [SOUND[0], run(8), run(10)])

    assert finding == Finding(
        code="gap",
        schedule_id="report",
        key="",
        problem="has no row for the periods from 2026-03-10T09:00:00Z to 2026-03-10T09:00:00Z",
        remedy="add a row, missed(outage), for the periods that have none",
    )


@clause("LIFE-9")
def test_a_finding_about_a_row_names_it() -> None:
    (finding,) = audit([schedule()], [*SOUND[:-1], run(10, status=Status.STARTED)])

    assert (finding.key, finding.problem) == (
        period_key("report", hour(10)), "2026-03-10T10:00:00Z is done and reads STARTED",
    )  # fmt: skip


@clause("LIFE-9")
def test_every_code_has_a_remedy() -> None:
    assert all(CODES.values())
    assert sorted(CODES) == sorted(set(CODES))


@clause("LIFE-6")
def test_several_schedules_are_judged_by_their_own_rows() -> None:
    other = read_schedule({"schedule_id": "other", "once": "2026-03-10T10:00:00Z"})
    row = run(10, schedule_id="other", key=period_key("other", hour(10)))
    rows = [row, *SOUND]

    found = audit([schedule(), schedule(schedule=other, floor=hour(9), wake_ms=None)], rows)

    assert found == []


def by_hand(key: str, state: State = State.PLANNED, **changes: object) -> AuditRun:
    """A run that was asked for at 10:30."""
    row = run(10, key=key, nominal=hour(10) + 1800, fire_ms=(hour(10) + 1800) * 1000)
    if state is not State.DONE:
        row = row._replace(state=state, outcome=None, status=None, launches=0, fence=0)
    return row._replace(**changes)  # type: ignore[arg-type]  # names of fields, by hand


@clause("ASK-12")
def test_what_was_asked_for_is_no_period() -> None:
    old = hour(5)
    rows = [
        by_hand("manual:report:one", State.DONE), by_hand("manual:report:two", State.DONE),
        by_hand(f"backfill:report:b:{old}", State.DONE, nominal=old),
    ]  # fmt: skip

    assert codes([*SOUND, *rows]) == []


@clause("ASK-12")
@pytest.mark.parametrize(
    "key",
    ["manual:other:one", "backfill:report:b:7", "backfill:other:b:1773138600", "wish:report:one",
     "range:report:1773138600"],
)  # fmt: skip
def test_the_key_of_what_was_asked_for_names_its_schedule(key: str) -> None:
    assert "key" in codes([*SOUND, by_hand(key, State.DONE)])


@clause("ASK-12")
@pytest.mark.parametrize(
    ("kind", "paused", "found"),
    [("manual", False, ["wake"]), ("manual", True, ["wake"]), ("backfill", False, ["wake"]),
     ("backfill", True, [])],
)  # fmt: skip
def test_what_was_asked_for_will_be_looked_at(kind: str, paused: bool, found: list[str]) -> None:
    nominal = hour(10) + 1800
    row = by_hand(f"{kind}:report:b:{nominal}")

    assert codes([*SOUND, row], paused=paused) == found
    assert codes([*SOUND, row], paused=paused, wake_ms=nominal * 1000) == []


@clause("ASK-12", "ENGINE-6")
@pytest.mark.parametrize(
    ("outcome", "found"), [(Outcome.EXECUTED, []), (None, ["wake"])], ids=["unsure", "refused"]
)
def test_what_may_be_running_may_hold_up_a_run_by_hand_in_a_pause(
    outcome: Outcome | None, found: list[str]
) -> None:
    tried = waiting(10, 10)._replace(outcome=outcome, launches=1, fence=1)
    row = by_hand("manual:report:one", State.QUEUED)

    assert codes([*SOUND[:-1], tried, row], paused=True, wake_ms=None) == found


@clause("ASK-12", "ENGINE-6")
@pytest.mark.parametrize(
    ("outcome", "found"), [(Outcome.EXECUTED, []), (None, ["wake"])], ids=["unsure", "refused"]
)
def test_a_backfill_waits_for_what_may_be_running_of_it(
    outcome: Outcome | None, found: list[str]
) -> None:
    first, second = hour(5), hour(6)
    waits = by_hand(f"backfill:report:b:{second}", nominal=second)
    tried = by_hand(
        f"backfill:report:b:{first}", nominal=first, outcome=outcome, launches=1, fence=1,
        fire_ms=hour(11) * 1000,
    )  # fmt: skip

    assert codes([*SOUND, waits, tried]) == found


@clause("ASK-12")
def test_a_backfill_waits_for_its_own_and_not_for_a_period() -> None:
    first, second = hour(5), hour(6)
    waits = by_hand(f"backfill:report:b:{second}", nominal=second)
    flies = by_hand(
        f"backfill:report:b:{first}", State.CLAIMED, nominal=first, status=Status.ENQUEUED,
        launches=1, fence=1, lease_ms=hour(11) * 1000,
    )  # fmt: skip

    assert codes([*SOUND, waits, flies], in_flight=1) == []
    assert codes([*SOUND[:-1], flying(10), waits], in_flight=1) == ["wake"]


BOOTS = read_schedule({"schedule_id": "report", "boot": True})


@clause("LIFE-6", "LEDGER-41")
def test_a_boot_is_no_period_and_may_lie_beyond_the_cursor() -> None:
    row = run(11, key=boot_key("report", "b1"))

    assert codes([row], schedule=BOOTS, wake_ms=None) == []
    assert codes([*SOUND, row]) == []
    assert codes([row._replace(key=boot_key("other", "b1"))], schedule=BOOTS) == ["key"]
    assert codes([row._replace(last_nominal=hour(12))], schedule=BOOTS)[:1] == ["key"]


@clause("LIFE-7", "LEDGER-41")
def test_a_boot_that_waits_needs_a_look() -> None:
    row = waiting(11, 11)._replace(key=boot_key("report", "b1"))

    assert codes([row], schedule=BOOTS, wake_ms=None) == ["wake"]
    assert codes([row], schedule=BOOTS, wake_ms=hour(11) * 1000) == []
    assert codes([row], schedule=BOOTS, wake_ms=None, paused=True) == []
