"""
Jitter: by how many milliseconds a planned instant is shifted, either way.

The offset is one draw of the stream that the text of a key seeds, spread evenly over the
2 * jitter + 1 whole milliseconds from -jitter to +jitter. It depends on the key alone, so a restart
draws it again and gets the same. Keys are made from planned instants, never from shifted ones.

Clamping the shifted instant to a schedule's bounds is for the caller, who knows them.

Spec: SEED-8.
"""

from gnomon.core.decision.prng import SplitMix64, state_of
from gnomon.core.decision.seed import check_text, seed_digest
from gnomon.errors import DefinitionError

__all__ = ["JITTER_MAX_MS", "jitter_ms"]

JITTER_MAX_MS = 86_400_000
"""One day: a jitter beyond it belongs in a window."""


def jitter_ms(key: str, jitter: int) -> int:
    """A whole number of milliseconds from -jitter to +jitter, fixed by `key`."""
    if type(jitter) is not int or not 0 <= jitter <= JITTER_MAX_MS:
        raise DefinitionError(
            "must be a whole number of milliseconds from 0 to one day", where="jitter_ms",
            got=jitter, hint=f"write 0 to {JITTER_MAX_MS}",
        )  # fmt: skip
    check_text(key, where="jitter key")
    unit = SplitMix64(state_of(seed_digest(key))).next_unit()
    return min(int(unit * (2 * jitter + 1)), 2 * jitter) - jitter
