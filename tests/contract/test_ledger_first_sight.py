"""Every ledger: a window may be open when its schedule is saved for the first time."""

from random import Random

from gnomon.core.schedule import Schedule
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, minutely

_WINDOWS = ("after,0s", "after,45m", "after,3h", "around,40m", "before,30m")
_AVOIDED = (None, None, "hours=4", "hours=0-23", "between=03:55-04:20")
_HOUR = {"cron_expr": "0 * * * *", "window": "after,50m", "catchup_policy": "latest"}


def _owed(schedule: Schedule, saved_ms: int, until_ms: int) -> set[tuple[int, int | None]]:
    """Every tenth minute that counts, with its instant; asked of each by itself."""
    found: set[tuple[int, int | None]] = set()
    rule = schedule.decider.window
    for nominal in range(at("00:00:00") // 1000, until_ms // 1000 + rule.lead + 1, 600):
        chosen, window_end = schedule.decider.choose(nominal), nominal - rule.lead + rule.span
        end = window_end if chosen is None else chosen
        if end * 1000 >= saved_ms:
            found.add((nominal, None if chosen is None else chosen * 1000))
    return found


@clause("LEDGER-26")
def test_a_period_whose_chosen_instant_is_ahead_is_owed_when_its_schedule_is_first_saved(
    desk: Desk,
) -> None:
    dice, wanted = Random(0), {}
    for number in range(25):
        saved_ms = at("03:00:00") + dice.randrange(7_200_000)
        record = {
            "cron_expr": "*/10 * * * *", "window": dice.choice(_WINDOWS), "salt": str(number),
            "avoid": dice.choice(_AVOIDED), "overlap_policy": "allow",
            "catchup_policy": "fire_immediately",
        }  # fmt: skip
        schedule = minutely(f"s{number}", **record)
        desk.do(desk.ledger.save(schedule, now_ms=saved_ms))
        owed = _owed(schedule, saved_ms, at("06:00:00"))
        wanted[schedule.schedule_id] = {(nominal, chosen is None) for nominal, chosen in owed}

    for _ in range(3):
        desk.turn("06:00:00")

    for name, expected in wanted.items():
        found = {
            (row.nominal, row.outcome == "unschedulable")
            for row in desk.rows(name)
            if row.reason != "withdrawn"
        }
        assert found == expected, name


@clause("LEDGER-26")
def test_a_schedule_that_is_saved_in_an_open_window_is_looked_at_at_once(desk: Desk) -> None:
    chosen_ms = minutely(**_HOUR).chosen_ms(at("02:00:00") // 1000)
    assert chosen_ms is not None
    assert at("02:10:00") < chosen_ms

    saved = desk.save(now="02:10:00", **_HOUR)
    assert saved.next_nominal == at("02:00:00") // 1000
    assert desk.turn("02:10:00") == []
    assert [(row.state, row.fire_ms) for row in desk.rows()] == [("planned", chosen_ms)]


@clause("LEDGER-26", "ENGINE-9")
def test_one_that_is_saved_after_the_chosen_instant_leaves_nothing_of_that_period(
    desk: Desk,
) -> None:
    chosen_ms = minutely(**_HOUR).chosen_ms(at("02:00:00") // 1000)
    assert chosen_ms is not None
    assert chosen_ms < at("02:49:59")

    saved = desk.save(now="02:49:59", **_HOUR)
    assert saved.next_nominal == at("03:00:00") // 1000
    assert desk.turn("02:50:00") == []
    assert desk.rows() == []


@clause("LEDGER-26", "KROND-19")
def test_what_was_deleted_and_is_back_owes_nothing_from_before(desk: Desk) -> None:
    desk.save(now="02:10:00", **_HOUR)
    desk.delete("02:11:00")

    desk.save(now="02:12:00", **_HOUR)
    assert desk.turn("02:59:00") == []
