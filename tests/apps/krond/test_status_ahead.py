"""What lies ahead of a job: the earliest second, also out of overlapping windows."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from gnomon.apps.krond.status import next_chosen, over_at, periods_after
from tests.apps.krond.krontab.reading import job
from tests.clauses import clause

NOON = 1_772_366_400  # 2026-03-01T12:00:00Z


@clause("KRONTAB-32")
@given(
    st.sampled_from(["after", "around", "before"]),
    st.sampled_from(["0s", "7m", "3h"]),
    st.sampled_from(["", "@only(hours=12-18)", "@avoid(dow=sun)"]),
    st.integers(0, 86_400),
)
def test_the_earliest_second_ahead_is_found(mode: str, length: str, rule: str, at: int) -> None:
    schedule = job(f"*/20 * * * * @win({mode},{length}) {rule} name=a command=b").schedule

    chosen = [over_at(one) for one in islice(periods_after(schedule, NOON + at), 100)
              if one.chosen_at is not None]  # fmt: skip

    found = next_chosen(schedule, NOON + at)
    assert found == min(chosen, default=None)


@clause("KRONTAB-32")
def test_the_search_for_the_next_instant_ends() -> None:
    schedule = job("0 2 * * * @only(hours=5) name=a command=b").schedule

    assert next_chosen(schedule, NOON) is None
