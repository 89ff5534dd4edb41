"""
Where did a script fail? The end of Python's own traceback, without the frames of the host.

It is kept with the run, so that an author finds the line, and so it is bounded; the end is what is
kept, because that is where the exception is.

Spec: FAIL-18.
"""

import traceback
from pathlib import Path

from gnomon.apps.workflow.storable import storable

__all__ = ["TRACE_MAX", "traced"]

TRACE_MAX = 4_000
"""The longest traceback that is kept, in characters."""
_CAUSES_MAX = 5
_HERE = str(Path(__file__).parent)


def traced(error: BaseException) -> str:
    """The traceback of an exception, with those that it comes from."""
    try:
        found = traceback.TracebackException.from_exception(error)
        one: traceback.TracebackException | None = found
        for _ in range(_CAUSES_MAX):
            if one is None:
                break
            frames = [frame for frame in one.stack if not frame.filename.startswith(_HERE)]
            one.stack = traceback.StackSummary.from_list(frames)
            one = one.__cause__ or one.__context__
        text = "".join(found.format())
    except Exception:  # an exception that cannot be printed is still a failure
        return ""
    text = storable(text, most=len(text) * 10)
    return text if len(text) <= TRACE_MAX else f"…{text[1 - TRACE_MAX :]}"
