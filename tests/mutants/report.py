"""
The page of evidence about mutants: how many were drawn, and what became of each.

Written only for a draw from all modules, so that two pages can be compared.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.mutants.sites import Mutant
from tests.prove.page import Found, page, table
from tests.prove.runner import write_report

__all__ = ["Fate", "report"]

_SAID = [
    "Places of `core`, `shell/store` and `apps` were drawn.",
    "At each, one small thing was changed: a bound, a condition, a number, a call left out.",
    "The tests beside the module were asked, then those of its room.",
]


class Fate(NamedTuple):
    """What became of a mutant: `noticed`, `explained`, or `survived`, and why."""

    mutant: Mutant
    word: str
    why: str = ""


def report(path: Path, fates: Sequence[Fate], about: Found) -> None:
    """Write the page and the figures beside it; `about` says of which run."""
    words = Counter(fate.word for fate in fates)
    rooms = sorted({_room(fate) for fate in fates})
    found: Found = {
        **about,
        "drawn": len(fates),
        **{word: words[word] for word in ("noticed", "explained", "survived")},
        "rooms": {
            room: {
                "drawn": sum(_room(fate) == room for fate in fates),
                "noticed": sum(_room(fate) == room and fate.word == "noticed" for fate in fates),
            }
            for room in rooms
        },
        "lines": [
            f"{fate.word}{': ' if fate.why else ''}{fate.why}: {fate.mutant}"
            for fate in fates
            if fate.word != "noticed"
        ],
    }
    write_report(path, found, _page(found))


def _room(fate: Fate) -> str:
    return Path(fate.mutant.path).relative_to("src/gnomon").parent.as_posix()


def _page(found: Found) -> str:
    rooms = found["rooms"]
    assert isinstance(rooms, dict)
    body = [
        *table(
            ("drawn", "noticed", "explained", "survived"),
            [[str(found[word]) for word in ("drawn", "noticed", "explained", "survived")]],
        ),
        *table(
            ("room", "drawn", "noticed"),
            [(room, one["drawn"], one["noticed"]) for room, one in rooms.items()],
        ),
    ]
    return page("mutants of the sources", _SAID, body, found, by="make mutants")
