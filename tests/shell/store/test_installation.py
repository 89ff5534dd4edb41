"""The schedules of a ledger become exactly those that are installed."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TypeVar

import pytest

from gnomon.core.engine import plan
from gnomon.core.ledger.lifecycle import Reason, State
from gnomon.core.schedule import Schedule
from gnomon.errors import StoreError
from gnomon.ports import RunRow
from gnomon.shell.store.examination import examine
from gnomon.shell.store.installation import Installed
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.contract.ledger_desk import at, minutely

_Result = TypeVar("_Result")


def job(name: str, **more: object) -> Schedule:
    return minutely(name, pause_rule="hold", catchup_policy="recent", deadline="1m", **more)


def do(call: Coroutine[object, object, _Result]) -> _Result:
    return asyncio.run(call)


def install(
    ledger: SqliteLedger, now: str, *schedules: Schedule, suspended: tuple[str, ...] = ()
) -> Installed:
    return do(ledger.install(schedules, suspended=suspended, now_ms=at(now)))


def turn(ledger: SqliteLedger, now: str) -> list[str]:
    """The periods that are claimed."""
    dues = do(ledger.load(now_ms=at(now), limit=100))
    changes = plan(dues, now_ms=at(now))
    held = do(ledger.commit(changes, owner="me", confirmed=True, now_ms=at(now)))
    return [f"{claim.schedule.schedule_id} {claim.nominal % 3600 // 60}" for claim in held.claims]


def rows(ledger: SqliteLedger, name: str) -> list[RunRow]:
    return do(ledger.runs(name))[::-1]


@clause("LEDGER-23")
def test_what_is_not_among_them_is_deleted_with_its_history_kept() -> None:
    ledger = SqliteLedger.open(":memory:")
    install(ledger, "00:00:30", job("one"), job("two"))
    assert turn(ledger, "00:01:00") == ["one 1", "two 1"]

    found = install(ledger, "00:01:30", job("one"))

    assert (found.saved, found.removed) == ([], ["two"])
    assert [row.schedule.schedule_id for row in do(ledger.schedules())] == ["one"]
    assert len(rows(ledger, "two")) == 1
    assert turn(ledger, "00:02:00") == []  # one is still in flight, and two is gone


@clause("LEDGER-23")
def test_only_what_is_new_or_different_is_saved() -> None:
    ledger = SqliteLedger.open(":memory:")
    install(ledger, "00:00:30", job("one"), job("two"))

    found = install(ledger, "00:00:40", job("one"), job("two", salt="x"), job("three"))

    assert [(one.schedule_id, one.revision) for one in found.saved] == [("two", 2), ("three", 1)]


@clause("LEDGER-23")
def test_a_suspended_schedule_claims_nothing_and_keeps_its_periods() -> None:
    ledger = SqliteLedger.open(":memory:")
    install(ledger, "00:00:30", job("one"), suspended=("one",))
    assert turn(ledger, "00:01:00") == []

    again = install(ledger, "00:01:10", job("one"), suspended=("one",))
    resumed = install(ledger, "00:02:30", job("one"))

    assert (again.suspended, again.resumed) == ([], [])
    assert (resumed.saved, resumed.resumed) == ([], ["one"])
    assert turn(ledger, "00:02:30") == ["one 2"]  # and the first is beyond its deadline
    assert [row.reason for row in rows(ledger, "one")] == [Reason.DEADLINE, None]


@clause("LEDGER-23")
def test_what_comes_back_owes_nothing_from_before() -> None:
    ledger = SqliteLedger.open(":memory:")
    install(ledger, "00:00:30", job("one"), job("two"))
    assert turn(ledger, "00:01:00") == ["one 1", "two 1"]
    install(ledger, "00:01:10", job("one"))

    install(ledger, "00:01:20", job("one"), job("two"))

    assert turn(ledger, "00:01:20") == []
    assert len(rows(ledger, "two")) == 1


@clause("LEDGER-23")
def test_all_of_it_happens_or_nothing() -> None:
    ledger = SqliteLedger.open(":memory:")
    install(ledger, "00:00:30", job("one"), job("two"))
    ledger.database.connection.execute(
        "CREATE TRIGGER no BEFORE INSERT ON schedules WHEN NEW.schedule_id = 'bad' "
        "BEGIN SELECT RAISE(ABORT, 'no'); END"
    )

    with pytest.raises(StoreError):
        install(ledger, "00:00:40", job("one", salt="x"), job("bad"))

    assert [row.revision for row in do(ledger.schedules())] == [1, 1]


@clause("LEDGER-23")
def test_a_definition_can_be_asked_for_by_its_revision() -> None:
    ledger = SqliteLedger.open(":memory:")
    install(ledger, "00:00:30", job("one"))
    install(ledger, "00:00:40", job("one", salt="x"))

    assert do(ledger.definition("one", 1)) == job("one")
    assert do(ledger.definition("one", 2)) == job("one", salt="x")
    assert do(ledger.definition("one", 3)) is None
    assert do(ledger.definition("none", 1)) is None


@clause("LEDGER-23", "KROND-22")
def test_what_could_have_run_before_an_instant_is_not_owed_by_what_is_new() -> None:
    ledger = SqliteLedger.open(":memory:")
    early = minutely("early", cron_expr="0 * * * *", window="before,1h", deadline="2h")

    do(ledger.install([early], suspended=(), now_ms=at("00:30:00"), after_ms=at("00:30:00")))

    assert turn(ledger, "00:59:59") == []
    [withdrawn] = rows(ledger, "early")
    assert (withdrawn.nominal * 1000, withdrawn.reason) == (at("01:00:00"), Reason.WITHDRAWN)
    turn(ledger, "01:00:00")  # the window of two o'clock opens
    assert [row.nominal * 1000 for row in rows(ledger, "early")] == [at("01:00:00"), at("02:00:00")]
    assert do(ledger.get("early")) is not None


@clause("LEDGER-23", "LEDGER-26")
def test_what_was_there_before_is_owed_all_that_its_edit_leaves_ahead() -> None:
    ledger, after_ms = SqliteLedger.open(":memory:"), at("00:30:00")
    hourly = minutely("one", cron_expr="0 * * * *")
    earlier = minutely("one", cron_expr="0 * * * *", window="before,30m")
    do(ledger.install([hourly], suspended=(), now_ms=after_ms, after_ms=after_ms))

    do(ledger.install([earlier], suspended=(), now_ms=at("00:30:05"), after_ms=after_ms))
    turn(ledger, "00:30:06")

    found = {row.nominal * 1000: row.state for row in rows(ledger, "one")}
    assert found[at("01:00:00")] is State.PLANNED


@clause("LEDGER-23", "KROND-22")
def test_a_ledger_that_forgoes_periods_is_in_good_order(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    ledger = SqliteLedger.open(path)
    early = minutely("early", cron_expr="*/7 * * * *", window="around,1h", deadline="2h")
    late = minutely("late", cron_expr="*/7 * * * *", window="after,1h", deadline="2h")
    do(ledger.install([early, late], suspended=(), now_ms=at("12:00:01"), after_ms=at("12:00:00")))
    do(ledger.close())

    assert examine(path).findings == []


@clause("LEDGER-26", "LEDGER-23")
def test_what_a_clock_that_was_ahead_has_passed_over_is_not_missed(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    ledger = SqliteLedger.open(path)
    install(ledger, "00:05:30", job("one"))

    install(ledger, "00:02:10", job("one", cron_expr="*/2 * * * *"))
    assert turn(ledger, "00:06:00") == ["one 6"]
    do(ledger.close())
    assert examine(path).findings == []
