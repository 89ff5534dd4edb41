"""
How a run ended, in one line.

What a run says about itself is foreign text: it is cut to a bearable length, and characters that
could break a line or a terminal are written as escapes.

Spec: LAUNCH-4.
"""

__all__ = ["DETAIL_MAX", "exit_line", "failure_line", "one_line"]

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
    except Exception:  # an exception that cannot be printed is still the end of its run
        said = "(no text)"
    name = type(error).__name__
    return one_line(f"{name}: {said}" if said else name)


def exit_line(status: int | None) -> str:
    """`exit 3`, `signal 9`, or that nobody knows."""
    if status is None:
        return "exit unknown"
    return f"exit {status}" if status >= 0 else f"signal {-status}"
