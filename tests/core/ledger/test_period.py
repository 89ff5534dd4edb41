"""The keys of periods and ranges."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.ledger.period import period_key, range_key
from tests.clauses import clause

IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
NOMINALS = st.integers(0, 7_289_654_399)


@clause("LIFE-6", "LEDGER-2")
def test_the_key_of_a_period_is_the_hash_of_schedule_and_nominal_instant() -> None:
    # printf 'report:1773136800' | sha256sum
    assert period_key("report", 1_773_136_800) == (
        "1c988dd0a30eaba8ec7f054ec5a83a0c3967663b9c6c6c7eb82f01d22c7ed197"
    )


@clause("LIFE-6")
@given(IDS, NOMINALS, IDS, NOMINALS)
def test_two_periods_never_share_a_key(one: str, first: int, other: str, second: int) -> None:
    same = (one, first) == (other, second)

    assert (period_key(one, first) == period_key(other, second)) is same
    assert (range_key(one, first) == range_key(other, second)) is same
    assert period_key(one, first) != range_key(other, second)
