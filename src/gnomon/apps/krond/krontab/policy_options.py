"""
How the periods of a job are judged: the modifier `policy`.

`concurrency`, `deadline` and `suspend` each have their default when they are left out, whichever of
the others are there. What runs at boot may by default start later than at once: a machine that
boots has much to do, and krond comes to it when it can.

Spec: KRONTAB-12, KRONTAB-51.
"""

from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple

from gnomon.apps.krond.job import job_policy
from gnomon.apps.krond.krontab.draft import Draft, Piece, unknown, unquote
from gnomon.apps.krond.krontab.problem import Problems
from gnomon.core.civil.duration import parse_duration
from gnomon.core.schedule import CONCURRENCY, Overlap, Policy

__all__ = ["BOOT_DEADLINE", "PolicyOptions", "read_policy", "usual_deadline"]

BOOT_DEADLINE = timedelta(minutes=5)
"""How late a job may start after a boot when it does not say."""

_TRUTH = {"true": True, "false": False}
_KEYS = ("concurrency", "deadline", "suspend")
_policy = lru_cache(1024)(job_policy)  # many jobs are judged alike


class PolicyOptions(NamedTuple):
    """How a job is judged."""

    policy: Policy
    suspend: bool


def usual_deadline(*, at_boot: bool) -> timedelta:
    """The deadline of a job that does not say."""
    return BOOT_DEADLINE if at_boot else timedelta(0)


def read_policy(draft: Draft, problems: Problems) -> PolicyOptions:
    """What the draft says about judging."""
    length = usual_deadline(at_boot=draft.at_boot)
    if "policy" not in draft.pieces:
        return PolicyOptions(_policy(deadline=length), False)
    label = draft.label("policy")
    values = _values(draft, label, problems)
    overlap, suspend, policy = Overlap.SKIP, False, _policy()
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
        length = length if deadline is None else parse_duration(deadline.text)
        policy = _policy(overlap=overlap, deadline=length)
    return PolicyOptions(policy, suspend)


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
