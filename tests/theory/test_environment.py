"""Which class of environment a trace looks like, and whether a cron text occurs for ever."""

import pytest

from gnomon.theory import check
from gnomon.theory.environment import EnvironmentClass, recurs_for_ever
from gnomon.trace import Header
from tests.clauses import clause
from tests.theory.story import tell


@clause("THEORY-16")
@pytest.mark.parametrize(("words", "kind"), [
    (["crash"], EnvironmentClass.UNKNOWN),
    (["compute 1", "wait 10s"] * 3, EnvironmentClass.FREEZING),
    (["compute 1", "wait 999ms"] * 60, EnvironmentClass.DENSE),
    (["compute 1", "wait 20s"] * 60, EnvironmentClass.BURST),
    (["compute 1", "wait 3s"] * 60, EnvironmentClass.THAWING),
])  # fmt: skip
def test_an_environment_is_classed_by_how_compute_came(
    words: list[str], kind: EnvironmentClass
) -> None:
    found = check(Header(), tell(*words, "minute")).environment

    assert found.kind is kind


@clause("EA5")
@pytest.mark.parametrize(("text", "expected"), [
    ("* * * * *", True),
    ("0 0 30 2 *", True),
    ("0 0 2 * * *", True),
    ("@daily", True),
    ("every 15m", True),
    ("0 0 0 1 1 ? *", True),
    ("0 0 0 1 1 ? */2", True),
    ("0 0 0 1 1 ? 2027", False),
    ("once 2026-03-01T00:00:00Z", False),
    ("@reboot", False),
    ("", None),
    ("whenever", None),
])  # fmt: skip
def test_only_a_year_or_an_instant_makes_a_text_end(text: str, expected: bool | None) -> None:
    assert recurs_for_ever(text) is expected
