"""The judge of what a person is asked to approve, on small histories."""

import sqlite3

import pytest

from gnomon.simulation.workflow.audit import audit
from gnomon.simulation.workflow.log import LogInMemory
from gnomon.simulation.workflow.outside import Outside, Question
from tests.clauses import clause


def asked(
    at: int, *, params: str = '["i1"]', script: int = 1, granted: int | None = 1, first: int = 7
) -> Question:
    return Question("bill", params, script, granted, at, first)


def complaints(questions: list[Question], restored: tuple[tuple[int, int], ...] = ()) -> int:
    store = LogInMemory()
    tables: sqlite3.Connection = store.tables()
    outside = Outside(())
    outside.asked, outside.restored = questions, list(restored)
    try:
        return len(list(audit(tables, outside, [])))
    finally:
        store.close()


@clause("WSIM-17")
@pytest.mark.parametrize(
    "questions",
    [
        [],
        [asked(1), asked(2, params='["i2"]')],
        [asked(1), asked(2, params='["i1","i2"]'), asked(3)],
        [asked(1), asked(2, script=2, granted=2)],
        [asked(1, granted=2), asked(2)],
        [asked(1, granted=None), asked(2)],
        [asked(1), asked(2, first=9)],
    ],
)
def test_a_question_about_something_else_is_right(questions: list[Question]) -> None:
    assert complaints(questions) == 0


@clause("WSIM-17")
def test_a_question_about_what_was_approved_is_found_unless_a_backup_was_restored() -> None:
    assert complaints([asked(1), asked(5)]) == 1
    assert complaints([asked(1, granted=2), asked(5, script=2)]) == 1
    assert complaints([asked(1), asked(5)], ((0, 3),)) == 0
    assert complaints([asked(4), asked(5)], ((0, 3),)) == 1
