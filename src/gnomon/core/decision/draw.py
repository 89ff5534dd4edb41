"""
Draw: the candidates of one window, in order, until one is allowed; and the stream they come from.

There is one generator, SplitMix64, given bit by bit so that any language can repeat it. Each 64-bit
word becomes a number in [0, 1) by its top 53 bits, which a double holds exactly. Its numbers are no
secret: every reader of the definition can compute the stream, which is the point of it.

Candidates come from one stream, one draw each, and there are at most 64 of them. A window of a
single second has one candidate and draws nothing. There are two ways to the same second: `draw` is
the plain one and also counts; `chooser` makes a function from integer to integer, specialised to
the definition, for callers that ask a million times.

Jitter is one draw, spread evenly over the 2 * jitter + 1 whole milliseconds from -jitter to
+jitter. It depends on its key alone, so a restart draws it again and gets the same. Keys are made
from planned instants, never from shifted ones. To clamp the shifted instant to a schedule's bounds
is for the caller, who knows them.

Spec: SEED-6 to SEED-8, DEC-2, DEC-4 to DEC-6, DEC-10.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from math import floor

from gnomon.core.civil.zone import Zone
from gnomon.core.decision.constraint import Allowance
from gnomon.core.decision.distribution import Distribution, Uniform, offset_of
from gnomon.core.decision.record import ATTEMPTS_MAX, NO_CANDIDATE, Chosen, Unschedulable
from gnomon.core.decision.seed import check_text, seed_digest, state_of
from gnomon.errors import DefinitionError

__all__ = ["JITTER_MAX_MS", "PreparedDecider", "SplitMix64", "chooser", "draw", "jitter_ms"]

JITTER_MAX_MS = 86_400_000
"""One day: a jitter beyond it belongs in a window."""

_MASK = 0xFFFF_FFFF_FFFF_FFFF
_GAMMA = 0x9E37_79B9_7F4A_7C15
_MIX_1 = 0xBF58_476D_1CE4_E5B9
_MIX_2 = 0x94D0_49BB_1331_11EB
_UNIT = 2.0**-53
_ATTEMPTS = range(1, ATTEMPTS_MAX + 1)


class SplitMix64:
    """The generator: a 64-bit counter that advances by _GAMMA, and a mix of each of its values."""

    __slots__ = ("_state",)

    def __init__(self, state: int) -> None:
        self._state = state & _MASK

    def next_word(self) -> int:
        """The next 64-bit word of the stream."""
        self._state = z = (self._state + _GAMMA) & _MASK
        z = ((z ^ (z >> 30)) * _MIX_1) & _MASK
        z = ((z ^ (z >> 27)) * _MIX_2) & _MASK
        return z ^ (z >> 31)

    def next_unit(self) -> float:
        """The next number in [0, 1): the top 53 bits of a word, divided by 2^53."""
        return (self.next_word() >> 11) * _UNIT


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDecider:
    """Everything about a definition that does not depend on the period, computed once."""

    zone: Zone
    lead: int
    span: int
    distribution: Distribution
    """With every default filled in."""
    unit_map: Callable[[float], float]
    allowed: Allowance | None
    key_of: Callable[[int], str]
    state_of: Callable[[int], int]
    """From a nominal instant to the state that starts its stream."""


def draw(prepared: PreparedDecider, nominal: int) -> tuple[Chosen | Unschedulable, int]:
    """The outcome of the period at `nominal`, and how many candidates it took."""
    start, span = nominal - prepared.lead, prepared.span
    if span == 0:
        if _is_allowed(prepared, start):
            return Chosen(at=start), 0
        return Unschedulable(reason=NO_CANDIDATE, attempts=0), 0
    stream = SplitMix64(prepared.state_of(nominal))
    for attempt in _ATTEMPTS:
        at = start + offset_of(prepared.unit_map(stream.next_unit()), span)
        if _is_allowed(prepared, at):
            return Chosen(at=at), attempt
    return Unschedulable(reason=NO_CANDIDATE, attempts=ATTEMPTS_MAX), ATTEMPTS_MAX


def chooser(prepared: PreparedDecider) -> Callable[[int], int | None]:
    """`draw` as integers and nothing else; that both agree is a test."""

    def choose(nominal: int) -> int | None:
        outcome, _ = draw(prepared, nominal)
        return outcome.at if isinstance(outcome, Chosen) else None

    if prepared.span == 0 and prepared.allowed is None:
        return _exact_chooser(prepared.lead)
    if prepared.span == 0 or not isinstance(prepared.distribution, Uniform):
        return choose
    if prepared.allowed is None:
        return _free_chooser(prepared)
    return _uniform_chooser(prepared, prepared.allowed, choose)


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


def _is_allowed(prepared: PreparedDecider, at: int) -> bool:
    return prepared.allowed is None or at + prepared.zone.offset_at(at) in prepared.allowed


def _exact_chooser(lead: int) -> Callable[[int], int | None]:
    """For the one second of a window that nothing forbids."""
    return lambda nominal: nominal - lead


# In the functions below SplitMix64 is written out, because a call per draw would cost more than its
# arithmetic. The scale turns 53 bits into a draw times the number of seconds, rounded once, as
# `offset_of` does it; for every draw the product stays below that number, so no cap.


def _free_chooser(prepared: PreparedDecider) -> Callable[[int], int | None]:
    state_of, lead, scale = prepared.state_of, prepared.lead, (prepared.span + 1) * _UNIT

    def choose(nominal: int) -> int:
        z = (state_of(nominal) + _GAMMA) & _MASK
        z = ((z ^ (z >> 30)) * _MIX_1) & _MASK
        z = ((z ^ (z >> 27)) * _MIX_2) & _MASK
        return nominal - lead + floor(((z ^ (z >> 31)) >> 11) * scale)

    return choose


def _uniform_chooser(
    prepared: PreparedDecider, allowed: Allowance, otherwise: Callable[[int], int | None]
) -> Callable[[int], int | None]:
    """
    Within one straight piece of the zone the whole window has one offset, so that candidates can be
    drawn in local time. The piece is remembered from period to period; a window with a change
    inside, or beyond the horizon, is left to `otherwise`.
    """
    state_of, lead, span, scale = (
        prepared.state_of, prepared.lead, prepared.span, (prepared.span + 1) * _UNIT
    )  # fmt: skip
    minutes, days, line = allowed.minutes, allowed.days, prepared.zone.both
    piece = (0, -1, 0)  # one tuple, so that threads see all of it or nothing

    def choose(nominal: int) -> int | None:
        nonlocal piece
        start = nominal - lead
        first, last, offset = piece
        if not first <= start <= last:
            k = max(bisect_right(line.starts, start) - 1, 0)
            first, last, offset = piece = (line.starts[k], line.ends[k] - span - 1, line.offsets[k])
            if not first <= start <= last:
                return otherwise(nominal)
        state, start = state_of(nominal), start + offset
        for _ in _ATTEMPTS:
            state = z = (state + _GAMMA) & _MASK
            z = ((z ^ (z >> 30)) * _MIX_1) & _MASK
            z = ((z ^ (z >> 27)) * _MIX_2) & _MASK
            local = start + floor(((z ^ (z >> 31)) >> 11) * scale)
            if minutes[local % 86_400 // 60] and (days is None or days(local // 86_400)):
                return local - offset
        return None

    return choose
