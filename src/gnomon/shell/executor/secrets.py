"""
What must not stand in a DAG: values that only its nodes see.

A DAG names a secret, `{"secret": "name"}`, in place of a header or a variable. Its value is in
a file `USER/NAME` of a directory that no other account may read. The file is read when a node
begins, so that the operator can change it at any time. A user reaches its own secrets only. In what
is kept of a node, the values it was given are left out.

Spec: EXEC-17.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from gnomon.core.dag import CommandNode, HttpNode, Node, Secret
from gnomon.core.identifier import check_id

__all__ = ["Secrets", "given_to", "hidden"]

BYTES_MAX = 64 * 1024
_HIDDEN_MIN = 4
"""A shorter value stands in other words by chance, and hiding it would tell it."""


class Secrets:
    """A directory of secrets; without one there are none."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory

    def get(self, user_id: str, name: str) -> str | None:
        """The value of a secret; None when there is none that can be used."""
        if self._directory is None:
            return None
        user, file = check_id(user_id, where="user_id"), check_id(name, where="secret")
        try:
            descriptor = os.open(self._directory / user / file, os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(descriptor, "rb") as opened:
                value = opened.read(BYTES_MAX + 1).decode().rstrip("\r\n")
        except (OSError, UnicodeDecodeError):
            return None
        return value if len(value) <= BYTES_MAX and "\0" not in value else None

    def fill(self, user_id: str, given: Mapping[str, str | Secret]) -> dict[str, str] | None:
        """The texts with the values of secrets; None when one of them is not there."""
        filled: dict[str, str] = {}
        for name, one in given.items():
            value = self.get(user_id, one.name) if isinstance(one, Secret) else one
            if value is None:
                return None
            filled[name] = value
        return filled


def given_to(node: Node) -> Mapping[str, str | Secret]:
    """Where a node may have secrets: the variables of a command, the headers of a request."""
    if isinstance(node, CommandNode):
        return node.env
    return node.headers if isinstance(node, HttpNode) else {}


def hidden(text: str, values: Iterable[str]) -> str:
    """The text without these values."""
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= _HIDDEN_MIN:
            text = text.replace(value, "***")
    return text
