"""
One instant: events that the recorder could not tell apart in time.

Two actions may not happen at one instant (EA3), nor may compute and a crash (EA1). Everywhere else
such events are taken one after the other, in the order of their lines.

Spec: EA1, EA3.
"""

from gnomon.theory.positions import ACTIONS
from gnomon.trace import Event, Kind

__all__ = ["Instant"]

_ACTION, _COMPUTE, _CRASH = "action", "compute", "crash"
_NATURES = {
    **dict.fromkeys(ACTIONS, _ACTION),
    Kind.COMPUTE: _COMPUTE,
    Kind.CRASH: _CRASH,
}
_AGAINST = {_ACTION: ("EA3", _ACTION), _COMPUTE: ("EA1", _CRASH), _CRASH: ("EA1", _COMPUTE)}
_SAYS = {"EA1": "compute at the instant of a crash", "EA3": "two actions at the same instant"}


class Instant:
    """What has happened at the present instant."""

    def __init__(self) -> None:
        self._natures: set[str | None] = set()

    def add(self, event: Event, before: Event | None) -> tuple[str, str] | None:
        """An event at the instant of the one before it: the axiom that this breaks, and why."""
        if before is not None and not before.same:
            self._natures = {_NATURES.get(before.kind)}
        nature = _NATURES.get(event.kind)
        axiom, other = _AGAINST.get(nature, ("", "")) if nature else ("", "")
        broken = other in self._natures
        self._natures.add(nature)
        return (axiom, _SAYS[axiom]) if broken else None
