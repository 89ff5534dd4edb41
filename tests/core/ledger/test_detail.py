"""How a run ended, in one line that breaks no line and no terminal."""

import pytest

from gnomon.core.ledger.detail import DETAIL_MAX, failure_line, one_line
from tests.clauses import clause


@clause("LAUNCH-4")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("exit 3", "exit 3"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[2J red", "\\x1b[2J red"),
        ("x" * DETAIL_MAX, "x" * DETAIL_MAX),
        ("x" * (DETAIL_MAX + 1), "x" * (DETAIL_MAX - 1) + "…"),
        ("\n" * DETAIL_MAX, "\\n" * (DETAIL_MAX // 2 - 1) + "\\…"),
    ],
)
def test_foreign_text_is_one_line_of_bearable_length(text: str, line: str) -> None:
    assert one_line(text) == line
    assert len(line) <= DETAIL_MAX
    assert line.isprintable()


class _MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@clause("LAUNCH-4")
@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("no"), "ValueError: no"),
        (ValueError(), "ValueError"),
        (_MuteError(), "_MuteError: (no text)"),
    ],
)
def test_a_failure_says_its_kind_and_its_text(error: BaseException, line: str) -> None:
    assert failure_line(error) == line
