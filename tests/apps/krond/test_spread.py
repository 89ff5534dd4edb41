"""A thousand windows that fall together are spread as their distribution says."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise

import pytest

from tests.apps.krond.stage import Stage, play
from tests.clauses import clause

JOBS = 1_000
PLACES = 12
"""The seconds 0 to 59 in twelve places of five; the sixtieth belongs to the last."""
WORST = 31.3
"""Chi-square with eleven degrees of freedom is larger once in a thousand times."""


def uniform(x: float) -> float:
    return x


def skew_early(x: float) -> float:
    return float(x**0.5)


def skew_late(x: float) -> float:
    return 1 - float((1 - x) ** 0.5)


@clause("KROND-16", "KROND-1")
@pytest.mark.parametrize(
    ("name", "share_up_to"),
    [("uniform", uniform), ("skewEarly", skew_early), ("skewLate", skew_late)],
    ids=["uniform", "skewEarly", "skewLate"],
)
def test_a_thousand_windows_of_a_minute_are_spread_over_it(
    name: str, share_up_to: Callable[[float], float]
) -> None:
    async def scenario() -> list[str]:
        lines = [
            f"0 3 * * * @win(after,1m) @dist({name}) name=job-{number} command=true"
            for number in range(JOBS)
        ]
        stage = Stage("\n".join(lines), "2026-03-01T02:59:00Z")
        await stage.start()
        await stage.pass_s(180)
        return [one.at for one in stage.outside.executed]

    instants = play(scenario())

    assert len(instants) == JOBS
    seconds = [int(datetime.fromisoformat(at).timestamp()) % 3600 for at in instants]
    assert min(seconds) >= 0
    assert max(seconds) <= 60
    counted = Counter(min(second // 5, PLACES - 1) for second in seconds)
    edges = [*(5 * place / 61 for place in range(PLACES)), 1.0]
    shares = [share_up_to(right) - share_up_to(left) for left, right in pairwise(edges)]
    chi_square = sum(
        (counted[place] - JOBS * share) ** 2 / (JOBS * share) for place, share in enumerate(shares)
    )
    assert chi_square < WORST, counted
