"""The judge of what is told of scripts that cannot be loaded, on small histories."""

import pytest

from gnomon.simulation.workflow.audit import unloadable
from gnomon.simulation.workflow.outside import Lack, Outside
from tests.clauses import clause

MINUTE_MS = 60_000


def lack(
    minute: int, *, life: str = "p1", version: int = 1, why: str = "a", paused: bool = False
) -> Lack:
    return Lack(life, version, why, minute * MINUTE_MS, paused)


def complaints(lacked: list[Lack], told: list[Lack]) -> int:
    outside = Outside(())
    outside.lacked, outside.told_lacking = lacked, told
    return len(list(unloadable(outside)))


@clause("WSIM-16")
@pytest.mark.parametrize(
    ("lacked", "told"),
    [
        ([], []),
        ([lack(0)], []),
        ([lack(0), lack(10)], [lack(0)]),
        ([lack(0), lack(10, why="b")], [lack(0), lack(10, why="b")]),
        ([lack(0), lack(10, version=2)], [lack(0), lack(10, version=2)]),
        ([lack(0), lack(1, life="p2"), lack(11, life="p2")], [lack(0), lack(1, life="p2")]),
        ([lack(0), lack(60)], [lack(0), lack(60)]),
        ([lack(0, paused=True), lack(10, paused=True)], []),
    ],
)
def test_what_is_told_once_for_each_spell_is_right(lacked: list[Lack], told: list[Lack]) -> None:
    assert complaints(lacked, told) == 0


@clause("WSIM-16")
@pytest.mark.parametrize(
    ("lacked", "told"),
    [
        ([lack(0), lack(10)], []),
        ([lack(0), lack(10)], [lack(0), lack(10)]),
        ([], [lack(0)]),
        ([lack(0)], [lack(30)]),
        ([lack(0), lack(10)], [lack(0), lack(10, why="")]),
    ],
)
def test_what_is_told_too_often_or_never_or_for_no_reason_is_found(
    lacked: list[Lack], told: list[Lack]
) -> None:
    assert complaints(lacked, told) == 1
