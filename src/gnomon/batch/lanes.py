"""
The successor of a time with several digits, for whole arrays at once.

A local time is a number whose digits are a day, an hour, a minute and a second, and a schedule says
which values each digit may have. Cut such a number in two, a high and a low part. Its least
successor that matches keeps the high part, if that matches as it is and a greater low part exists;
else it takes the next high part with the first low part. With `FAR` for "does not exist" both are
sums, and the successor is the lesser one:

    high.same + low.later       `same` is the high part if that matches as it is, else FAR
    high.next + low.first

The two terms of each part travel together as the two 32-bit lanes of a 64-bit word, so that a
million parts are looked up and added once, not twice.

Spec: BATCH-1.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FAR",
    "Ints",
    "Lanes",
    "Places",
    "Shorts",
    "Words",
    "following",
    "least",
    "low_bit",
    "pair",
    "same",
]

Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]
Places = NDArray[np.intp]
Words = NDArray[np.uint32]
Lanes = NDArray[np.uint64]
"""Pairs of terms, each below 2**31: (later, first) of a low part, (same, next) of a high one."""

FAR = 1_400_000_000
"""
In seconds, more than any wait for a match (29 February on a given weekday takes 40 years at most).
Twice as much, and a few days, still fit a lane.
"""


def low_bit(masks: Ints | Shorts) -> Shorts:
    """The position of the lowest bit that is set; meaningless, but negative, for 0."""
    # A power of two has its logarithm in the exponent of its floating-point form.
    bits = (masks & -masks).astype(np.float32).view(np.int32)
    bits >>= 23
    bits -= 127
    return bits


def following(masks: Ints, digit: int | Ints, unit: int) -> Ints:
    """The least value in each mask greater than `digit`, times `unit`, or `FAR`."""
    above = masks >> (digit + 1)
    return np.where(above != 0, (low_bit(above) + (digit + 1)) * unit, FAR)


def same(masks: Ints, digit: int | Ints, unit: int) -> Ints:
    """`digit` times `unit` where it is in the mask, else `FAR`."""
    return np.where(masks >> digit & 1 != 0, digit * unit, FAR)


def pair(one: Ints | Shorts | Words, other: Ints | Shorts | Words) -> Lanes:
    """Two terms as the lanes of one word."""
    words = np.empty((len(one), 2), np.uint32)
    words[:, 0] = one
    words[:, 1] = other
    return words.view(np.uint64).reshape(-1)


def least(sums: Lanes) -> Words:
    """The lesser of the two lanes; from `FAR` on, it means that there is no match."""
    words = sums.view(np.uint32)
    return np.minimum(words[0::2], words[1::2])
