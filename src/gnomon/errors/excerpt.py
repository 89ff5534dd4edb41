"""
The place of a mistake: the part of a line around it, and a caret below.

Each character takes one column, whatever it is, so that the caret stands where it should.

Spec: CLI-5.
"""

__all__ = ["excerpt"]

_SHOWN_MAX = 100
_BEFORE = 60


def excerpt(text: str, position: int) -> str:
    """Two lines: the text around an offset, and a caret under it."""
    start = max(0, position - _BEFORE)
    shown = "".join(map(_in_one_column, text[start : start + _SHOWN_MAX]))
    return f"  {shown}\n  {' ' * (position - start)}^"


def _in_one_column(character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    return " " if character == "\t" else "?"
