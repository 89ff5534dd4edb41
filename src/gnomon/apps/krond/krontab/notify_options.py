"""
Whom a job wants told: the fields `mail`, `webhook`, `ping` and `notify`.

Spec: KRONTAB-43.
"""

import re

from gnomon.apps.krond.job import UNTOLD
from gnomon.apps.krond.krontab.draft import Draft, Piece, split, unknown
from gnomon.apps.krond.krontab.problem import Problems
from gnomon.shell.observe.notify.rule import TROUBLE, NotifyRule, Occasion

__all__ = ["ADDRESS", "read_notify_rule"]

ADDRESS = re.compile(r"[^\s@,;<>\"()]+(@[A-Za-z0-9.-]+)?")
"""What mail can be sent to."""
_URL = re.compile(r"https?://[!-~]+")
_NAMES = ("mail", "webhook", "ping", "notify")
_WORDS = (*Occasion, "always", "never")


def read_notify_rule(draft: Draft, problems: Problems) -> NotifyRule:
    """What the draft says about telling."""
    if draft.pieces.keys().isdisjoint(_NAMES):
        return UNTOLD
    mail = tuple(piece.text for piece in _list(draft, "mail"))
    for piece in _list(draft, "mail"):
        if not ADDRESS.fullmatch(piece.text):
            problems.error(
                piece, "mail", "is no address", got=piece.text, hint="write e.g. ops@example.org"
            )
    return NotifyRule(
        on=_occasions(draft, problems),
        mail=mail,
        webhook=_url(draft, "webhook", problems),
        ping=_url(draft, "ping", problems),
    )


def _url(draft: Draft, name: str, problems: Problems) -> str:
    piece = draft.first(name)
    if piece is None:
        return ""
    if not _URL.fullmatch(piece.text):
        problems.error(
            piece, name, "must be a URL of http or https", got=piece.text,
            hint=f"write e.g. {name}=https://example.org/hook",
        )  # fmt: skip
    return piece.text


def _occasions(draft: Draft, problems: Problems) -> frozenset[Occasion]:
    pieces = _list(draft, "notify")
    if not pieces:
        return TROUBLE
    found: set[Occasion] = set()
    for piece in pieces:
        if piece.text == "always":
            found |= set(Occasion)
        elif piece.text in list(Occasion):
            found.add(Occasion(piece.text))
        elif piece.text != "never" or len(pieces) > 1:
            problems.error(
                piece, "notify", "is no occasion", got=piece.text,
                hint=unknown(piece.text, among=_WORDS),
            )  # fmt: skip
    return frozenset(found)


def _list(draft: Draft, name: str) -> list[Piece]:
    return [part for piece in draft.pieces.get(name, ()) for part in split(piece, ",")]
