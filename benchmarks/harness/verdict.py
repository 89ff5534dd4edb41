"""
What a figure amounts to beside what was promised: `must` is the promise, `aim` what is hoped for.
"""

from enum import StrEnum

__all__ = ["Verdict", "verdict_of"]


class Verdict(StrEnum):
    AIM = "aim reached"
    MUST = "reached"
    SHORT = "short"
    UNKNOWN = "not measured"


def verdict_of(value: float | None, *, must: float, aim: float, more_is_better: bool) -> Verdict:
    if value is None:
        return Verdict.UNKNOWN
    sign = 1 if more_is_better else -1
    if sign * value >= sign * aim:
        return Verdict.AIM
    return Verdict.MUST if sign * value >= sign * must else Verdict.SHORT
