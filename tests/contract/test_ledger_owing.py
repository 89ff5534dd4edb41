"""Every ledger that a file of schedules is run on: is there still something to be started?"""

from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at


def still_owes(desk: Desk, time: str) -> bool:
    assert isinstance(desk.ledger, SqliteLedger | PostgresLedger)
    return desk.do(desk.ledger.still_owes(at_ms=at(time)))


@clause("CLI-30")
def test_what_has_not_been_looked_at_is_owed_from_its_instant_on(desk: Desk) -> None:
    desk.save(now="00:00:30")

    assert [still_owes(desk, time) for time in ("00:00:59", "00:01:00")] == [False, True]


@clause("CLI-30")
def test_a_claim_is_owed_until_it_has_been_launched(desk: Desk) -> None:
    claim = desk.claim("00:01:00", lease="1h")
    assert still_owes(desk, "00:01:30")

    desk.launched(claim)
    assert not still_owes(desk, "00:01:30")


@clause("CLI-30")
def test_a_launch_to_be_tried_again_is_owed_by_its_nominal_instant(desk: Desk) -> None:
    desk.failed(desk.claim("00:01:00", launch_backoff="10m"), "00:01:20")

    assert [still_owes(desk, time) for time in ("00:00:59", "00:01:20")] == [False, True]


@clause("CLI-30")
def test_a_period_in_a_queue_is_owed(desk: Desk) -> None:
    desk.launched(desk.claim("00:01:00", overlap_policy="queue", lease="1h"))
    desk.turn("00:02:00")

    assert [still_owes(desk, time) for time in ("00:01:30", "00:02:00")] == [False, True]


@clause("CLI-30")
def test_what_waits_in_a_pause_is_not_owed(desk: Desk) -> None:
    desk.launched(desk.claim("00:01:00", overlap_policy="queue", lease="1h"))
    desk.turn("00:02:00")
    desk.pause("00:02:10")

    assert not still_owes(desk, "00:02:20")
