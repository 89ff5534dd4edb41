"""Candidates, the stream they come from, and jitter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.civil.instant import format_instant, parse_instant, to_epoch
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import (
    Chosen,
    Decider,
    Decision,
    SeedStrategy,
    Unschedulable,
    decide,
    parse_constraint,
    parse_distribution,
    parse_window,
)
from gnomon.core.decision.constraint import allowance
from gnomon.core.decision.draw import JITTER_MAX_MS, SplitMix64, jitter_ms
from gnomon.errors import DefinitionError
from tests.clauses import clause
from tests.oracle import decision_reference

MONDAY_TEN = to_epoch(parse_instant("2026-03-02T10:00:00Z"))
TIMES = [
    None,
    "hours=9-17",
    "between=22:00-06:00",
    "dow=mon-fri",
    "dom=1-15;months=1-9",
    "dates=2000-01-01..2100-12-31",
    "hours=3;dow=sun",
]
DECIDERS = st.builds(
    Decider,
    identity=st.text(alphabet="abc/-é", min_size=1, max_size=12),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"]),
    window=st.sampled_from(
        ["after,0s", "after,1s", "after,1h", "around,61m", "around,500ms", "before,30h"]
    ).map(parse_window),
    distribution=st.sampled_from(
        [
            "uniform",
            "skewEarly",
            "skewLate,shape=0.3",
            "normal",
            "normal,mu=end,sigma=1s",
            "exponential,lambda=5",
            "exponential,dir=late",
        ]
    ).map(parse_distribution),
    seed=st.sampled_from(SeedStrategy),
    salt=st.sampled_from(["", "blue", "a\nb"]),
    only=st.sampled_from(TIMES).map(lambda text: parse_constraint(text) if text else None),
    avoid=st.sampled_from(TIMES).map(lambda text: parse_constraint(text) if text else None),
)
NOMINALS = st.integers(0, 7_289_654_399)


def ten_o_clock(
    *, window: str = "after,1h", only: str | None = None, avoid: str | None = None
) -> Decision:
    return decide(identity="report", nominal_at=MONDAY_TEN, window=window, only=only, avoid=avoid)


@clause("DEC-2")
@given(DECIDERS, NOMINALS)
def test_the_chosen_second_lies_in_the_window(decider: Decider, nominal: int) -> None:
    decision = decider.decide(nominal)
    if isinstance(decision.outcome, Chosen):
        assert decision.window.start <= decision.outcome.at <= decision.window.end


@clause("DEC-2")
@given(DECIDERS, NOMINALS)
def test_the_chosen_second_meets_the_constraints(decider: Decider, nominal: int) -> None:
    decision = decider.decide(nominal)
    allowed = allowance(decider.only, decider.avoid)
    if isinstance(decision.outcome, Chosen) and allowed is not None:
        at = decision.outcome.at
        assert at + load_zone(decider.zone).offset_at(at) in allowed


@clause("DEC-4")
def test_without_constraints_the_first_candidate_is_taken() -> None:
    assert ten_o_clock().attempt_count == 1


@clause("DEC-4")
@pytest.mark.parametrize(
    ("avoid", "chosen", "attempts"),
    [
        (None, "10:27:29", 1),
        ("between=10:27-10:27", "10:25:15", 2),
        ("between=10:25-10:27", "10:17:26", 3),
        ("between=10:17-10:27", "10:29:46", 4),
        ("between=10:17-10:29", "10:58:42", 5),
    ],
)
def test_a_rejected_candidate_is_followed_by_the_next_of_the_stream(
    avoid: str | None, chosen: str, attempts: int
) -> None:
    record = ten_o_clock(avoid=avoid).to_json()
    assert record["chosenTime"] == f"2026-03-02T{chosen}Z"
    assert record["attemptCount"] == attempts


@clause("DEC-4")
def test_at_most_64_candidates_are_drawn() -> None:
    decision = ten_o_clock(only="hours=12")
    assert decision.attempt_count == 64
    assert decision.attempts_max == 64


@clause("DEC-5")
def test_a_window_of_one_second_draws_nothing() -> None:
    decision = ten_o_clock(window="after,999ms")
    assert decision.outcome == Chosen(at=MONDAY_TEN)
    assert decision.attempt_count == 0


@clause("DEC-5")
def test_a_window_of_one_second_obeys_the_constraints() -> None:
    assert ten_o_clock(window="after,0s", only="hours=10").outcome == Chosen(at=MONDAY_TEN)
    decision = ten_o_clock(window="after,0s", only="hours=11")
    assert decision.outcome == Unschedulable(
        reason="no candidate accepted within MaxAttempts", attempts=0
    )


@clause("DEC-6")
def test_an_unschedulable_period_is_a_value_with_its_reason() -> None:
    decision = ten_o_clock(only="hours=12")
    assert decision.outcome == Unschedulable(
        reason="no candidate accepted within MaxAttempts", attempts=64
    )
    assert decision.chosen_at is None
    assert format_instant(decision.window.end) == "2026-03-02T11:00:00Z"
    assert len(decision.seed_hash) == 64


@clause("DEC-10")
@given(DECIDERS, NOMINALS)
def test_the_integer_path_chooses_what_the_record_says(decider: Decider, nominal: int) -> None:
    outcome = decider.decide(nominal).outcome
    expected = outcome.at if isinstance(outcome, Chosen) else None
    assert decider.choose(nominal) == expected


@clause("DEC-10")
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"])
@pytest.mark.parametrize("window", ["after,20m", "around,5h", "before,49h"])
@pytest.mark.parametrize(
    "avoid", ["between=00:00-01:59,02:30-02:39", "dow=sun;hours=1", "dates=2026-10-01..2026-10-31"]
)
def test_the_integer_path_remembers_nothing_of_other_periods(
    zone: str, window: str, avoid: str
) -> None:
    """Periods around every change of 2011 and 2026, forth and back, asked of one decider."""
    decider = Decider(
        identity="report", zone=zone, window=parse_window(window), avoid=parse_constraint(avoid)
    )
    years = [(1293840000, 1325376000), (1767225600, 1798761600)]
    changes = [at for year in years for at, _, _ in load_zone(zone).changes(*year)] or [1767225600]
    nominals = [at + 1800 * step for at in changes for step in range(-100, 100, 3)]
    for nominal in (*nominals, *reversed(nominals)):
        outcome = decider.decide(nominal).outcome
        expected = outcome.at if isinstance(outcome, Chosen) else None
        assert decider.choose(nominal) == expected


@clause("DEC-10")
def test_the_integer_path_says_none_when_no_candidate_is_allowed() -> None:
    decider = Decider(
        identity="report", window=parse_window("after,1h"), only=parse_constraint("hours=12")
    )
    assert decider.choose(MONDAY_TEN) is None


@clause("SEED-6")
def test_the_stream_is_the_published_splitmix64() -> None:
    # The first words after seed 1234567, as the generator's author and others print them.
    stream = SplitMix64(1234567)
    assert [stream.next_word() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@clause("SEED-7")
def test_a_unit_is_the_top_53_bits_of_a_word() -> None:
    assert SplitMix64(1234567).next_unit() == (6457827717110365317 >> 11) / 2**53


@clause("SEED-7")
@given(st.integers(0, 2**64 - 1))
def test_a_unit_is_at_least_zero_and_below_one(state: int) -> None:
    assert 0.0 <= SplitMix64(state).next_unit() < 1.0


@clause("SEED-8")
@given(st.text(alphabet="abc/:-0123456789é", max_size=40), st.integers(0, JITTER_MAX_MS))
def test_jitter_is_the_draw_that_the_key_seeds(key: str, jitter: int) -> None:
    shift = jitter_ms(key, jitter)
    assert -jitter <= shift <= jitter
    assert shift == decision_reference.jitter(key, jitter)


@clause("SEED-8")
def test_every_shift_either_way_occurs() -> None:
    shifts = {jitter_ms(f"report:{number}", 3) for number in range(200)}
    assert shifts == {-3, -2, -1, 0, 1, 2, 3}


@clause("SEED-8")
def test_no_jitter_is_no_shift() -> None:
    assert jitter_ms("report:1772323200", 0) == 0


@clause("SEED-8")
@pytest.mark.parametrize("jitter", [-1, JITTER_MAX_MS + 1, 1.5, True, "5"])
def test_a_jitter_that_cannot_be_meant_is_refused(jitter: int) -> None:
    with pytest.raises(DefinitionError, match="whole number of milliseconds from 0 to one day"):
        jitter_ms("report", jitter)


@clause("SEED-8")
def test_a_key_that_cannot_be_hashed_is_refused() -> None:
    with pytest.raises(DefinitionError, match="jitter key: must be text"):
        jitter_ms("\ud800", 5)
