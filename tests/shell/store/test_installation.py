"""The schedules of a ledger become exactly those that are installed."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TypeVar

import pytest

from gnomon.core.engine import plan
from gnomon.core.ledger.lifecycle import Reason, State
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import read_schedule
from gnomon.errors import StoreError
from gnomon.ports import RunRow
from gnomon.shell.boot import MachineBoot
from gnomon.shell.store.examination import examine
from gnomon.shell.store.installation import BOOT, Installed
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


def boot_job(name: str, **more: object) -> Schedule:
    policies = {"pause_rule": "hold", "catchup_policy": "recent", "deadline": "5m"}
    return read_schedule({"schedule_id": name, "boot": True, **policies, **more})


def boot_of(name: str) -> MachineBoot:
    """A boot ten seconds after midnight."""
    return MachineBoot(name, at("00:00:10") // 1000)


def start(
    ledger: SqliteLedger, now: str, boot: str, *schedules: Schedule,
    suspended: tuple[str, ...] = (), after: str = "",
) -> list[str]:  # fmt: skip
    """What a boot has made to run, when a worker starts in it."""
    after_ms = at(after) if after else 0
    call = ledger.install(
        schedules, suspended=suspended, now_ms=at(now), after_ms=after_ms, boot=boot_of(boot)
    )
    return do(call).booted


def keys(ledger: SqliteLedger, name: str) -> list[str]:
    return sorted(row.key for row in rows(ledger, name))


@clause("LEDGER-41", "KROND-41")
def test_each_boot_makes_one_row() -> None:
    ledger = SqliteLedger.open(":memory:")

    assert start(ledger, "00:00:30", "b1", boot_job("one"), job("two")) == ["one"]
    assert start(ledger, "00:00:40", "b1", boot_job("one"), boot_job("three")) == []
    assert install(ledger, "00:00:50", boot_job("one"), boot_job("three")).booted == []
    assert start(ledger, "00:02:00", "b2", boot_job("one"), boot_job("three")) == ["one", "three"]
    assert start(ledger, "00:03:00", "b2", boot_job("one"), boot_job("three")) == []

    assert keys(ledger, "one") == ["boot:one:b1", "boot:one:b2"]
    assert keys(ledger, "three") == ["boot:three:b2"]
    assert keys(ledger, "two") == []
    assert {row.nominal * 1000 for row in rows(ledger, "one")} == {at("00:00:10")}


@clause("LEDGER-41", "KROND-41")
def test_the_deadline_of_a_boot_counts_from_the_making_of_its_row() -> None:
    ledger = SqliteLedger.open(":memory:")
    start(ledger, "02:00:00", "b1", boot_job("one"))

    assert turn(ledger, "02:05:00") == ["one 0"]
    start(ledger, "03:00:00", "b2", boot_job("late"))
    assert turn(ledger, "03:05:01") == []
    assert [row.reason for row in rows(ledger, "late")] == [Reason.DEADLINE]


@clause("LEDGER-41")
def test_what_is_installed_without_a_boot_never_runs() -> None:
    ledger = SqliteLedger.open(":memory:")
    install(ledger, "00:00:30", boot_job("one"))

    assert turn(ledger, "12:00:00") == []
    assert do(ledger.next_wake_ms()) is None


@clause("KROND-42", "LEDGER-41")
def test_a_boot_waits_while_its_schedule_is_suspended() -> None:
    ledger = SqliteLedger.open(":memory:")
    start(ledger, "00:00:30", "b1", boot_job("in-time"), suspended=("in-time",))
    assert turn(ledger, "00:01:00") == []
    install(ledger, "00:05:30", boot_job("in-time"))
    assert turn(ledger, "00:05:30") == ["in-time 0"]

    start(ledger, "01:00:00", "b2", boot_job("late"), suspended=("late",))
    install(ledger, "01:05:01", boot_job("late"))
    assert turn(ledger, "01:05:01") == []
    assert [row.reason for row in rows(ledger, "late")] == [Reason.DEADLINE]


@clause("LEDGER-41", "KROND-22")
def test_a_ledger_that_was_begun_after_a_damage_does_not_owe_the_boot_before_it() -> None:
    ledger = SqliteLedger.open(":memory:")

    assert start(ledger, "00:00:30", "b1", boot_job("one"), after="00:00:20") == []
    assert start(ledger, "00:00:40", "b1", boot_job("one"), after="00:00:20") == []
    # The clock of the next boot may be behind: it is another boot all the same.
    assert start(ledger, "00:00:50", "b2", boot_job("one"), after="00:00:20") == ["one"]
    same = SqliteLedger.open(":memory:")
    assert start(same, "00:00:30", "b1", boot_job("one"), after="00:00:10") == []
    other = SqliteLedger.open(":memory:")
    assert start(other, "00:00:30", "b1", boot_job("one"), after="00:00:09") == ["one"]


@clause("LEDGER-41", "LIFE-6")
def test_a_ledger_with_boots_is_in_good_order(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    ledger = SqliteLedger.open(path)
    start(ledger, "00:00:30", "b1", boot_job("one"), boot_job("held"), suspended=("held",))
    turn(ledger, "00:00:31")
    later = MachineBoot("b2", at("00:01:10") // 1000)
    do(ledger.install([boot_job("one"), boot_job("held")], suspended=("held",),
                      now_ms=at("00:01:20"), boot=later))  # fmt: skip
    do(ledger.close())
    assert examine(path).findings == []

    ledger = SqliteLedger.open(path)
    turn(ledger, "00:01:21")
    install(ledger, "00:01:30", minutely("one"), boot_job("held"), suspended=("held",))
    turn(ledger, "00:02:00")
    install(ledger, "00:02:30", boot_job("one"))
    do(ledger.close())

    assert examine(path).findings == []


@clause("LEDGER-41")
def test_the_rows_of_a_boot_are_made_with_its_note_or_not_at_all() -> None:
    ledger = SqliteLedger.open(":memory:")
    ledger.database.connection.execute(
        "CREATE TRIGGER no BEFORE INSERT ON schedule_runs WHEN NEW.schedule_id = 'bad' "
        "BEGIN SELECT RAISE(ABORT, 'no'); END"
    )

    with pytest.raises(StoreError):
        start(ledger, "00:00:30", "b1", boot_job("good"), boot_job("bad"))

    assert (rows(ledger, "good"), do(ledger.note(BOOT))) == ([], None)
