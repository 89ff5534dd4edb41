"""Seeds: which text is hashed, and which key a period has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import SeedStrategy, decide, parse_seed_strategy
from gnomon.core.decision.seed import (
    period_key,
    period_key_of,
    seed_digest,
    seed_material,
    seed_state_of,
    state_of,
)
from gnomon.errors import DefinitionError
from tests.clauses import clause


def key(strategy: SeedStrategy, nominal: str, zone: str = "UTC") -> str:
    return period_key(strategy, to_epoch(parse_instant(nominal)), load_zone(zone))


@clause("SEED-1")
def test_the_seed_hash_is_the_sha256_of_identity_key_and_salt_in_lines() -> None:
    # printf 'prod/db-backup\n2026-03-01T00:00:00Z\n' | sha256sum
    decision = decide(identity="prod/db-backup", nominal_at=1772323200)
    assert decision.seed_material == "prod/db-backup\n2026-03-01T00:00:00Z\n"
    assert decision.seed_hash == "4279dd7a284efb4a887f4eb154288b5d14c90a4507251b6ae4f59b877b19ed0f"


@clause("SEED-1")
def test_text_is_hashed_as_utf_8() -> None:
    assert seed_digest(seed_material("größe", "k", "τ")) == seed_digest("größe\nk\nτ")


@clause("SEED-2")
def test_stable_gives_each_period_its_own_key() -> None:
    assert key(SeedStrategy.STABLE, "2026-03-01T00:30:00Z", "Asia/Tokyo") == "2026-03-01T00:30:00Z"


@clause("SEED-3")
@pytest.mark.parametrize(
    ("zone", "date"),
    [("UTC", "2026-03-01"), ("America/Los_Angeles", "2026-02-28"), ("Asia/Tokyo", "2026-03-01")],
)
def test_daily_is_the_local_date(zone: str, date: str) -> None:
    assert key(SeedStrategy.DAILY, "2026-03-01T00:30:00Z", zone) == date


@clause("SEED-4")
@pytest.mark.parametrize(
    ("nominal", "zone", "week"),
    [
        ("2026-12-31T23:30:00Z", "Asia/Tokyo", "2026-W53"),
        ("2027-01-03T23:30:00Z", "UTC", "2026-W53"),
        ("2027-01-03T23:30:00Z", "Europe/Berlin", "2027-W01"),
        ("2024-12-30T00:00:00Z", "UTC", "2025-W01"),
        ("2026-03-01T12:00:00Z", "UTC", "2026-W09"),
    ],
)
def test_weekly_is_the_local_iso_week(nominal: str, zone: str, week: str) -> None:
    assert key(SeedStrategy.WEEKLY, nominal, zone) == week


@clause("SEED-3")
def test_periods_of_one_local_day_share_their_draw() -> None:
    morning = decide(
        identity="a", nominal_at=1772352000, window="after,1h", seed="daily", zone="UTC"
    )
    evening = decide(
        identity="a", nominal_at=1772395200, window="after,1h", seed="daily", zone="UTC"
    )
    assert morning.seed_hash == evening.seed_hash
    assert morning.chosen_at is not None
    assert evening.chosen_at is not None
    assert (morning.chosen_at - morning.nominal_at) == (evening.chosen_at - evening.nominal_at)


@clause("SEED-1")
@given(
    st.sampled_from(SeedStrategy),
    st.sampled_from(["UTC", "Europe/Berlin", "Pacific/Apia"]),
    st.integers(0, 7_289_654_399),
    st.text(max_size=8),
)
def test_the_prepared_seed_is_the_one_of_the_material(
    strategy: SeedStrategy, zone_name: str, nominal: int, salt: str
) -> None:
    zone = load_zone(zone_name)
    if not is_utf_8(salt):
        return
    material = seed_material("team/a", period_key_of(strategy, zone)(nominal), salt)
    assert seed_state_of("team/a", strategy, salt, zone)(nominal) == state_of(seed_digest(material))


@clause("SEED-2")
def test_the_key_of_a_day_is_the_same_after_ten_thousand_others() -> None:
    state_at = seed_state_of("a", SeedStrategy.STABLE, "", load_zone("UTC"))
    states = [state_at(day * 86_400) for day in range(10_000)]
    assert [state_at(day * 86_400) for day in range(10_000)] == states


@clause("SEED-5")
@pytest.mark.parametrize(
    ("identity", "reason"),
    [
        ("", "must not be empty"),
        ("a\nb", "must be one line"),
        ("\ud800", "must be text that UTF-8 can express"),
        ("a" * 4097, "is longer than 4096 characters"),
        (b"a", "must be text"),
        (None, "must be text"),
    ],
)
def test_an_identity_that_cannot_name_a_schedule_is_refused(identity: str, reason: str) -> None:
    with pytest.raises(DefinitionError, match=f"identity: {reason}"):
        decide(identity=identity, nominal_at=0)


@clause("SEED-5")
@pytest.mark.parametrize("salt", ["\ud800", "a" * 4097, 7])
def test_a_salt_that_cannot_be_hashed_is_refused(salt: str) -> None:
    with pytest.raises(DefinitionError, match="salt: "):
        decide(identity="a", nominal_at=0, salt=salt)


@clause("SEED-5")
@pytest.mark.parametrize("strategy", ["hourly", "", "Stable", 7, ["daily"]])
def test_an_unknown_strategy_is_refused_with_the_known_ones(strategy: str) -> None:
    with pytest.raises(DefinitionError, match="use stable, daily, weekly"):
        parse_seed_strategy(strategy)


def is_utf_8(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


@clause("SEED-6")
def test_the_state_is_the_first_eight_bytes_read_from_the_left() -> None:
    digest = bytes.fromhex("4279dd7a284efb4a") + bytes(24)
    assert state_of(digest) == 0x4279DD7A284EFB4A
