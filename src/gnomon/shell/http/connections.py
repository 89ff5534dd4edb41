"""
Which connections may stay, when more come than there is room for? Those that work.

A connection waits until a whole request head has come, and again between two requests. It costs its
sender nothing to wait, so waiting connections are counted, for each peer and together. One more
than there is room for closes the one that has waited longest: of its own peer, or of the peer that
has the most. So a sender that only opens connections crowds out itself, and a sender that has
something to ask is let in.

Spec: HTTP-31.
"""

from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

__all__ = ["Connection", "Connections", "peer_of"]

_HOST_BITS = 64


class Connection:
    """One connection, as the registry knows it."""

    __slots__ = ("_close", "_registry", "peer")

    def __init__(self, registry: "Connections", peer: str, close: Callable[[], object]) -> None:
        self._registry = registry
        self._close = close
        self.peer = peer

    def closes_by(self, close: Callable[[], object]) -> None:
        """From now on it is closed in this way."""
        self._close = close

    def close(self) -> None:
        self._close()

    def wait(self) -> None:
        """No request is being answered on it."""
        self._registry.put(self)

    def work(self) -> None:
        """A request is being answered on it, or it has ended."""
        self._registry.take(self)


class Connections:
    """The connections of a server that wait."""

    def __init__(self, *, most: int, each: int) -> None:
        self._most, self._each = most, each
        self._waiting: dict[str, dict[Connection, None]] = {}
        """By peer; within one, the one that has waited longest comes first."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def enter(self, peer: str, close: Callable[[], object]) -> Connection:
        """A connection has come, and waits; another one may be closed for it."""
        connection = Connection(self, peer, close)
        self.put(connection)
        return connection

    def put(self, connection: Connection) -> None:
        own = self._waiting.setdefault(connection.peer, {})
        if connection in own:
            return
        own[connection] = None
        self._count += 1
        if len(own) > self._each:
            self._close_first(own)
        elif self._count > self._most:
            self.close_one()

    def take(self, connection: Connection) -> None:
        own = self._waiting.get(connection.peer, {})
        if connection in own:
            del own[connection]
            self._count -= 1
            if not own:
                del self._waiting[connection.peer]

    def close_one(self) -> bool:
        """Close the one that has waited longest, of the peer that has the most; False for none."""
        if not self._waiting:
            return False
        self._close_first(max(self._waiting.values(), key=len))
        return True

    def _close_first(self, own: dict[Connection, None]) -> None:
        first = next(iter(own))
        self.take(first)
        first.close()


def peer_of(address: object) -> str:
    """Who is at the other end: an address, and of IPv6 the network that one machine mostly has."""
    host = str(address[0]) if isinstance(address, tuple) and address else ""
    try:
        found = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return f"{IPv6Address(int(found) >> _HOST_BITS << _HOST_BITS)}/{_HOST_BITS}"
