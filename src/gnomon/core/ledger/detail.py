"""
How a run ended, as one line: the detail of its row.

What a run says about itself is foreign text: it is cut to a bearable length, and characters that
could break a line or a terminal are written as escapes.

Spec: LAUNCH-4.
"""

__all__ = ["DETAIL_MAX", "failure_line", "one_line"]

DETAIL_MAX = 500


def one_line(text: str) -> str:
    """The text on one line, without control characters, at most `DETAIL_MAX` characters."""
    shown = "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode()
        for one in text[: DETAIL_MAX + 1]
    )
    return shown if len(shown) <= DETAIL_MAX else f"{shown[: DETAIL_MAX - 1]}…"


def failure_line(error: BaseException) -> str:
    """`ValueError: what it says`."""
    try:
        said = str(error)
    except BaseException:  # an exception that cannot be printed is still the end of its run
        said = "(no text)"
    name = type(error).__name__
    return one_line(f"{name}: {said}" if said else name)
