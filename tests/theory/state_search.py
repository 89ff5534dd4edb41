"""
Is the theory free of conflicts? Walk through every state that it can tell apart.

A second reading of the definitions, one step at a time: what a task with one or two configurations
remembers, and how each event changes it. `search` goes breadth first through all states of one or
two tasks from an empty past, so that what it finds is found by a shortest trace. A conflict is a
state in which the axioms ask for the impossible: a start that is owed and whose success is
forbidden, or an obligation that should be there and is not.

Nothing is shared with `gnomon.theory`; `test_state_search` compares the two on random walks.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import NamedTuple

__all__ = [
    "EMPTY",
    "SEARCHES",
    "Found",
    "Move",
    "Name",
    "Search",
    "World",
    "moves",
    "owed",
    "search",
    "step",
]

Move = tuple[str, ...]
"""What happens: a word, then whom it concerns."""


class Task(NamedTuple):
    """What is remembered of one configuration."""

    due: bool = False
    retry: bool = False
    boot: bool = False
    mountain: bool = False
    failed: bool = False  # a retry is to come
    succeeded: bool = False  # since the last boundary
    trying: bool = False  # a run of this period is on its way
    doomed: bool = False  # and its success would be one too many


class Name(NamedTuple):
    """What is remembered of one name."""

    tasks: tuple[Task, ...]
    registered: int = -1
    running: int = -1
    orphaned: bool = False


class World(NamedTuple):
    names: tuple[Name, ...]
    up: bool = False
    stopping: bool = False
    active: bool = False


EMPTY = World(names=(Name(tasks=(Task(),)),))


class Search(NamedTuple):
    """So many configurations for each task, and whether a new list is applied in place."""

    configurations: tuple[int, ...]
    reconcile: bool


SEARCHES = [
    Search((2, 1), False),
    Search((1,), False),
    Search((1,), True),
    Search((2,), False),
    Search((2,), True),
    Search((1, 1), False),
    Search((1, 1), True),
]
"""What is searched; the first one takes half a minute and is left to the proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How large the search was, and the shortest trace to each kind of conflict."""

    states: int
    transitions: int
    conflicts: dict[str, tuple[Move, ...]]


def search(
    configurations: tuple[int, ...], *, reconcile: bool = False, orphan_is_boundary: bool = True
) -> Found:
    """Every state of tasks with so many configurations each."""
    start = World(names=tuple(Name(tasks=(Task(),) * count) for count in configurations))
    came_from: dict[World, tuple[World, Move] | None] = {start: None}
    open_worlds, transitions = deque([start]), 0
    conflicts: dict[str, tuple[Move, ...]] = {}
    while open_worlds:
        world = open_worlds.popleft()
        for conflict in _conflicts(world):
            conflicts.setdefault(conflict, tuple(_path(world, came_from)))
        for move in moves(world, reconcile=reconcile):
            transitions += 1
            after = step(world, move, orphan_is_boundary)
            if after not in came_from:
                came_from[after] = (world, move)
                open_worlds.append(after)
    return Found(states=len(came_from), transitions=transitions, conflicts=conflicts)


def moves(world: World, *, reconcile: bool) -> Iterator[Move]:
    """What may happen next, if scheduler and surroundings keep to the axioms."""
    numbers = range(len(world.names))
    yield ("Crash",)
    for due in product(*(_subsets(len(name.tasks)) for name in world.names)):
        yield ("Minute", *due)
    if not world.up or (reconcile and not world.stopping):
        for listed in product(*(range(-1, len(name.tasks)) for name in world.names)):
            yield ("Init", *map(str, listed))
    if world.up and not world.stopping:
        yield ("StopStart",)
    if world.stopping and all(name.running < 0 for name in world.names):
        yield ("StopEnd",)
    for number in numbers:
        name = world.names[number]
        if owed(world, number):
            yield "RunStart", str(number)
        if name.running >= 0:
            yield "RunSuccess", str(number)
            yield "RunFailure", str(number)
        if name.registered >= 0 and name.tasks[name.registered].failed:
            yield "RetryDue", str(number)


def owed(world: World, number: int) -> bool:
    """Whether a start of the task is an obligation."""
    name = world.names[number]
    if not world.active or name.registered < 0 or name.running >= 0:
        return False
    task = name.tasks[name.registered]
    return task.due or task.retry or task.boot or name.orphaned


def step(world: World, move: Move, orphan_is_boundary: bool = True) -> World:
    """The world after a move."""
    match move:
        case ("Crash",):
            names = tuple(_crashed(name, orphan_is_boundary) for name in world.names)
            return World(names=names)
        case ("Minute", *due):
            names = tuple(_minute(*pair) for pair in zip(world.names, due, strict=True))
            return world._replace(names=names)
        case ("Init", *listed):
            pairs = zip(world.names, map(int, listed), strict=True)
            names = tuple(_registered(name, now) for name, now in pairs)
            return world._replace(names=names, up=True, active=not world.stopping)
        case ("StopStart",):
            return world._replace(stopping=True, active=False)
        case ("StopEnd",):
            return world._replace(stopping=False, active=False, up=False)
        case (word, number):
            names = tuple(
                _acted(name, word) if index == int(number) else name
                for index, name in enumerate(world.names)
            )
            return world._replace(names=names)
    raise AssertionError(move)


def _acted(name: Name, word: str) -> Name:
    match word:
        case "RunStart":
            task = name.tasks[name.registered]
            started = task._replace(
                due=False, retry=False, boot=False, failed=False, trying=True,
                doomed=task.doomed or task.succeeded or task.trying,
            )  # fmt: skip
            name = name._replace(running=name.registered, orphaned=False)
            return _with(name, name.registered, started)
        case "RunSuccess":
            task = name.tasks[name.running]
            ended = task._replace(
                succeeded=task.succeeded or task.trying, trying=False, doomed=False
            )
            return _with(name, name.running, ended)._replace(running=-1)
        case "RunFailure":
            ended = name.tasks[name.running]._replace(failed=True, trying=False, doomed=False)
            return _with(name, name.running, ended)._replace(running=-1)
        case "RetryDue":
            due = name.tasks[name.registered]._replace(retry=True)
            return _with(name, name.registered, due)
    raise AssertionError(word)


def _minute(name: Name, due: str) -> Name:
    """A minute begins, and these configurations are due in it."""
    for index, task in enumerate(name.tasks):
        task = task._replace(mountain=False)
        if str(index) in due:
            task = task._replace(mountain=True, due=True, succeeded=False, trying=False)
        name = _with(name, index, task)
    return name


def _crashed(name: Name, orphan_is_boundary: bool) -> Name:
    tasks = tuple(task._replace(trying=False, doomed=False) for task in name.tasks)
    if name.running >= 0 and orphan_is_boundary:
        tasks = tuple(task._replace(succeeded=False) for task in tasks)
    orphaned = name.orphaned or name.running >= 0
    return name._replace(tasks=tasks, running=-1, orphaned=orphaned)


def _registered(name: Name, now: int) -> Name:
    if now == name.registered:
        return name
    if now < 0:
        return name._replace(registered=-1)
    orphaned = name.orphaned and name.registered >= 0  # a name that comes anew owes nothing
    task = name.tasks[now]
    came = task._replace(due=False, retry=False, failed=False, boot=task.mountain)
    if task.mountain:
        came = came._replace(succeeded=False, trying=False)
    return _with(name._replace(registered=now, orphaned=orphaned), now, came)


def _with(name: Name, index: int, task: Task) -> Name:
    tasks = list(name.tasks)
    tasks[index] = task
    return name._replace(tasks=tuple(tasks))


def _conflicts(world: World) -> Iterator[str]:
    if world.active and not world.up:
        yield "active after the stop"
    for number, name in enumerate(world.names):
        if owed(world, number):
            started = step(world, ("RunStart", str(number)))
            ran = started.names[number]
            if ran.tasks[ran.running].doomed:
                yield "an owed start whose success breaks S2"
            if not owed(step(world, ("Minute", *("" for _ in world.names))), number):
                yield "an obligation that lapses by itself"
        if world.up or name.registered < 0:
            continue
        for now in range(len(name.tasks)):
            listed = ["-1"] * len(world.names)
            listed[number] = str(now)
            again = step(world, ("Init", *listed))
            if name.orphaned and not owed(again, number):
                yield "an interrupted run that is not owed after the restart"
            if now == name.registered and name.tasks[now].due and not owed(again, number):
                yield "a due missed while down that is not owed after the restart"


def _path(world: World, came_from: dict[World, tuple[World, Move] | None]) -> Iterator[Move]:
    path = []
    while (before := came_from[world]) is not None:
        world, move = before
        path.append(move)
    return reversed(path)


def _subsets(count: int) -> list[str]:
    numbers = [str(number) for number in range(count)]
    sizes = range(count + 1)
    return ["".join(one) for one in chain(*(combinations(numbers, size) for size in sizes))]
