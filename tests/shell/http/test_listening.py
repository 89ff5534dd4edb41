"""The sockets that servers listen on."""

import ast
import socket
from pathlib import Path

import gnomon
from gnomon.shell.http.listening import bind
from tests.clauses import clause

SOURCES = Path(gnomon.__file__).parent
LISTENS = {"listen", "create_server", "start_server"}
"""What makes a server of an address."""


@clause("HTTP-42")
def test_a_connection_that_was_taken_sends_each_part_at_once() -> None:
    with bind("127.0.0.1", 0) as listener:
        listener.setblocking(True)
        with socket.create_connection(listener.getsockname()):
            taken, _ = listener.accept()
            with taken:
                assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


@clause("HTTP-42")
def test_every_server_that_can_be_reached_over_a_network_listens_on_such_a_socket() -> None:
    others = {
        str(path.relative_to(SOURCES)): call
        for path in sorted(SOURCES.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (call := _listening(node)) is not None
    }

    assert others == {"shell/http/listening.py": "listener.listen"}


def _listening(node: ast.AST) -> str | None:
    """The call that listens on an address of its own; one that is given a socket does not."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    given = any(keyword.arg == "sock" for keyword in node.keywords)
    return ast.unparse(node.func) if node.func.attr in LISTENS and not given else None
