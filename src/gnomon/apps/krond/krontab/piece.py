"""
Pieces: parts of a file with the place where they stand.

A value in double quotes may hold blanks; inside, `\"` is a quote and `\\` a backslash, and a
backslash before anything else stands for itself. Lists inside a piece are split where a separator
stands outside quotes, and each part knows its own column.

Spec: KRONTAB-46.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gnomon.errors import DefinitionError

__all__ = ["Piece", "closing_quote", "quote", "split", "unquote"]

_BLANKS = " \t"
_PLAIN = re.compile(r'[^\s"\\,;()]+')
_ESCAPE = re.compile(r"\\([\"\\])")


class Piece(NamedTuple):
    """A part of a file."""

    text: str
    line: int
    """From 1."""
    column: int
    """Where its first character stands, from 1."""
    is_word: bool = False
    """Whether it is one word, whatever stands in it; a command that is none is split."""

    def part(self, start: int, end: int | None = None) -> "Piece":
        """From an offset to another, without the blanks around it."""
        text = self.text[start:end]
        if text.strip(_BLANKS) == text:
            return Piece(text, self.line, self.column + start)
        short = text.lstrip(_BLANKS)
        return Piece(short.rstrip(_BLANKS), self.line, self.column + start + len(text) - len(short))

    def halves(self, separator: str) -> "tuple[Piece, Piece | None]":
        """What is before and after a separator; None when there is none."""
        at = self.text.find(separator)
        if at < 0:
            return self.part(0), None
        return self.part(0, at), self.part(at + len(separator))


def split(piece: Piece, separator: str) -> Iterator[Piece]:
    """The parts between separators that stand outside quotes."""
    if separator not in piece.text:
        yield piece.part(0)
        return
    start = at = 0
    while at < len(piece.text):
        if piece.text[at] == '"':
            close = closing_quote(piece.text, at)
            at = len(piece.text) if close is None else close
        elif piece.text[at] == separator:
            yield piece.part(start, at)
            start = at + 1
        at += 1
    yield piece.part(start)


def closing_quote(text: str, opening: int) -> int | None:
    """Where the quote that opens at an offset is closed."""
    at = opening + 1
    while at < len(text):
        if text[at] == '"':
            return at
        at += 2 if text[at] == "\\" else 1
    return None


def unquote(text: str) -> str:
    """A value without its quotes, if it has any; it has them around the whole or not at all."""
    if not text.startswith('"'):
        if '"' in text:
            raise DefinitionError(
                "has a quote inside", where="value", got=text,
                hint=f"put the whole value in quotes: {quote(text)}",
            )  # fmt: skip
        return text
    close = closing_quote(text, 0)
    if close != len(text) - 1:
        reason = "has a quote that is not closed" if close is None else "goes on after the quote"
        raise DefinitionError(
            reason, where="value", got=text, hint='write "..." around the whole value'
        )
    return _ESCAPE.sub(r"\1", text[1:-1])


def quote(text: str) -> str:
    """The value as it can stand in a line: in quotes when it needs them."""
    if _PLAIN.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
