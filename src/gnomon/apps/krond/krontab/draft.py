"""
Drafts: a job as pieces of text by name, before a reader has asked what they mean.

A piece is a part of a file with the place where it stands. A value in double quotes may hold
blanks; inside, `\"` is a quote and `\\` a backslash, and a backslash before anything else stands
for itself. Lists inside a piece are split where a separator stands outside quotes, and each part
knows its own column.

Both forms of a file, lines and YAML, have the same names: modifiers say when, fields say what. In a
line a modifier is written `@win(after,2h)` and a field `user=backup`. The defaults of a file are a
draft too, and the drafts of jobs take from it what they do not say themselves.

Spec: KRONTAB-6, KRONTAB-46, KRONTAB-48, KRONTAB-49.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NamedTuple

from gnomon.errors import DefinitionError

__all__ = [
    "AT_BOOT",
    "DEFAULTS",
    "FIELDS",
    "MODIFIERS",
    "NOT_AT_BOOT",
    "OF_ONE_JOB",
    "SCHEDULE",
    "SEPARATORS",
    "Draft",
    "Piece",
    "closing_quote",
    "quote",
    "split",
    "unknown",
    "unquote",
]

SCHEDULE = "schedule"
"""The name of what stands first: the cron expression."""

DEFAULTS = "defaults"
"""The name of what holds for all jobs of a file."""

OF_ONE_JOB = ("name", SCHEDULE, "command", "ping", "description")
"""What no two jobs have in common."""

SEPARATORS = {
    "tz": "", "dst": "", "dialect": "", "win": ",", "dist": ",", "seed": ",", "policy": ",",
    "only": ";", "avoid": ";",
}  # fmt: skip
"""What stands between the parts of a modifier; nothing when it has one."""

MODIFIERS = tuple(SEPARATORS)
AT_BOOT = "@reboot"
"""The schedule of what runs when the machine has been booted."""

NOT_AT_BOOT = ("dst", "dialect", "win", "dist", "seed", "only", "avoid")
"""The modifiers that say something about a time, which a boot has not."""

FIELDS = (
    "name", "command", "shell", "user", "group", "cwd", "umask", "timeout", "grace", "stdout",
    "stderr", "env", "mail", "webhook", "ping", "notify", "description",
)  # fmt: skip

_IN_PARTS = ("env", "policy")
"""What a job takes from the defaults key by key; of everything else it takes the whole."""

_BLANKS = " \t"
_PLAIN = re.compile(r'[^\s"\\,;()]+')
_ESCAPE = re.compile(r"\\([\"\\])")


class Piece(NamedTuple):
    """A part of a file."""

    text: str
    line: int
    """From 1."""
    column: int
    """Where its first character stands, from 1."""
    is_word: bool = False
    """Whether it is one word, whatever stands in it; a command that is none is split."""

    def part(self, start: int, end: int | None = None) -> "Piece":
        """From an offset to another, without the blanks around it."""
        text = self.text[start:end]
        if text.strip(_BLANKS) == text:
            return Piece(text, self.line, self.column + start)
        short = text.lstrip(_BLANKS)
        return Piece(short.rstrip(_BLANKS), self.line, self.column + start + len(text) - len(short))

    def halves(self, separator: str) -> "tuple[Piece, Piece | None]":
        """What is before and after a separator; None when there is none."""
        at = self.text.find(separator)
        if at < 0:
            return self.part(0), None
        return self.part(0, at), self.part(at + len(separator))


@dataclass(slots=True, kw_only=True)
class Draft:
    """One job, as it was written."""

    start: Piece
    """Where the job begins."""
    before: int
    """How many problems had been found when it began."""
    last_line: int
    indent: int
    """How many blanks stand before it; in YAML, before the hyphen."""
    sigil: str
    """What modifiers begin with: `@` in a line, nothing in YAML."""
    pieces: dict[str, tuple[Piece, ...]] = field(default_factory=dict)
    """Modifiers in parts, `env` as often as it stands there, everything else as one piece."""
    whole: bool = True
    """Whether the end of it was found, so that what is missing is missing."""
    is_defaults: bool = False
    """Whether it is no job, and says what holds for all jobs of the file."""

    def first(self, name: str) -> Piece | None:
        found = self.pieces.get(name, ())
        return found[0] if found else None

    @property
    def at_boot(self) -> bool:
        """Whether it runs at boot, and not at times."""
        schedule = self.first(SCHEDULE)
        return schedule is not None and schedule.text.strip().lower() == AT_BOOT

    def label(self, name: str) -> str:
        """What the author calls it."""
        return f"{self.sigil}{name}" if name in SEPARATORS else name

    def inherit(self, defaults: Mapping[str, tuple[Piece, ...]]) -> None:
        """Take what it does not say itself, and can have; an empty value takes nothing."""
        at_boot = self.at_boot
        for name, usual in defaults.items():
            if at_boot and name in NOT_AT_BOOT and name not in self.pieces:
                continue
            own = self.pieces.get(name, usual)
            if own and not own[0].text and (name == "env" or len(own) == 1):
                own = own[1:]
            elif name in _IN_PARTS and own is not usual:
                said = set(map(_key, own))
                own = (*(piece for piece in usual if _key(piece) not in said), *own)
            self.pieces[name] = own
            if not own:
                del self.pieces[name]


def unknown(name: str, *, sigil: str = "", among: Sequence[str]) -> str:
    """What to write instead of a name that is not known."""
    close = get_close_matches(name[:64].lower(), among, n=1)
    if close:
        return f"did you mean {sigil}{close[0]}?"
    return f"write one of {', '.join(sigil + one for one in among)}"


def split(piece: Piece, separator: str) -> Iterator[Piece]:
    """The parts between separators that stand outside quotes."""
    if separator not in piece.text:
        yield piece.part(0)
        return
    start = at = 0
    while at < len(piece.text):
        if piece.text[at] == '"':
            close = closing_quote(piece.text, at)
            at = len(piece.text) if close is None else close
        elif piece.text[at] == separator:
            yield piece.part(start, at)
            start = at + 1
        at += 1
    yield piece.part(start)


def closing_quote(text: str, opening: int) -> int | None:
    """Where the quote that opens at an offset is closed."""
    at = opening + 1
    while at < len(text):
        if text[at] == '"':
            return at
        at += 2 if text[at] == "\\" else 1
    return None


def unquote(text: str) -> str:
    """A value without its quotes, if it has any; it has them around the whole or not at all."""
    if not text.startswith('"'):
        if '"' in text:
            raise DefinitionError(
                "has a quote inside", where="value", got=text,
                hint=f"put the whole value in quotes: {quote(text)}",
            )  # fmt: skip
        return text
    close = closing_quote(text, 0)
    if close != len(text) - 1:
        reason = "has a quote that is not closed" if close is None else "goes on after the quote"
        raise DefinitionError(
            reason, where="value", got=text, hint='write "..." around the whole value'
        )
    return _ESCAPE.sub(r"\1", text[1:-1])


def quote(text: str) -> str:
    """The value as it can stand in a line: in quotes when it needs them."""
    if _PLAIN.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _key(piece: Piece) -> str:
    return piece.text.partition("=")[0].strip()
