"""The judge finds a run by hand that has other parameters than its caller gave first."""

import pytest

from tests.clauses import clause
from tests.simulation.ledger.test_judge import SECOND, codes, good_history, row

KEY = "manual:s1:m1"


@clause("SIM-7")
@pytest.mark.parametrize(
    ("given", "kept", "expected"),
    [
        ('{"try":1}', '{"try":1}', []),
        ('{"try":1}', '{"try":2}', ["asked"]),
        ('{"try":1}', None, ["asked"]),
        (None, '{"try":1}', ["asked"]),
        (None, None, []),
    ],
)
def test_a_run_by_hand_has_what_was_given_to_it_first(
    given: str | None, kept: str | None, expected: list[str]
) -> None:
    record, rows = good_history()
    record.asked.append(("s1", KEY))
    record.killed[KEY] = 40
    if given is not None:
        record.given[KEY] = given
    by_hand = row(SECOND, "skipped", "killed")._replace(key=KEY, params=kept)

    assert codes(record, [*rows, by_hand]) == expected
