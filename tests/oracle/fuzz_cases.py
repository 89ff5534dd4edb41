"""
Which texts that no person would write is the parser given, and what must it do with them?

`texts(seed, chunk, count)` is a pure function: valid expressions with a few characters changed,
soups of cron tokens, raw Unicode, and very long texts. For each text the parser must either give
an expression or raise a `DefinitionError` that names a field, a position and a reason; it must
decide as the plain reading does; and it must take a number of steps bounded by the text's length.
Steps are executed lines, counted by a trace function, so that no clock is involved.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random
from types import FrameType

from gnomon import cron
from gnomon.errors import DefinitionError, InvalidCronExpressionError
from tests.oracle.minute_scan import next_scan
from tests.oracle.random_cases import posix_text, standard_text
from tests.oracle.reading import Unreadable, read

__all__ = ["HOSTILE", "complaint", "steps_max", "steps_of", "texts"]

_CRONISH = "0123456789*/,-?LW#@ \tlwabcjmnsu+._:;%~()[]{}<>=!'\"\\|&^$`"
# Digits, spaces and letters that are not ASCII, though Python's `isdigit`, `split` and `upper`
# take some of them for it.
_ODD = (
    "\u0660\u0661\u00b2\u2160\uff11\u00a0\u2003\u200b\u0301\n\r\v\f\0"
    "\x1c\x85\u2028\ufeff\U0001d7d8\u0130\u017f\u212a"
)
_TOKENS = (
    "*", "*/5", "0", "59", "60", "23", "24", "31", "32", "12", "13", "7", "8", "1-5", "5-1",
    "L", "LW", "15W", "1W", "W", "32W", "5#3", "5#6", "#", "5L", "MON", "mon-fri", "JAN", "Foo",
    "?", "/", "-", ",", "@daily", "@hourly", "@reboot", "@", "1,2,,3", "1-", "-1", "1/2", "*/0",
    "*/-1", "0x1", "1e1", "+1", "1_0", "00", "007", "99999999999999999999", "1.5", "0-59/7",
    "*-5", "*,1", "1-2-3", "L-3", "LL", "7#1", "7/1", "5/2", "SAT/1", "*/5,7", "jan/2",
)  # fmt: skip
HOSTILE = (
    "", " ", "\t" * 1024, "," * 1024, "*" * 1024, "-" * 1024, "/" * 1024, "9" * 1024, "0" * 1024,
    "L" * 1024, "#" * 1024, "@" * 1024, " *" * 512, "* " * 512, "0," * 512, "1-2," * 256,
    "0-59," * 200 + "0 * * * *", "0-59/1," * 140 + "0 * * * *", "*/1," * 250 + "1 0 * * *",
    "0 0 " + "1W," * 330 + "LW * *", "0 0 " + "L," * 500 + "L * *",
    "0 0 * * " + "1#1," * 250 + "0L",
    "0 0 * " + "JAN-DEC," * 120 + "FEB *", "0 0 * * " + "SUN-SAT," * 120 + "SUN",
    "0" * 1000 + "5 * * * *", "0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 31W 2,4,6,9,11 *",
    "\u0660" * 1024, "\0" * 1024, "\U0001f570" * 1024, "JAN" * 341, "0 0 * * MON#" + "1" * 1000,
    "(" * 1024, "0-" * 512, "1/" * 512, "*/" * 512, "a" * 1024, "0 0 1 1 * " + " " * 1014,
)  # fmt: skip

# The base is what it takes to see that no date of any year matches; see `0 0 31W 2,4,6,9,11 *`.
_STEPS_BASE = 10_000
_STEPS_PER_CHARACTER = 20
_TEXT_MAX = 1024
_AT = 1_772_323_200  # 2026-03-01T00:00:00Z, a Sunday: where accepted texts are asked for the next


def texts(seed: int, chunk: int, count: int) -> Iterator[tuple[str, str]]:
    """`count` pairs of text and dialect."""
    random = Random(f"fuzz:{seed}:{chunk}")
    for _ in range(count):
        yield _text(random), random.choice(["posix", "standard", "vixie"])


def complaint(text: str, dialect: str) -> str | None:
    """What is wrong with the parser's handling of this text; None if nothing is."""
    try:
        read(text, dialect)
        readable = True
    except Unreadable:
        readable = False
    try:
        answer = cron(text, dialect=dialect).next_epoch(_AT)
    except InvalidCronExpressionError as error:
        return "rejects a readable text" if readable else _flaw(error, text)
    except DefinitionError:
        return "rejects a readable text" if readable else None
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    if not readable:
        return "accepts an unreadable text"
    expected = next_scan(text, dialect=dialect, zone="UTC", dst="civil", after=_AT)
    return None if answer == expected else f"reads it differently: {answer}, not {expected}"


def steps_max(text: str) -> int:
    """The bound: linear in the length, and constant beyond the longest text allowed."""
    return _STEPS_BASE + _STEPS_PER_CHARACTER * min(len(text), _TEXT_MAX)


def steps_of(text: str, dialect: str) -> int:
    """How many lines of Python run while the text is parsed, accepted or not."""

    def parse() -> None:
        with suppress(DefinitionError):
            cron(text, dialect=dialect)

    return _lines_run(parse)


def _lines_run(act: Callable[[], None]) -> int:
    lines = 0

    def count(frame: FrameType, event: str, argument: object) -> object:
        nonlocal lines
        lines += event == "line"
        return count

    outer = sys.gettrace()
    sys.settrace(count)  # type: ignore[arg-type]
    try:
        act()
    finally:
        sys.settrace(outer)
    return lines


def _flaw(error: InvalidCronExpressionError, text: str) -> str | None:
    if error.expression != text:
        return "the error quotes another expression"
    if not 0 <= error.position <= len(text):
        return f"the error's position {error.position} lies outside the text"
    if not (error.field and error.reason and error.hint):
        return "the error lacks field, reason or hint"
    return None


def _text(random: Random) -> str:
    roll = random.random()
    if roll < 0.6:
        valid = posix_text(random) if random.random() < 0.5 else standard_text(random)
        return _mutated(random, valid)
    if roll < 0.85:
        return _soup(random)
    if roll < 0.97:
        return "".join(_any_character(random) for _ in range(random.randrange(40)))
    return _long(random)


def _mutated(random: Random, text: str) -> str:
    for _ in range(random.choice([0, 1, 1, 1, 2, 3, 6])):
        at = random.randrange(len(text) + 1)
        cut = random.choice([0, 0, 1, 1, 2])
        new = random.choice(["", _any_character(random), random.choice(_TOKENS), text[at : at + 3]])
        text = text[:at] + new + text[at + cut :]
    return text


def _soup(random: Random) -> str:
    glue = random.choice([" ", " ", " ", "\t", "  ", ",", "-", "/", "\u00a0", "\n"])
    return glue.join(random.choice(_TOKENS) for _ in range(random.choice([1, 4, 5, 5, 5, 6, 6, 7])))


def _long(random: Random) -> str:
    unit = random.choice([*_TOKENS, *_CRONISH])
    text: str = (unit + random.choice([",", " ", "-", ""])) * random.randrange(1, 300)
    return text[: random.choice([1023, 1024, 1025, 3000])]


def _any_character(random: Random) -> str:
    roll = random.random()
    if roll < 0.8:
        return random.choice(_CRONISH)
    return random.choice(_ODD) if roll < 0.95 else chr(random.randrange(1, 0xD800))
