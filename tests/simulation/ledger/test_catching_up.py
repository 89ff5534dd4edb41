"""
The judge of catching up, on small histories written by hand.

The schedule is every 10 seconds from 00:00:00 to 00:00:50 on 2026-03-01: six periods, all of them
overdue when everybody is back at 00:01:00. Two of them may go in a second.
"""

import pytest

from gnomon.simulation.ledger.judge import judge
from gnomon.simulation.ledger.record import Grant, Record, Row
from tests.clauses import clause

FIRST = 1_772_323_200
BACK_MS = (FIRST + 60) * 1000
PERIODS = [FIRST + 10 * number for number in range(6)]
SCHEDULE: dict[str, object] = {
    "schedule_id": "s1", "every": "10s", "anchor": "2026-03-01T00:00:00Z",
    "end_at": "2026-03-01T00:00:50Z", "overlap_policy": "allow", "catchup_policy": "spread",
    "deadline": None, "pause_rule": "skip", "uncertain": "restart", "lease": "10s",
    "launches_max": 3,
}  # fmt: skip
CODES = {"tick", "order", "spread", "chosen"}


def found(
    claims_ms: list[int], *, periods: list[int] | None = None, alone: bool = True,
    was_set: bool = False, instants_ms: list[int] | None = None, **changed: object,
) -> set[str]:  # fmt: skip
    """What is said of claims so long after everybody was back, in their order, and of instants."""
    record = Record(
        saved_ms={"s1": FIRST * 1000}, in_force_ms={"s1": [FIRST * 1000]}, is_disturbed=True,
        catchup_max=2, lookahead_ms=6_000, outage_alone=alone, clock_was_set=was_set,
    )  # fmt: skip
    rows = []
    claims = zip(periods or PERIODS, claims_ms, instants_ms or claims_ms, strict=True)
    for number, (nominal, claim_ms, instant_ms) in enumerate(claims):
        at_ms, chosen_ms = BACK_MS + claim_ms, BACK_MS + instant_ms
        record.grants.append(
            Grant(
                schedule_id="s1", nominal=nominal, key=f"k{nominal}", fence=1, launches=1,
                worker="w1", no=number, given_ms=at_ms, shown_ms=at_ms, lease_ms=10_000,
                until_ms=at_ms + 10_000,
            )
        )  # fmt: skip
        rows.append(
            Row(
                "s1",
                f"k{nominal}",
                nominal,
                0,
                1,
                "done",
                "executed",
                None,
                1,
                1,
                chosen_ms=chosen_ms,
            )
        )
    complaints = judge([SCHEDULE | changed], record, rows)
    return {one.code for one in complaints} & CODES


@clause("SIM-20")
def test_an_outage_that_is_caught_up_with_evenly_is_good() -> None:
    assert found([0, 1_000, 2_000, 3_000, 4_000, 5_000]) == set()
    assert found([0, 0, 1_000, 1_000, 2_000, 2_000], catchup_policy="fire_immediately") == set()


@clause("SIM-20")
def test_too_many_in_a_tick_are_found_but_not_in_a_queue_or_where_the_clock_was_set() -> None:
    at_once = [0, 0, 999, 1_999, 2_999, 3_999]
    policy = "fire_immediately"

    assert found(at_once, catchup_policy=policy) == {"tick"}
    assert found(at_once, catchup_policy=policy, overlap_policy="queue") == set()
    assert found(at_once, catchup_policy=policy, was_set=True) == set()
    assert found(at_once, catchup_policy="recent") == {"chosen"}


@clause("SIM-20")
@pytest.mark.parametrize("overlap", ["allow", "queue", "skip"])
def test_overdue_periods_that_go_in_another_order_are_found(overlap: str) -> None:
    others = [PERIODS[place] for place in (0, 2, 1, 3, 4, 5)]
    calm = [0, 1_000, 2_000, 3_000, 4_000, 5_000]

    assert "order" in found(calm, periods=others, overlap_policy=overlap)
    assert "order" not in found(calm, periods=others, overlap_policy=overlap, window="after,20s")


@clause("SIM-20")
def test_in_a_queue_what_is_on_time_goes_behind_what_is_overdue() -> None:
    # The last period, at 00:00:50, went in time; the others ten seconds later.
    periods, claims_ms = [PERIODS[-1], *PERIODS[:-1]], [-10_000, 0, 1_000, 2_000, 3_000, 4_000]

    assert found(claims_ms, periods=periods) == set()
    assert found(claims_ms, periods=periods, overlap_policy="queue") == {"order"}


@clause("SIM-20")
@pytest.mark.parametrize(
    "claims_ms",
    [
        [0, 1_000, 2_000, 2_000, 4_000, 5_000],  # two at once
        [0, 1_000, 2_000, 2_400, 4_000, 5_000],  # hardly apart
        [0, 1_000, 2_000, 5_100, 6_100, 7_100],  # a hole
        [0, 2_000, 4_000, 6_000, 8_000, 10_000],  # even, and too late
    ],
)
def test_an_outage_that_is_spread_unevenly_is_found(claims_ms: list[int]) -> None:
    assert "spread" in found(claims_ms)


@clause("SIM-20")
@pytest.mark.parametrize("overlap", ["allow", "queue", "skip"])
def test_what_went_late_moves_what_goes_a_tick_after_it_and_nothing_else(overlap: str) -> None:
    # The second is claimed 31 ms late, so that the fourth moves on, and the fifth does not.
    claims_ms, instants_ms = [0, 531, 1_000, 1_531, 2_000, 2_531], [0, 500, 1_000, 1_531, 2_000]

    told = [*instants_ms, 2_531]
    assert found(claims_ms, instants_ms=told, overlap_policy=overlap) == set()
    told = [*instants_ms, 2_499]
    assert found(claims_ms, instants_ms=told, overlap_policy=overlap) == {"spread"}


@clause("SIM-20")
@pytest.mark.parametrize(("late_ms", "is_found"), [(250, False), (251, True)])
def test_one_run_at_a_time_keeps_half_a_step_apart_however_late_a_claim_was(
    late_ms: int, is_found: bool
) -> None:
    instants_ms = [0, 500, 1_000, 1_500 + late_ms, 2_000, 2_500 + late_ms]
    claims_ms = [0, 500 + late_ms, 1_000, *instants_ms[3:]]

    assert found(claims_ms, instants_ms=instants_ms) == set()
    one_by_one = found(claims_ms, instants_ms=instants_ms, overlap_policy="skip")
    assert ("spread" in one_by_one) is is_found


@clause("SIM-20")
@pytest.mark.parametrize(("fifth_ms", "is_found"), [(2_001, False), (2_000, True)])
def test_no_claim_is_late_enough_for_instants_in_another_order(
    fifth_ms: int, is_found: bool
) -> None:
    # The second is claimed 501 ms late, so that the fourth may come up to the fifth.
    claims_ms, told = [0, 1_001, 1_001, 2_001, fifth_ms], [0, 500, 1_000, 2_001, fifth_ms]

    told_of = found(claims_ms, instants_ms=told, periods=PERIODS[:5])
    assert ("spread" in told_of) is is_found


@clause("SIM-20")
def test_where_no_claim_was_late_overlap_brings_nothing_nearer_than_a_step() -> None:
    near = [0, 500, 1_000, 1_531, 2_000, 2_531]

    assert found(near) == {"spread"}
    assert found(near, overlap_policy="skip") == set()


@clause("SIM-20")
def test_where_more_went_wrong_instants_need_not_be_even() -> None:
    assert found([0, 1_000, 2_000, 5_100, 6_100, 7_100], alone=False) == set()
