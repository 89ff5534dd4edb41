"""
Where does a server listen? On a socket that is bound before anything else is done.

So a port that is taken is an error at the start, with the address in it, and nothing has happened.
A connection that it takes sends each part of an answer at once: a client that delays its
acknowledgement of the first part would otherwise hold back the second for 40 ms.

Spec: HTTP-42.
"""

import socket

from gnomon.errors import DefinitionError

__all__ = ["LOOPBACK", "bind", "is_loopback", "read_address", "url_of"]

LOOPBACK = "127.0.0.1"
"""Where to listen when nothing is said."""
_LOOPBACK = (LOOPBACK, "::1", "localhost")
_PORT_MAX = 65_535
_WAITING_MAX = 256


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    return host in _LOOPBACK


def read_address(text: str, *, where: str, example: str) -> tuple[str, int]:
    """Where to listen: a host, the loopback one when there is none, and a port."""
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= _PORT_MAX):
        raise DefinitionError(
            "must be an address and a port", where=where, got=text, hint=f"write {example}"
        )
    return host.removeprefix("[").removesuffix("]") or LOOPBACK, int(port)


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; `OSError` with the address when it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # its connections inherit it
        listener.bind((host, port))
        listener.listen(_WAITING_MAX)
    except OSError as error:
        listener.close()
        raise OSError(error.errno, error.strerror, f"{host}:{port}") from None
    listener.setblocking(False)
    return listener


def url_of(host: str, listener: socket.socket, *, scheme: str = "http") -> str:
    """The address under which a socket that was bound can be asked."""
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}:{listener.getsockname()[1]}"
