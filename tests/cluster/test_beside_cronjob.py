"""
The rows beside CronJob on a real cluster: the CronJob controller and an operator, side by side.

All rows are played at once, in the two minutes that the first test waits for.
"""

from contextlib import closing

import pytest

from tests.clauses import clause
from tests.kube.beside import PLAYS, Beside, Play
from tests.kube.cluster import Cluster

Seen = dict[tuple[str, str], tuple[str, str]]


@pytest.fixture(scope="module")
def seen(own_cluster: Cluster) -> Seen:
    """What both did in each row, with each policy."""
    with closing(Beside(own_cluster)) as beside:
        return beside.play()


@clause("OPERATOR-50")
@pytest.mark.parametrize("play", PLAYS, ids=lambda play: f"{play[0].name}-{play[1]}")
def test_cronjob_and_kronjob_do_what_their_row_says(play: Play, seen: Seen) -> None:
    row, policy = play

    assert seen[row.name, policy] == (row.cronjob, row.kronjob)
