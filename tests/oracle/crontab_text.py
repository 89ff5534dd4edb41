"""
What does a crontab say, read character by character as the source of ISC cron reads it?

A line is a setting, a comment, or an entry: five fields or a macro, in a system crontab a user, and
a command up to the first bare `%`, behind which stands its input. Nothing is shared with Gnomon.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

__all__ = ["Entry", "Refused", "entries"]

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_MACROS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *", "@reboot": "0 0 1 1 *",
}  # fmt: skip


class Refused(Exception):  # noqa: N818 - an answer of the judge
    """Cron does not take the line."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An entry, with the settings above it."""

    line: int
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    star: bool
    """Whether one of the day fields begins with a star."""
    user: str
    command: str
    stdin: str
    env: dict[str, str] = field(default_factory=dict)
    at_boot: bool = False
    """Whether it runs when cron first starts after a boot, and at no minute."""

    def runs_on(self, on: date) -> bool:
        if self.at_boot or on.month not in self.months:
            return False
        in_month, in_week = on.day in self.days, on.isoweekday() % 7 in self.weekdays
        return (in_month and in_week) if self.star else (in_month or in_week)

    def times(self) -> list[int]:
        """The minutes of a day on which it runs."""
        return [
            hour * 60 + minute for hour in sorted(self.hours) for minute in sorted(self.minutes)
        ]


def entries(text: str, *, system: bool) -> Iterator[Entry | int]:
    """The entries of a crontab; for a line that cron refuses, its number."""
    env: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip(" \t")
        if not line or line[0] == "#":
            continue
        setting = _setting(line)
        if setting is not None:
            env[setting[0]] = setting[1]
            continue
        try:
            yield _entry(line, number, system, dict(env))
        except Refused:
            yield number


def _setting(line: str) -> tuple[str, str] | None:
    """A name, an equals sign and a value; each may stand in quotes."""
    name, at = _word(line, 0, "=")
    while at < len(line) and line[at] in " \t":
        at += 1
    if not name or at >= len(line) or line[at] != "=":
        return None
    value = line[at + 1 :].strip(" \t")
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return name, value


def _word(line: str, at: int, end: str) -> tuple[str, int]:
    if line[at] in "'\"":
        close = line.find(line[at], at + 1)
        return (line[at + 1 : close], close + 1) if close > 0 else ("", at)
    start = at
    while at < len(line) and line[at] not in f" \t{end}":
        at += 1
    return line[start:at], at


def _entry(line: str, number: int, system: bool, env: dict[str, str]) -> Entry:
    rest, macro = line[1:] if line[0] == "-" else line, ""
    if rest[0] == "@":
        macro, at = _word(rest, 0, "")
        if macro.lower() not in _MACROS:
            raise Refused
        words, rest = _MACROS[macro.lower()].split(), rest[at:]
    else:
        words = []
        for _ in range(5):
            rest = rest.lstrip(" \t")
            if not rest:
                raise Refused
            word, at = _word(f"{rest} ", 0, "")
            words.append(word)
            rest = rest[at:]
    rest, user = rest.lstrip(" \t"), ""
    if system and rest:
        user, at = _word(f"{rest} ", 0, "")
        rest = rest[at:].lstrip(" \t")
    if not rest:
        raise Refused
    minute, hour, day, month, weekday = words
    command, stdin = _command(rest)
    return Entry(
        line=number,
        minutes=_field(minute, 0, 59, []), hours=_field(hour, 0, 23, []),
        days=_field(day, 1, 31, []), months=_field(month, 1, 12, _MONTHS),
        weekdays=frozenset(one % 7 for one in _field(weekday, 0, 7, _DAYS)),
        star=day[0] == "*" or weekday[0] == "*",
        user=user, command=command, stdin=stdin, env=env, at_boot=macro.lower() == "@reboot",
    )  # fmt: skip


def _field(text: str, low: int, high: int, names: list[str]) -> frozenset[int]:
    found: set[int] = set()
    at = 0
    while True:
        if text[at : at + 1] == "*":
            first, last, at = low, high, at + 1
        else:
            first, at = _number(text, at, low, names)
            last = first
            if text[at : at + 1] == "-":
                last, at = _number(text, at + 1, low, names)
            elif text[at : at + 1] != ",":  # a single number: the rest of the field is passed over
                found.add(_checked(first, low, high))
                return frozenset(found)
        step = 1
        if text[at : at + 1] == "/":
            step, at = _number(text, at + 1, low, [])
            if not 0 < step <= high:
                raise Refused
        if first > last:
            raise Refused
        found |= {_checked(one, low, high) for one in range(first, last + 1, step)}
        if text[at : at + 1] != ",":
            return frozenset(found)
        at += 1


def _number(text: str, at: int, low: int, names: list[str]) -> tuple[int, int]:
    start = at
    while at < len(text) and (text[at].isascii() and text[at].isalnum()):
        at += 1
    word = text[start:at]
    if word.isdigit():
        return int(word), at
    if word.lower() in names:
        return names.index(word.lower()) + (low if names is _MONTHS else 0), at
    raise Refused


def _checked(value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise Refused
    return value


def _command(text: str) -> tuple[str, str]:
    """The command, and its input."""
    command, at, escaped = "", 0, False
    while at < len(text):
        character = text[at]
        if escaped:
            command = command[:-1] + character if character == "%" else command + character
            escaped = False
        elif character == "%":
            break
        else:
            command += character
            escaped = character == "\\"
        at += 1
    return command.strip(" \t"), _input(text[at + 1 :])


def _input(text: str) -> str:
    found, escaped = "", False
    for character in text:
        if escaped and character != "%":
            found += "\\"
        elif not escaped and character == "%":
            character = "\n"
        escaped = character == "\\"
        if not escaped:
            found += character
    found += "\\" if escaped else ""
    return found if not found or found.endswith("\n") else f"{found}\n"
