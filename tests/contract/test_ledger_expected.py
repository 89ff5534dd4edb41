"""Every ledger: what is expected of schedules, and who judges it while definitions change."""

from gnomon.ports import Expected, Judged
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at

SOON = {"start_by_ms": 20_000}
LATE = "00:05:00"


def expected(desk: Desk, now: str = LATE) -> list[Expected]:
    return desk.do(desk.ledger.expected(now_ms=at(now), limit=10))


@clause("SERVICE-20")
def test_nothing_is_expected_any_more_once_a_worker_has_judged_so(desk: Desk) -> None:
    desk.save(target=SOON)
    (one,) = expected(desk)

    desk.do(desk.ledger.judge(one, Judged(one.after, None), now_ms=at(LATE)))

    assert expected(desk) == []


@clause("SERVICE-20")
def test_what_is_expected_of_a_new_definition_is_kept_whatever_was_found_about_the_old_one(
    desk: Desk,
) -> None:
    desk.save(target=SOON)
    (one,) = expected(desk)
    desk.delete("00:02:00")
    desk.save(now="00:03:00", target=SOON)

    desk.do(desk.ledger.judge(one, Judged(one.after, None), now_ms=at("00:03:01")))

    assert [again.schedule_id for again in expected(desk)] == ["report"]
