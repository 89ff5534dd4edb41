"""
Which periods must a KronJob run, and when? Reckoned from its spec alone, as a person would.

Occurrences come from the scan of every minute that judges the ledger; the second within a window is
drawn once more from the digest of its seed. Known are the specs that worlds and campaigns use: dst
`civil` where a zone has changes of its clocks, a uniform window after the period, the seed
`stable`, no constraints. It imports nothing of the core and nothing of the operator.

Spec: OSIM-6.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple

from gnomon.simulation.kit.matcher import length_ms, owed

__all__ = ["Occurrence", "at", "concurrency", "deadline_s", "is_suspended", "is_wrong",
           "occurrences", "text", "timing"]  # fmt: skip

_TIMING = ("schedule", "timezone", "dst", "window", "distribution", "seed", "salt", "constraints")
_WORD = (1 << 64) - 1


class Occurrence(NamedTuple):
    """One period, and the second that its seed chooses."""

    period: int
    chosen: int


def occurrences(
    name: str, spec: Mapping[str, object], first: int, last: int
) -> Iterator[Occurrence]:
    """The periods whose windows open from `first` to `last`, both included."""
    for word in ("seed", "distribution", "constraints"):
        if at(spec, word) not in (None, {}, "stable", {"name": "uniform"}):
            raise ValueError(f"the judge does not read the {word} {at(spec, word)!r}")
    if text(spec, "window", "mode") not in ("", "after"):
        raise ValueError(f"the judge does not read the window {at(spec, 'window')!r}")
    record = {
        "cron_expr": text(spec, "schedule"), "timezone": text(spec, "timezone") or "UTC",
    }  # fmt: skip
    length_s = length_ms(text(spec, "window", "duration")) // 1000
    for period in owed(record, first, last):
        drawn = int(_unit(name, period, text(spec, "salt")) * (length_s + 1))
        yield Occurrence(period, period + min(drawn, length_s))


def timing(spec: Mapping[str, object]) -> object:
    """What of a spec says when; two that are equal say the same."""
    return [at(spec, word) for word in _TIMING]


def is_suspended(spec: Mapping[str, object]) -> bool:
    """Whether nothing may start: a person said so, or wrote what cannot be meant."""
    return at(spec, "policy", "suspend") is True or is_wrong(spec)


def is_wrong(spec: Mapping[str, object]) -> bool:
    """Whether it cannot be meant, in the one way in which worlds write that."""
    return at(spec, "recordsLimit") == 0


def concurrency(spec: Mapping[str, object]) -> str:
    return text(spec, "policy", "concurrency") or "forbid"


def deadline_s(spec: Mapping[str, object]) -> int:
    return length_ms(text(spec, "policy", "deadline") or "60s") // 1000


def at(one: object, *path: str) -> object:
    """What stands at a path; None where there is nothing."""
    for part in path:
        one = one.get(part) if isinstance(one, Mapping) else None
    return one


def text(one: object, *path: str) -> str:
    found = at(one, *path)
    return found if isinstance(found, str) else ""


def _unit(name: str, period: int, salt: str) -> float:
    """The first draw of a seed, from 0 to less than 1."""
    instant = datetime.fromtimestamp(period, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    seed = sha256(f"{name}\n{instant}\n{salt}".encode()).digest()
    word = (int.from_bytes(seed[:8], "big") + 0x9E3779B97F4A7C15) & _WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
    return ((word ^ (word >> 31)) >> 11) / (1 << 53)
