"""
How the periods of a job are judged: the modifier `policy`.

`concurrency`, `deadline` and `suspend` each have their default when they are left out, whichever of
the others are there.

Spec: KRONTAB-12.
"""

from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple

from gnomon.apps.krond.job import job_policy
from gnomon.apps.krond.krontab.draft import Draft, unknown
from gnomon.apps.krond.krontab.piece import Piece, unquote
from gnomon.apps.krond.krontab.problem import Problems
from gnomon.core.civil.duration import parse_duration
from gnomon.core.schedule import CONCURRENCY, Overlap, Policy

__all__ = ["Conduct", "read_conduct"]

_TRUTH = {"true": True, "false": False}
_KEYS = ("concurrency", "deadline", "suspend")
_policy = lru_cache(1024)(job_policy)  # many jobs are judged alike


class Conduct(NamedTuple):
    """How a job is judged."""

    policy: Policy
    suspend: bool


_USUAL = Conduct(_policy(), False)


def read_conduct(draft: Draft, problems: Problems) -> Conduct:
    """What the draft says about judging."""
    if "policy" not in draft.pieces:
        return _USUAL
    label = draft.label("policy")
    values = _values(draft, label, problems)
    overlap, suspend, policy = Overlap.SKIP, False, _USUAL.policy
    if (piece := values.get("concurrency")) is not None:
        if piece.text in CONCURRENCY:
            overlap = CONCURRENCY[piece.text]
        else:
            problems.error(
                piece, label, "is not a concurrency", got=piece.text,
                hint=unknown(piece.text, among=tuple(CONCURRENCY)),
            )  # fmt: skip
    if (piece := values.get("suspend")) is not None:
        if piece.text in _TRUTH:
            suspend = _TRUTH[piece.text]
        else:
            problems.error(
                piece, label, "must be true or false", got=piece.text, hint="write suspend=true"
            )
    deadline = values.get("deadline")
    with problems.at(deadline or draft.start, label):
        length = timedelta(0) if deadline is None else parse_duration(deadline.text)
        policy = _policy(overlap=overlap, deadline=length)
    return Conduct(policy, suspend)


def _values(draft: Draft, label: str, problems: Problems) -> dict[str, Piece]:
    values: dict[str, Piece] = {}
    for part in draft.pieces.get("policy", ()):
        key, value = part.halves("=")
        if value is None or key.text not in _KEYS:
            hint = f"write e.g. {label}(concurrency=forbid,deadline=10m)"
            close = unknown(key.text, among=_KEYS) if key.text and value is not None else hint
            problems.error(part, label, "must be key=value", got=part.text, hint=close)
        elif key.text in values:
            problems.error(part, label, f"gives {key.text} twice", got=part.text, hint="write once")
        else:
            with problems.at(value, label):
                values[key.text] = value._replace(text=unquote(value.text))
    return values
