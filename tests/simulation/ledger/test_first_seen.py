"""The judge finds what was done wrongly about windows that were open when a schedule was saved."""

import pytest

from tests.clauses import clause
from tests.simulation.ledger.test_judge import FIRST, codes, good_history, row


@clause("SIM-5", "SIM-7")
@pytest.mark.parametrize(
    ("is_ahead", "outcome", "reason", "expected"),
    [
        (True, "executed", None, []),
        (True, "skipped", "withdrawn", ["first"]),
        (False, "skipped", "withdrawn", []),
        (False, "executed", None, ["first"]),
    ],
)
def test_a_window_that_was_open_counts_if_its_instant_was_ahead(
    is_ahead: bool, outcome: str, reason: str | None, expected: list[str]
) -> None:
    record, rows = good_history()
    record.saved_ms["s1"] = FIRST * 1000 - 1
    record.open_when_saved["s1"] = [FIRST] if is_ahead else []
    if outcome != "executed":
        del record.effects[0], record.grants[0]
        rows[0] = row(FIRST, outcome, reason)

    assert codes(record, rows, window="before,15s") == expected


@clause("SIM-5")
def test_a_period_of_before_is_owed_where_its_window_was_open_with_its_instant_ahead() -> None:
    record, rows = good_history()
    record.saved_ms["s1"] = FIRST * 1000 + 1
    changed = {"window": "after,15s"}

    assert codes(record, rows, **changed) == ["stray", "first"]
    record.open_when_saved["s1"] = [FIRST]
    assert codes(record, rows, **changed) == []
    assert codes(record, rows[1:], **changed) == ["lost"]
