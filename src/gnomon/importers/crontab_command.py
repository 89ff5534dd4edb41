"""
What does a line of a crontab execute, and what is it called?

To cron `%` ends the command, and what stands behind it is its input, where `%` is the end of a
line; `\\%` is a percent sign. A job is called after its program, past what only prepares it, or
after the comment above it where that says nothing.

Spec: KRONTAB-28, KRONTAB-40.
"""

import re
import shlex
from itertools import chain, count
from typing import NamedTuple

__all__ = ["Executed", "is_cut", "name_of", "read_command"]

_WORD = re.compile(r"[a-z0-9]+")
_NAME_MAX = 60
_COMMENT_WORDS = 5
_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_ENDS = re.compile(r"&&|\|\||;|\||\n|&")
_PREPARING = (
    "test [ [[ cd set export umask ulimit sleep source . if then else elif fi true : ! { } ( )"
)
_WRAPPING = (
    "nice ionice nohup exec env sudo time timeout chronic flock setsid command cronic chrt su"
    " eval stdbuf cgexec runuser"
)
_READING = "sh bash dash ksh zsh php python python2 python3 perl ruby node java"
_PREPARES = frozenset(_PREPARING.split())
"""What stands before the program that a line is about, up to the next separator."""
_WRAPS = frozenset(_WRAPPING.split())
"""What starts another program that is named behind it."""
_READS = frozenset(_READING.split())
"""What runs a script, after which the job is called."""
_EVERYWHERE = "echo printf find date rm cp mv cat make curl wget job"
_SAYS_NOTHING = _READS | frozenset(_EVERYWHERE.split())
"""Programs that many lines start, so that their names say nothing."""


class Executed(NamedTuple):
    """What a line executes."""

    command: str
    percent: int = -1
    """Where the `%` stands that ended the command; -1 when none did."""
    body: str = ""
    """The command without its input."""


def read_command(text: str) -> Executed:
    """The command for a shell, with what cron hands to it as input."""
    body, end = _until_percent(text)
    if end < 0:
        return Executed(body.strip(), body=body.strip())
    lines = _input(text[end + 1 :])
    command = body.strip()
    if not lines:
        return Executed(command, end, command)
    words = " ".join(map(shlex.quote, lines))
    return Executed(f"printf '%s\\n' {words} | {{ {command}; }}", end, command)


def is_cut(command: str) -> bool:
    """Whether a command ends inside a quote or a parenthesis, or where something must follow."""
    open_, at = [""], 0
    while at < len(command):
        character, inside = command[at], open_[-1]
        if inside == "'":
            if character == "'":
                open_.pop()
        elif character == "\\":
            at += 1
        elif character == inside and inside:
            open_.pop()
        elif character in '"`' or (character == "'" and inside != '"'):
            open_.append(character)
        elif character == "(" and (inside != '"' or command[at - 1 : at] == "$"):
            open_.append(")")
        at += 1
    return len(open_) > 1 or command.rstrip().endswith(("|", "&&", "(", "{"))


def name_of(command: str, comment: str, names: set[str]) -> str:
    """A name that no other job has."""
    program, rest = _program(command)
    stem = _stem(program)
    above = "-".join(_WORD.findall(comment.lower())[:_COMMENT_WORDS])
    candidates = [stem, above] if stem and stem not in _SAYS_NOTHING else [above, stem]
    found = [one[:_NAME_MAX].strip("-") for one in candidates if one]
    if stem and rest:
        found.append(f"{stem}-{_stem(rest[0])}"[:_NAME_MAX].strip("-"))
    found = found or ["job"]
    numbered = (f"{found[0]}-{number}" for number in count(2))
    name = next(one for one in chain(found, numbered) if one not in names)
    names.add(name)
    return name


def _until_percent(text: str) -> tuple[str, int]:
    r"""The command with `\%` as `%`, and where a bare `%` ends it."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == "%":
            return "".join(parts), at
        if text[at] == "\\":
            pair = text[at : at + 2]
            parts.append("%" if pair == "\\%" else pair)
            at += 2
        else:
            parts.append(text[at])
            at += 1
    return "".join(parts), -1


def _input(text: str) -> list[str]:
    """The lines that stand behind the first `%`."""
    lines = re.sub(r"(?<!\\)%", "\n", text).replace("\\%", "%").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _program(command: str) -> tuple[str, list[str]]:
    """The program that a command is about, and its arguments that are no options."""
    first: tuple[str, list[str]] | None = None
    prepares = ""
    for part in _ENDS.split(command):
        words = [word.strip("\"'(){}") for word in part.split()]
        words = [word for word in words if word and word[0] not in "<>"]
        while words and (_SETTING.fullmatch(words[0]) or _base(words[0]) in _WRAPS):
            wraps = not _SETTING.fullmatch(words.pop(0))
            while wraps and words and _is_detail(words[0]):
                words.pop(0)
        if not words or words[0] in _PREPARES or _base(words[0]) in _PREPARES:
            prepares = prepares or (words[0] if words else "")
            continue
        plain = [word for word in words[1:] if not word.startswith(("-", "2>"))]
        if _base(words[0]) == "run-parts" and plain:
            return plain[-1], []
        if _base(words[0]) in _READS and plain:
            return plain[0], plain[1:]
        first = first or (words[0], plain)
    return first or (prepares, [])


def _is_detail(word: str) -> bool:
    """Whether a word belongs to what wraps a program: an option, a number, a lock, a user."""
    return word.startswith("-") or word[:1].isdigit() or word.endswith((".lock", ".pid"))


def _base(word: str) -> str:
    return word.rstrip("/").rpartition("/")[2]


def _stem(word: str) -> str:
    base = _base(word)
    stem, dot, _ = base.rpartition(".")
    is_directory = base in ("cron.hourly", "cron.daily", "cron.weekly", "cron.monthly")
    text = base if is_directory or not dot else stem
    return "-".join(_WORD.findall(text.lower()))
