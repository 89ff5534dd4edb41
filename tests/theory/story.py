"""
Traces told in words: `tell("init a", "minute", "due a", "start a", "ok a")`.

Each word is an event one millisecond after the one before; `wait 90s` lets time go by, and `&`
before a word puts it at the same instant as the word before. A task is named by a letter and has
the cron text `* * * * *`; `a:2` is the same name with another cron text and `a:year` one that ends.
"""

from gnomon.trace import Event, Kind, Registration

__all__ = ["CRONS", "task", "tell"]

CRONS = {"": "* * * * *", "2": "0 2 * * *", "year": "0 0 0 1 1 ? 2027"}
RETRY_MS = 5_000

_CALLS = {
    "accepts": Kind.INIT_SUCCESS,
    "refuses": Kind.INIT_FAILURE,
    "stops": Kind.STOP_START,
    "stopped": Kind.STOP_END,
}
_TASKS = {
    "start": Kind.RUN_START,
    "ok": Kind.RUN_SUCCESS,
    "fail": Kind.RUN_FAILURE,
    "retry": Kind.RETRY_DUE,
}
_PLAIN = {"crash": Kind.CRASH, "minute": Kind.MINUTE_START}
_UNITS = {"ms": 1, "s": 1_000, "m": 60_000}


def task(name: str) -> Registration:
    """`a`, `a:2` or `a:year` as it is registered."""
    letter, _, variant = name.partition(":")
    return Registration(letter, CRONS[variant], RETRY_MS)


def tell(*words: str) -> list[Event]:
    """The events that the words stand for."""
    teller = _Teller()
    for word in words:
        teller.say(word)
    return teller.events


class _Teller:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self._t = -1
        self._calls = 100

    def say(self, text: str) -> None:
        same = text.startswith("& ")
        word, *rest = text.removeprefix("& ").split()
        if word == "wait":
            number = rest[0].rstrip("ms")
            self._t += int(number) * _UNITS[rest[0].removeprefix(number)]
        elif word == "init":
            self._calls += 1
            self._add(self._asks(self._calls, rest))
            self._add(Event(Kind.INIT_SUCCESS, 0, call=self._calls))
        elif word == "stop":
            self._calls += 1
            self._add(Event(Kind.STOP_START, 0, call=self._calls))
            self._add(Event(Kind.STOP_END, 0, call=self._calls))
        else:
            self._add(self._event(word, rest), same=same)

    def _event(self, word: str, rest: list[str]) -> Event:
        if word == "asks":
            return self._asks(int(rest[0]), rest[1:])
        if word in _CALLS:
            return Event(_CALLS[word], 0, call=int(rest[0]))
        if word in _TASKS:
            return Event(_TASKS[word], 0, rest[0])
        if word == "due":
            name, colon, variant = rest[0].partition(":")
            return Event(Kind.DUE, 0, name, cron=CRONS[variant] if colon else "")
        if word == "compute":
            return Event(Kind.COMPUTE, 0, n=int(rest[0]))
        if word == "fault":
            return Event(Kind.FAULT, 0, fault=rest[0])
        return Event(_PLAIN[word], 0)

    def _asks(self, call: int, rest: list[str]) -> Event:
        listed = tuple(task(name) for name in rest if name != "invalid")
        valid = False if "invalid" in rest else None
        return Event(Kind.INIT_START, 0, call=call, registrations=listed, valid=valid)

    def _add(self, event: Event, *, same: bool = False) -> None:
        self._t += not same
        self.events.append(event._replace(t=self._t, same=same))
