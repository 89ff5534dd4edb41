"""Whether a cron text occurs for ever, which is all the judge knows about cron."""

import pytest

from gnomon.theory.cron_text import recurs_for_ever
from tests.clauses import clause


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
