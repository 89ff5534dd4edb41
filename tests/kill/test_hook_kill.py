"""The web hook example is killed twenty times; the server's own file shows each order once."""

import sqlite3
from pathlib import Path

import pytest

from tests.clauses import clause
from tests.kill.hook_world import judge, run_world

KILLS = 10


@clause("WSIM-10", "WCLI-5")
@pytest.mark.parametrize("seed", ["north", "south"])
def test_a_killed_workflow_delivers_each_order_once(seed: str) -> None:
    outcome = run_world(seed, KILLS)

    assert outcome.problems == [], f"python -m tests.kill.hook_world {seed} {KILLS}"
    assert (outcome.kills, outcome.taken) == (KILLS, KILLS + 3)


def tables(folder: Path, statuses: dict[str, str], commits: int) -> None:
    database = sqlite3.connect(folder / "workflows.sqlite3")
    database.execute("CREATE TABLE events (topic, id, status)")
    database.execute("CREATE TABLE runs (status, mutation_result)")
    for order, status in statuses.items():
        database.execute("INSERT INTO events VALUES ('orders', ?, ?)", (order, status))
    for _ in range(commits):
        database.execute("INSERT INTO runs VALUES ('committed', '{\"status\": \"applied\"}')")
    database.commit()
    database.close()


@pytest.mark.parametrize(
    ("statuses", "commits", "taken", "problem"),
    [
        ({"a": "consumed", "b": "consumed"}, 2, ["a", "b"], None),
        ({"a": "consumed", "b": "consumed"}, 2, ["a", "b", "a"], "a was taken 2 times"),
        ({"a": "consumed", "b": "consumed"}, 2, ["a"], "b was taken 0 times"),
        ({"a": "consumed", "b": "reserved"}, 2, ["a", "b"], "b is reserved"),
        ({"a": "consumed", "b": "consumed"}, 1, ["a", "b"], "1 runs were committed"),
    ],
)
def test_each_kind_of_broken_promise_is_noticed(
    tmp_path: Path, statuses: dict[str, str], commits: int, taken: list[str], problem: str | None
) -> None:
    tables(tmp_path, statuses, commits)

    found = judge(tmp_path, ["a", "b"], taken)

    assert (found == []) if problem is None else (problem in found[0])
