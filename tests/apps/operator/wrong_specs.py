"""
What cannot be meant, as rows: read by the operator in memory, and by a real API server.

A duration has one reading in every field; only what a field allows of it differs.
"""

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["CONTAINERS_MISSING", "DURATIONS", "NOT_A_DURATION", "OUT_OF_RANGE", "Length"]

NOT_A_DURATION = "must be a duration"
OUT_OF_RANGE = "must lie between 0s and 8784h"
_WHOLE = "must be whole seconds"
_FINER = "is finer than a microsecond"


class Length(NamedTuple):
    """One text, and what each field says of it; empty where the field takes it."""

    text: str
    window: str = ""
    deadline: str = ""


def _both(text: str, said: str) -> Length:
    return Length(text, said, said)


DURATIONS = (
    Length("0"), Length("0s"), Length("-0"), Length("90s"), Length("15m"), Length("1h30m"),
    Length("1.5h"), Length(".5m"), Length("+5s"), Length("24h"), Length("24h0m0s"),
    Length("1000ms"), Length("3000000us"), Length("3000000µs"), Length("3000000μs"),
    Length("8784h"), Length("1.5s", "", _WHOLE), Length("1500ms", "", _WHOLE),
    _both("", NOT_A_DURATION), _both("1d", NOT_A_DURATION), _both("5", NOT_A_DURATION),
    _both("5 s", NOT_A_DURATION), _both(" 5s", NOT_A_DURATION), _both("5min", NOT_A_DURATION),
    _both("1H", NOT_A_DURATION), _both("1.h", NOT_A_DURATION), _both("--5s", NOT_A_DURATION),
    _both("٥s", NOT_A_DURATION), _both("PT1H", NOT_A_DURATION),
    _both("-5s", OUT_OF_RANGE), _both("8785h", OUT_OF_RANGE), _both("9999h", OUT_OF_RANGE),
)  # fmt: skip

CONTAINERS_MISSING: tuple[tuple[Mapping[str, object], str], ...] = (
    ({}, "containers"),
    ({"containers": []}, "containers"),
    ({"containers": [{"name": "main"}]}, "containers[0].image"),
    ({"containers": [{"name": "main", "image": ""}]}, "containers[0].image"),
    ({"containers": [{"image": "none"}]}, "containers[0].name"),
    ({"containers": [{"name": "a", "image": "b"}, {"name": "c"}]}, "containers[1].image"),
)
"""Of a pod, and which of its fields is missing."""
