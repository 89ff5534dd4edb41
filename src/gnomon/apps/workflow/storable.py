"""
Which texts can every store keep?

All but those with a zero or half a character in them, which come from names of files and from
messages of exceptions. What is only shown is written with escapes then; what something is known by
must not need them.

Spec: FLOW-18, FAIL-15.
"""

__all__ = ["is_storable", "storable"]


def is_storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= one <= "\udfff" for one in text)


def storable(text: str, *, most: int) -> str:
    """The text with everything escaped that no store can keep, cut to so many characters."""
    if not is_storable(text):
        escaped = text.encode("utf-8", "backslashreplace").decode("utf-8")
        text = escaped.replace("\0", "\\x00")
    return text if len(text) <= most else f"{text[: most - 1]}…"
