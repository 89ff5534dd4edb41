"""The settings: the seed's names and defaults, and nothing that cannot be meant."""

import pytest

from gnomon.apps.service.settings import Settings
from gnomon.errors import DefinitionError
from tests.clauses import clause


@clause("SERVICE-6")
def test_the_defaults_are_the_seeds() -> None:
    settings = Settings.read({})

    assert (settings.tick_ms, settings.lookahead_ms, settings.max_catchup_per_tick) == (
        1000, 60_000, 100,
    )  # fmt: skip
    assert (settings.default_overlap_policy, settings.default_catchup_policy) == ("skip", "none")
    assert settings.default_jitter_ms == 0
    assert settings.limits.grace_ms == 61_000


@clause("SERVICE-6")
def test_an_environment_says_otherwise() -> None:
    settings = Settings.read(
        {"TICK_MS": "500", "LOOKAHEAD_MS": "10000", "MAX_CATCHUP_PER_TICK": "7", "HOME": "x",
         "ZONES": "UTC, Europe/Riga", "DEFAULT_CATCHUP_POLICY": "latest", "LEASE": "30s"}
    )  # fmt: skip

    assert settings.limits.catchup_max == 7
    assert settings.limits.lookahead_ms == 10_000
    assert settings.limits.grace_ms == 10_500
    assert settings.zones == {"UTC", "Europe/Riga"}
    assert (settings.default_catchup_policy, settings.lease) == ("latest", "30s")


@clause("SERVICE-6")
@pytest.mark.parametrize(
    ("name", "text"),
    [("TICK_MS", "soon"), ("TICK_MS", "0"), ("LOOKAHEAD_MS", "86400001"), ("LOOKAHEAD_MS", "-1"),
     ("MAX_CATCHUP_PER_TICK", "0"), ("DEFAULT_OVERLAP_POLICY", "maybe"), ("ZONES", "Mars"),
     ("DEFAULT_CATCHUP_POLICY", ""), ("LEASE", "long"), ("LEASE", "0s"), ("KEEP", "1s"),
     ("DEFAULT_JITTER_MS", "1.5")],
)  # fmt: skip
def test_a_setting_that_cannot_be_meant_is_refused_by_name(name: str, text: str) -> None:
    if not text:
        assert Settings.read({name: text}) == Settings()
        return
    with pytest.raises(DefinitionError) as caught:
        Settings.read({name: text})

    assert caught.value.where == name


@clause("SERVICE-6")
def test_only_zones_of_the_list_are_allowed() -> None:
    settings = Settings(zones=frozenset({"UTC"}))
    settings.check_zone("UTC")

    with pytest.raises(DefinitionError, match="list of zones"):
        settings.check_zone("Europe/Riga")
