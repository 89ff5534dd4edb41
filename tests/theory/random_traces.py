"""
Random traces: some wild, some by a scheduler that is mostly right and sometimes not.

Wild ones break everything at once and find what no person thought of; the mostly right ones get
far enough to break a single axiom late. A seed decides a trace.
"""

import random
from collections.abc import Callable
from typing import NamedTuple

from gnomon.trace import Event, Kind, Registration, Witnesses
from tests.theory.story import CRONS

__all__ = ["RandomTrace", "random_trace"]

_A, _A2 = Registration("a", CRONS[""], 5), Registration("a", CRONS["2"], 5)
_B, _YEAR = Registration("b", CRONS[""], 0), Registration("c", CRONS["year"], 3)
_LISTS = [(), (_A,), (_A2,), (_A, _B), (_B,), (_B, _A)]
_ODD_LISTS = [*_LISTS, (_A, _A2), (_YEAR,)]

_WILD = (
    [Kind.INIT_START] * 2 + [Kind.INIT_SUCCESS] * 2 + [Kind.INIT_FAILURE] + [Kind.RUN_START] * 5
    + [Kind.STOP_START, Kind.STOP_END] + [Kind.RUN_SUCCESS] * 3 + [Kind.RUN_FAILURE] * 2
    + [Kind.CRASH] * 2 + [Kind.MINUTE_START] + [Kind.DUE] * 5 + [Kind.RETRY_DUE] * 2 + [Kind.FAULT]
)  # fmt: skip


class RandomTrace(NamedTuple):
    events: list[Event]
    witnesses: Witnesses
    is_metered: bool


def random_trace(seed: int) -> RandomTrace:
    """The trace of that seed; every other one is wild."""
    dice = random.Random(seed)
    is_metered = dice.random() < 0.5
    teller = _Wild(dice, is_metered) if seed % 2 else _MostlyRight(dice, is_metered)
    for _ in range(dice.randrange(1, 40 if seed % 2 else 24)):
        teller.step()
    witnesses = Witnesses(
        dice.choice([0, 0.01]), dice.choice([0, 2, 5]), dice.choice([0, 1, 3, 10, 30])
    )
    return RandomTrace(teller.events, witnesses, is_metered)


class _Wild:
    def __init__(self, dice: random.Random, is_metered: bool) -> None:
        self.events: list[Event] = []
        self._dice = dice
        self._t = 0
        self._is_metered = is_metered

    def step(self) -> None:
        kinds = _WILD + [Kind.COMPUTE] * 8 if self._is_metered else _WILD
        self._t += self._dice.choice([0, 0, 1, 1, 2, 5, 9])
        same = self._dice.random() < 0.1
        self.events.append(self._event(self._dice.choice(kinds))._replace(same=same))

    def _event(self, kind: Kind) -> Event:
        dice, event = self._dice, Event(kind, self._t)
        name, call = dice.choice("aab"), dice.choice([1, 1, 1, 2])
        match kind:
            case Kind.RUN_START | Kind.RUN_SUCCESS | Kind.RUN_FAILURE | Kind.RETRY_DUE:
                return event._replace(task=name)
            case Kind.DUE:
                return event._replace(task=name, cron=dice.choice(["", "", CRONS[""], CRONS["2"]]))
            case Kind.INIT_START:
                listed, valid = (
                    dice.choice(_ODD_LISTS),
                    dice.choice([None, None, None, False, True]),
                )
                return event._replace(call=call, registrations=listed, valid=valid)
            case Kind.COMPUTE:
                return event._replace(n=dice.randrange(1, 4))
            case Kind.FAULT:
                return event._replace(fault="store")
            case Kind.CRASH | Kind.MINUTE_START:
                return event
            case _:
                return event._replace(call=call)


class _MostlyRight(_Wild):
    """Knows what goes on, and nine times out of ten does something sensible."""

    def __init__(self, dice: random.Random, is_metered: bool) -> None:
        super().__init__(dice, is_metered)
        self._is_up = False
        self._listed: tuple[Registration, ...] = ()
        self._owed: set[str] = set()
        self._running: set[str] = set()
        self._call = 1

    def step(self) -> None:
        if self._dice.random() < 0.06:
            super().step()
            return
        self._t += self._dice.choice([0, 1, 1, 2, 4])
        if self._is_metered:
            self.events.append(Event(Kind.COMPUTE, self._t, n=self._dice.randrange(1, 3)))
        self._dice.choice(self._choices())()

    def _choices(self) -> list[Callable[[], None]]:
        if not self._is_up:
            return [self._initialize, self._initialize, self._due]
        choices = [self._due, self._due, self._due]
        choices += [self._start] * (3 if self._owed - self._running else 0)
        choices += [self._end] * (3 if self._running else 0)
        return [*choices, self._crash if self._dice.random() < 0.5 else self._stop]

    def _say(self, kind: Kind, task: str = "", call: int = 0) -> None:
        self.events.append(Event(kind, self._t, task, call))

    def _initialize(self) -> None:
        self._call = 3 - self._call
        before = {one.name for one in self._listed}
        self._listed = self._dice.choice(_LISTS[1:])
        begin = Event(Kind.INIT_START, self._t, call=self._call, registrations=self._listed)
        self.events.append(begin)
        if self._is_metered:
            self.events.append(Event(Kind.COMPUTE, self._t, n=1))
        self._say(Kind.INIT_SUCCESS, call=self._call)
        self._owed &= before & {one.name for one in self._listed}
        self._is_up = True

    def _due(self) -> None:
        self._say(Kind.MINUTE_START)
        for one in self._listed or (_A,):
            if self._dice.random() < 0.6:
                self.events.append(Event(Kind.DUE, self._t, one.name, cron=one.cron))
                self._owed.add(one.name)

    def _start(self) -> None:
        ready = sorted(self._owed - self._running)
        name = self._dice.choice(ready)
        self._owed.discard(name)
        self._running.add(name)
        self._say(Kind.RUN_START, name)

    def _end(self) -> None:
        name = self._dice.choice(sorted(self._running))
        self._running.discard(name)
        if self._dice.random() < 0.6:
            self._say(Kind.RUN_SUCCESS, name)
        else:
            self._say(Kind.RUN_FAILURE, name)
            self._t += 5
            self._say(Kind.RETRY_DUE, name)
            self._owed.add(name)

    def _crash(self) -> None:
        self._say(Kind.CRASH)
        self._owed |= self._running
        self._running.clear()
        self._is_up = False

    def _stop(self) -> None:
        self._call = 3 - self._call
        self._say(Kind.STOP_START, call=self._call)
        while self._running:
            if self._is_metered:
                self.events.append(Event(Kind.COMPUTE, self._t, n=1))
            self._end()
        if self._is_metered:
            self.events.append(Event(Kind.COMPUTE, self._t, n=1))
        self._say(Kind.STOP_END, call=self._call)
        self._is_up = False
