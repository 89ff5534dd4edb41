"""
Was the person told of each script that could not be loaded, once, and of no other?

Each time that a host asks for the script in force and gets what cannot be loaded is written down,
with what the person hears. What lasts for long enough that the host looks twice must be told.

Spec: WSIM-16.
"""

from collections.abc import Iterator, Sequence

from gnomon.simulation.workflow.outside import Lack, Outside

__all__ = ["unloadable"]

_LOOKS_MS = 600_000
_PAUSE_MS = 900_000
"""After that long without a look it could be loaded meanwhile."""
_TELLING_MS = 60_000


def unloadable(outside: Outside) -> Iterator[str]:
    """What was not told, told again, or told of a script that could be loaded."""
    left = list(outside.told_lacking)
    for spell in _spells(outside.lacked):
        first, last = spell[0], spell[-1]
        told = [
            one
            for one in left
            if one[:3] == first[:3] and first.at <= one.at <= last.at + _TELLING_MS
        ]
        left = [one for one in left if one not in told]
        looked = [one.at for one in spell if not one.is_paused]
        must = len(looked) > 1 and looked[-1] - looked[0] >= _LOOKS_MS
        if len(told) > 1 or (must and not told):
            yield (
                f"version {first.version} could not be loaded from {first.at} until {last.at}"
                f" ({first.cause}), and {first.life} told of it {len(told)} times"
            )
    for one in left:
        yield f"{one.life} told that version {one.version} cannot be loaded: {one.cause!r}"


def _spells(lacked: Sequence[Lack]) -> list[list[Lack]]:
    """Times in which the same could not be loaded for the same cause, without a break."""
    spells: list[list[Lack]] = []
    for one in lacked:
        latest = spells[-1][-1] if spells else None
        if latest is None or latest[:3] != one[:3] or one.at - latest.at > _PAUSE_MS:
            spells.append([])
        spells[-1].append(one)
    return spells
