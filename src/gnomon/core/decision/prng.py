"""
The stream: which numbers follow from a seed.

There is one generator, SplitMix64, given bit by bit so that any language can repeat it. It starts
from the first eight bytes of a SHA-256 digest, read big-endian, and each 64-bit word becomes a
number in [0, 1) by its top 53 bits, which a double holds exactly.

It does not hash (see `seed`) and it does not shape (see `distribution`). Its numbers are no secret:
every reader of the definition can compute the stream, which is the point of it.

Spec: SEED-6, SEED-7.
"""

__all__ = ["GAMMA", "MASK", "MIX_1", "MIX_2", "UNIT", "SplitMix64", "state_of"]

MASK = 0xFFFF_FFFF_FFFF_FFFF
GAMMA = 0x9E37_79B9_7F4A_7C15
MIX_1 = 0xBF58_476D_1CE4_E5B9
MIX_2 = 0x94D0_49BB_1331_11EB
UNIT = 2.0**-53


class SplitMix64:
    """The generator: a 64-bit counter that advances by GAMMA, and a mix of each of its values."""

    __slots__ = ("_state",)

    def __init__(self, state: int) -> None:
        self._state = state & MASK

    def next_word(self) -> int:
        """The next 64-bit word of the stream."""
        self._state = z = (self._state + GAMMA) & MASK
        z = ((z ^ (z >> 30)) * MIX_1) & MASK
        z = ((z ^ (z >> 27)) * MIX_2) & MASK
        return z ^ (z >> 31)

    def next_unit(self) -> float:
        """The next number in [0, 1): the top 53 bits of a word, divided by 2^53."""
        return (self.next_word() >> 11) * UNIT


def state_of(digest: bytes) -> int:
    """The starting state that a digest gives: its first eight bytes, big-endian."""
    return int.from_bytes(digest[:8], "big")
