"""
What parent and worker say to each other: one JSON object per line, one reply per ask.

The parent asks for a cell by name; the worker times it, or says what it found, or why it cannot. A
line that is none of the forms below is a `ProtocolError`: the two sides come from one tree, so it
is a bug.
"""

import json
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "Absent",
    "Answer",
    "Answers",
    "Ask",
    "Failed",
    "Greeting",
    "ProtocolError",
    "Reply",
    "Timed",
    "Wish",
    "decode_ask",
    "decode_greeting",
    "decode_reply",
    "encode_ask",
    "encode_greeting",
    "encode_reply",
]

Answer = int | None


class ProtocolError(Exception):
    """A line that the other side should never have written."""


class Wish(StrEnum):
    TIME = "time"
    ANSWERS = "answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Run one cell: for at least `seconds` when it is timed, once when its answers are wanted."""

    wish: Wish
    cell: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """The worker's first line: it is ready, and these distributions are what it measures."""

    versions: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Nanoseconds per operation, as a mean over `operations`; `facts` are measured beside it."""

    ns: float
    operations: int
    facts: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the cell's operations found, so that engines can be compared on their results too."""

    values: list[Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """The engine has no such operation. That is a property of the engine, not an error."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The engine should have done it and did not."""

    reason: str


Reply = Timed | Answers | Absent | Failed


def encode_ask(ask: Ask) -> str:
    return _line({"wish": ask.wish, "cell": ask.cell, "seconds": ask.seconds})


def decode_ask(line: str) -> Ask:
    match _object(line):
        case {"wish": str(wish), "cell": str(cell), "seconds": float(seconds) | int(seconds)}:
            return Ask(wish=Wish(wish), cell=cell, seconds=seconds)
        case other:
            raise ProtocolError(f"not an ask: {other!r}")


def encode_greeting(greeting: Greeting) -> str:
    return _line({"ready": greeting.versions})


def decode_greeting(line: str) -> Greeting:
    match _object(line):
        case {"ready": dict(versions)}:
            return Greeting(versions={str(name): str(text) for name, text in versions.items()})
        case other:
            raise ProtocolError(f"not a greeting: {other!r}")


def encode_reply(reply: Reply) -> str:
    match reply:
        case Timed():
            timed = {"ns": reply.ns, "operations": reply.operations, "facts": reply.facts}
            return _line({"timed": timed})
        case Answers():
            return _line({"answers": reply.values})
        case Absent():
            return _line({"absent": reply.reason})
        case Failed():
            return _line({"failed": reply.reason})


def decode_reply(line: str) -> Reply:
    match _object(line):
        case {"timed": {"ns": float(ns) | int(ns), "operations": int(n), "facts": dict(facts)}}:
            measured = {str(name): float(value) for name, value in facts.items()}
            return Timed(ns=float(ns), operations=n, facts=measured)
        case {"answers": list(values)}:
            return Answers(values=[None if value is None else int(value) for value in values])
        case {"absent": str(reason)}:
            return Absent(reason=reason)
        case {"failed": str(reason)}:
            return Failed(reason=reason)
        case other:
            raise ProtocolError(f"not a reply: {other!r}")


def _line(value: object) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


def _object(line: str) -> object:
    try:
        value: object = json.loads(line)
    except ValueError as error:
        raise ProtocolError(f"not JSON: {line!r}") from error
    return value
