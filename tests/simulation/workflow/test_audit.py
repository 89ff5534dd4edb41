"""The audit of workflows, on small histories written by hand: it complains when it must."""

import sqlite3

import pytest

from gnomon.simulation.workflow.audit import Auditor, audit, hurried, is_at_rest, weathered
from gnomon.simulation.workflow.outside import Application, Outside
from tests.clauses import clause

TABLES = """
CREATE TABLE workflows (current, trouble DEFAULT '');
CREATE TABLE events (topic, id, status);
CREATE TABLE topics (name, pending);
CREATE TABLE runs (number, handler, retry_of, phase, status, mutation, mutation_result,
  error_details DEFAULT '');
CREATE TABLE mutations (run, idempotency_key, status);
INSERT INTO workflows (current) VALUES (NULL);
INSERT INTO events VALUES ('orders', 'i1', 'consumed'), ('shipped', 'i1', 'consumed');
INSERT INTO topics VALUES ('orders', 0), ('shipped', 0);
INSERT INTO runs VALUES (1, 'ship', NULL, 'mutating', 'crashed', 1, NULL, '');
INSERT INTO runs VALUES (2, 'ship', 1, 'committed', 'committed', 1, '{"status": "applied"}', '');
INSERT INTO runs VALUES (3, 'bill', NULL, 'committed', 'committed', 3, '{"status": "applied"}', '');
INSERT INTO mutations VALUES (1, 'shop/1', 'applied'), (3, 'shop/3', 'applied');
"""
DONE = [Application("ship", "shop/1", ("i1",), 5), Application("bill", "shop/3", ("i1",), 9)]


def complaints(change: str = "", *, made: list[Application] = DONE) -> list[str]:
    """What is said about one item that was shipped and billed, after a change."""
    database = sqlite3.connect(":memory:")
    database.executescript(TABLES + change)
    outside = Outside((0,))
    outside.applications = list(made)
    found = list(audit(database, outside, ["i1"]))
    database.close()
    return found


@clause("WSIM-4", "WSIM-5", "WSIM-6", "WSIM-7")
def test_what_was_done_once_and_concluded_is_not_complained_about() -> None:
    assert complaints() == []


@clause("WSIM-5")
def test_what_a_person_has_skipped_need_not_have_been_done() -> None:
    skipped = """
    UPDATE events SET status = 'skipped' WHERE topic = 'shipped';
    UPDATE runs SET mutation_result = '{"status": "skipped"}' WHERE number = 3;
    UPDATE mutations SET status = 'skipped' WHERE run = 3;
    """

    assert complaints(skipped, made=DONE[:1]) == []


@pytest.mark.parametrize(
    ("change", "made", "said"),
    [
        pytest.param("", [*DONE, DONE[0]], "was applied 2 times", marks=clause("WSIM-4")),
        pytest.param(
            "", [*DONE, Application("ship", "shop/9", ("i1",), 9)], "ship of i1 was done 2 times",
            marks=clause("WSIM-4"),
        ),
        pytest.param("", DONE[:1], "consumed without its bill", marks=clause("WSIM-5")),
        pytest.param(
            "DELETE FROM events WHERE topic = 'shipped';", DONE, "never came to shipped",
            marks=clause("WSIM-5"),
        ),
        pytest.param(
            "UPDATE events SET status = 'skipped' WHERE topic = 'shipped';", DONE,
            "was skipped after its bill", marks=clause("WSIM-5"),
        ),
        pytest.param(
            "UPDATE events SET status = 'reserved' WHERE topic = 'shipped';", DONE,
            "shipped/i1 is stuck: reserved", marks=clause("WSIM-6"),
        ),
        pytest.param(
            "UPDATE workflows SET current = 3;", DONE, "run 3 is stuck", marks=clause("WSIM-6")
        ),
        pytest.param(
            "UPDATE runs SET mutation_result = NULL WHERE number = 3;", DONE,
            "but the tables say ('applied', 0)", marks=clause("WSIM-7"),
        ),
        pytest.param(
            "INSERT INTO mutations VALUES (4, 'shop/4', 'applied');", DONE, "was never applied",
            marks=clause("WSIM-7"),
        ),
        pytest.param(
            "UPDATE runs SET error_details = 'wakeAt: no instant' WHERE number = 3;", DONE,
            "failed because of what it wished for", marks=clause("WSIM-12"),
        ),
        pytest.param(
            "UPDATE topics SET pending = 1;", DONE, "counts 1 pending events, and has 0",
            marks=clause("WLOG-7"),
        ),
        pytest.param(
            "UPDATE runs SET retry_of = NULL;", DONE, "run 1 is crashed and was followed by 0",
            marks=clause("RECOVER-1"),
        ),
        pytest.param(
            "UPDATE runs SET handler = 'bill' WHERE number = 2;", DONE, "follows one of ship",
            marks=clause("PHASE-11"),
        ),
    ],
)  # fmt: skip
def test_each_kind_of_broken_promise_is_noticed(
    change: str, made: list[Application], said: str
) -> None:
    assert any(said in found for found in complaints(change, made=made))


@clause("WHEN-5", "PHASE-10")
def test_two_active_runs_and_a_phase_that_goes_back_are_noticed_as_they_happen() -> None:
    database = sqlite3.connect(":memory:")
    database.executescript(TABLES)
    auditor = Auditor(lambda: database)
    assert auditor.look() == []

    database.execute("UPDATE runs SET status = 'active', phase = 'preparing' WHERE number > 1")

    assert auditor.look() == [
        "runs [3, 2] are active at once",
        "run 3 went back to preparing",
        "run 2 went back to preparing",
    ]
    database.close()


@clause("WSIM-6")
def test_a_world_is_at_rest_when_every_item_is_in_and_nothing_is_left_to_do() -> None:
    database = sqlite3.connect(":memory:")
    database.executescript(TABLES)

    assert is_at_rest(database, ["i1"])
    assert not is_at_rest(database, ["i1", "i2"])
    database.execute("UPDATE workflows SET trouble = 'no module rates'")
    assert not is_at_rest(database, ["i1"])
    database.execute("UPDATE workflows SET trouble = ''")
    database.execute("UPDATE events SET status = 'pending' WHERE topic = 'shipped'")
    assert not is_at_rest(database, ["i1"])
    database.close()


@clause("WSIM-13")
def test_what_is_called_in_a_circle_is_noticed_and_what_is_called_often_is_not() -> None:
    seldom = [at * 3_000 for at in range(1_000)]
    often = [at * 2_900 for at in range(21)]

    assert list(hurried(seldom, [at * 119 for at in range(5)])) == []
    assert list(hurried(often, [])) == [
        "a tool was called in vain more than 20 times in the minute from 0 on"
    ]
    assert list(hurried([], [7] * 501)) == [
        "handlers were called more than 500 times in the minute from 7 on"
    ]


@clause("WSIM-15")
def test_an_outage_that_is_told_of_twice_or_not_at_all_is_noticed_and_so_is_a_crowd() -> None:
    def of(told: list[tuple[str, int, str]], vain: list[int]) -> list[str]:
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE runs (number, retry_of, status)")
        rows = [(number, number - 1 or None, "paused:transient") for number in range(1, 8)]
        database.executemany("INSERT INTO runs VALUES (?, ?, ?)", [*rows, (8, 7, "committed")])
        outside = Outside((0,))
        outside.told, outside.fruitless = told, vain
        found = list(weathered(database, outside, lives=1))
        database.close()
        return found

    heard, again = ("w1", 6, "paused:transient"), ("w1", 7, "paused:transient")
    assert of([heard], [at * 600_000 for at in range(100)]) == []
    assert of([heard, ("w2", 7, "paused:transient")], []) == []
    assert of([heard, again], []) == [
        "w1 told 2 times of run 1 and what followed it, paused:transient"
    ]
    assert of([], []) == ["7 tries in a row failed from run 1 on, and the person heard nothing"]
    assert of([heard], [at * 60_000 for at in range(51)]) == [
        "what is away was called more than 50 times in the hour from 0 on"
    ]


@clause("WSIM-12")
def test_what_a_restored_store_cannot_know_may_be_done_again_and_nothing_else() -> None:
    again = [*DONE, Application("ship", "shop/9", ("i1",), 12)]
    known = "INSERT INTO mutations VALUES (2, 'shop/9', 'applied');" + (
        "UPDATE runs SET mutation = 2 WHERE mutation = 1;"
        "UPDATE mutations SET status = 'failed' WHERE run = 1;"
    )

    def of(restored: list[tuple[int, int]]) -> list[str]:
        database = sqlite3.connect(":memory:")
        database.executescript(TABLES + known)
        outside = Outside((0,))
        outside.applications = again
        outside.restored = restored
        found = [one for one in audit(database, outside, ["i1"]) if "done 2 times" in one]
        database.close()
        return found

    assert of([]) == of([(10, 11)]) == ["ship of i1 was done 2 times"]
    assert of([(2, 6)]) == []


@clause("WSIM-4", "WSIM-12")
@pytest.mark.parametrize(
    ("again", "restored", "expected"),
    [
        (DONE[1]._replace(at=12), [(8, 10)], 0),
        (DONE[1]._replace(at=12), [], 2),
        (DONE[1]._replace(at=12), [(10, 11)], 2),
        (DONE[1]._replace(at=12, items=("i2",)), [(8, 10)], 1),
    ],
)
def test_a_key_comes_twice_only_where_a_backup_does_not_know_what_was_made_with_it(
    again: Application, restored: list[tuple[int, int]], expected: int
) -> None:
    database = sqlite3.connect(":memory:")
    database.executescript(TABLES)
    outside = Outside((0,))
    outside.applications, outside.restored = [*DONE, again], restored

    assert len([one for one in audit(database, outside, ["i1"]) if "times" in one]) == expected
    database.close()
