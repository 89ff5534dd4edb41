"""Back from an absence: what could never have run is not called missed."""

import pytest

from tests.apps.krond.stage import Stage, play
from tests.clauses import clause


@clause("KROND-37", "KROND-7", "KROND-4")
@pytest.mark.parametrize("deadline", ["0s", "2h"])
def test_periods_of_an_absence_that_had_no_second_are_unschedulable(deadline: str) -> None:
    async def scenario() -> list[tuple[str, int]]:
        text = f"*/5 * * * * @avoid(hours=9-17) @policy(deadline={deadline}) name=a command=true"
        stage = Stage(text, "2026-03-01T07:58:00Z")
        await stage.start()
        await stage.pass_until("2026-03-01T08:01:00Z")
        await stage.kill()
        stage.set_clock("2026-03-02T08:02:00Z")
        await stage.start()
        await stage.pass_s(1)
        told: dict[str, int] = {}
        for row in await stage.rows("a"):
            word = f"{row.outcome}({row.reason})" if row.reason else str(row.outcome)
            told[word] = told.get(word, 0) + row.periods
        return sorted(told.items())

    by_hand = {
        "0s": [("executed", 1), ("missed(deadline)", 180), ("unschedulable(constraints)", 108)],
        # From 06:05 on: 24 are within the deadline, and run one after the other.
        "2h": [("executed", 2), ("missed(deadline)", 156), ("skipped(overlap)", 23),
               ("unschedulable(constraints)", 108)],
    }  # fmt: skip
    assert play(scenario()) == by_hand[deadline]
