"""Every story of four steps with one task, and of three with two, keeps the axioms."""

import logging
from collections.abc import Iterator
from unittest.mock import patch

import pytest

from gnomon.apps.declarative import task
from gnomon.apps.declarative.log import LOGGER
from gnomon.simulation.declarative.search import Act, play, stories
from tests.clauses import clause

PLAIN = [act for act in Act if act is not Act.CLOCK]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    level = LOGGER.level
    LOGGER.setLevel(logging.CRITICAL + 1)
    yield
    LOGGER.setLevel(level)


@clause("SIM-18")
@pytest.mark.parametrize("first", PLAIN)
def test_every_story_of_four_steps_with_one_task_keeps_the_axioms(first: Act) -> None:
    broken = {
        "".join((first, *rest)): complaints
        for rest in stories(3, PLAIN)
        if (complaints := play((first, *rest), tasks=1))
    }

    assert broken == {}


@clause("SIM-18")
def test_every_story_of_three_steps_with_two_tasks_keeps_the_axioms() -> None:
    broken = {"".join(story) for story in stories(3, PLAIN) if play(story, tasks=2)}

    assert broken == set()


@clause("SIM-18", "CLOCK-4")
@pytest.mark.parametrize("tasks", [1, 2])
def test_every_story_of_three_steps_with_a_clock_that_is_set_keeps_the_axioms(tasks: int) -> None:
    told = [story for story in stories(3) if Act.CLOCK in story]

    assert {"".join(story) for story in told if play(story, tasks=tasks)} == set()


@clause("SIM-18")
def test_a_story_shows_a_mistake() -> None:
    with patch.object(task, "RETRY_MIN_MS", 29_000):
        broken = {"".join(story) for story in stories(2, PLAIN) if play(story, tasks=1)}

    assert broken == {"fw"}
