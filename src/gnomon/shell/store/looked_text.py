"""
What has been seen of the clock, as it stands in a journal: JSON with instants as texts.

Spec: JOURNAL-2.
"""

import json
from typing import cast

from gnomon.ports import Looked, Stretch
from gnomon.shell.store.instant_text import from_text, to_text

__all__ = ["looked_from_text", "looked_to_text"]


def looked_to_text(looked: Looked) -> str:
    """The stretches as lists of first, last and whether it was left; the fresh minute, if any."""
    stretches = [[to_text(one[0]), to_text(one[1]), one.is_left] for one in looked.stretches]
    fresh = None if looked.fresh_ms is None else to_text(looked.fresh_ms)
    return json.dumps({"stretches": stretches, "fresh": fresh})


def looked_from_text(text: str) -> Looked:
    """The same back; an empty text is from before this was written."""
    if not text:
        return Looked()
    found = json.loads(text)
    stretches = cast("list[tuple[str, str, bool]]", found["stretches"])
    return Looked(
        tuple(Stretch(from_text(first), from_text(last), left) for first, last, left in stretches),
        None if found["fresh"] is None else from_text(found["fresh"]),
    )
