"""A krontab file for tests: read, with its problems as lines that a person can check."""

from pathlib import Path
from typing import NamedTuple

from gnomon.apps.krond.job import Job
from gnomon.apps.krond.krontab import Krontab, read_krontab

FILE = "/etc/krond.d/site"


def read(text: str, *, file: str = FILE) -> Krontab:
    return read_krontab(text, file=file)


def job(line: str) -> Job:
    """The one job of a line that is all right."""
    krontab = read(line)
    assert krontab.problems == ()
    (found,) = krontab.jobs
    return found


def problems(text: str, *, file: str = FILE) -> list[str]:
    """`line:column: message` of each problem."""
    return [f"{one.line}:{one.column}: {one.message}" for one in read(text, file=file).problems]


class Mistake(NamedTuple):
    """A line that is wrong at one place, and what is said about it."""

    line: str
    column: int
    message: str
    hint: str

    def __str__(self) -> str:
        return self.message.partition(":")[0]


def mistakes(name: str) -> list[Mistake]:
    """The mistakes of a file: the line, a caret under the place with the message, the hint."""
    blocks = Path(__file__).with_name(name).read_text().rstrip("\n").split("\n\n")
    found = []
    for block in blocks[1:]:  # the first says what the file is
        line, caret, hint = block.split("\n")
        place, _, message = caret.partition("^ ")
        found.append(Mistake(line, len(place) + 1, message, hint.removeprefix("hint: ")))
    return found
