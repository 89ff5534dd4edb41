"""What a clock that was ahead has judged is planned again, and everything else stays."""

from pathlib import Path
from random import Random

import pytest

from gnomon.core.engine import plan
from gnomon.core.schedule import Schedule
from gnomon.ports import RunRow
from gnomon.shell.store import replanning
from gnomon.shell.store.examination import examine
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.contract.ledger_desk import at
from tests.shell.store.test_installation import do, install, job, turn

_WINDOWS = ("after,0s", "after,20m", "around,10m", "before,7m")
_AVOIDED = (None, None, "between=00:40-01:30", "hours=0-23")


def rows(ledger: SqliteLedger, name: str) -> list[RunRow]:
    return do(ledger.runs(name, limit=1000))


def drawn(dice: Random, name: str) -> Schedule:
    return job(name, cron_expr=dice.choice(("* * * * *", "*/5 * * * *", "0 * * * *")),
               window=dice.choice(_WINDOWS), avoid=dice.choice(_AVOIDED), salt=name)  # fmt: skip


@clause("LEDGER-37", "LEDGER-1")
@pytest.mark.parametrize("seed", range(8))
def test_exactly_what_lies_ahead_and_was_not_started_waits_again(tmp_path: Path, seed: int) -> None:
    dice, path, now_ms = Random(seed), tmp_path / "ledger.sqlite3", at("00:20:00")
    ledger = SqliteLedger.open(path)
    schedules = [drawn(dice, f"j{number}") for number in range(6)]
    install(ledger, "00:00:30", *schedules)
    turn(ledger, "00:10:00")
    turn(ledger, dice.choice(("01:40:00", "02:00:00", "03:00:30")))
    before = {one.schedule_id: rows(ledger, one.schedule_id) for one in schedules}

    found = do(ledger.replan(now_ms=now_ms))

    periods = 0
    for one in schedules:
        after = {row.key: row for row in rows(ledger, one.schedule_id)}
        planned = {row.nominal for row in after.values() if row.state == "planned"}
        wanted = set[int]()
        for row in before[one.schedule_id]:
            until = (row.last_nominal or row.nominal) + 1
            nominals = one.recurrence.between_epochs(row.nominal, until)
            chosen = {nominal: one.chosen_ms(nominal) for nominal in nominals}
            if row.outcome in ("missed", "skipped") and not row.launches:
                ahead = {nominal for nominal, ms in chosen.items() if (ms or 0) >= now_ms}
                wanted |= ahead
                periods += len(ahead)
            elif row.state == "planned":
                wanted |= chosen.keys()
            else:
                assert after[row.key] == row
        assert planned == wanted
        for nominal in planned:
            (row,) = (one for one in after.values() if one.nominal == nominal)
            assert row.fire_ms == one.chosen_ms(nominal)
    assert (found.periods, found.is_all) == (periods, True)
    do(ledger.close())
    assert examine(path).findings == []


@clause("LEDGER-37")
def test_only_so_much_is_planned_again_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replanning, "PLANNED_MAX", 50)
    path = tmp_path / "ledger.sqlite3"
    ledger = SqliteLedger.open(path)
    install(ledger, "00:00:30", job("one"), job("two"))
    turn(ledger, "02:00:30")

    found = [do(ledger.replan(now_ms=at("00:01:30"))) for _ in range(6)]

    assert [one.periods for one in found] == [50, 50, 50, 50, 36, 0]
    assert [one.is_all for one in found] == [False, False, False, False, True, True]
    do(ledger.close())
    assert examine(path).findings == []


@clause("LEDGER-37", "LEDGER-4")
def test_a_plan_that_was_made_before_is_void_and_the_next_look_runs_what_is_due() -> None:
    ledger = SqliteLedger.open(":memory:")
    install(ledger, "00:00:30", job("one", overlap_policy="allow"))
    turn(ledger, "01:00:30")
    (due,) = do(ledger.load(now_ms=at("01:01:00"), limit=9))
    stale = plan([due], now_ms=at("01:01:00"))

    do(ledger.replan(now_ms=at("00:01:30")))

    assert do(ledger.commit(stale, owner="me", confirmed=True, now_ms=at("00:01:31"))).claims == []
    assert turn(ledger, "00:02:00") == ["one 2"]
    assert turn(ledger, "00:02:30") == []


@clause("LEDGER-37")
def test_where_no_clock_was_ahead_nothing_changes() -> None:
    ledger = SqliteLedger.open(":memory:")
    install(ledger, "00:00:30", job("one"), job("late", window="after,5m"))
    turn(ledger, "00:30:10")
    before = [rows(ledger, name) for name in ("one", "late")]

    assert do(ledger.replan(now_ms=at("00:40:10"))).periods == 0
    assert [rows(ledger, name) for name in ("one", "late")] == before
