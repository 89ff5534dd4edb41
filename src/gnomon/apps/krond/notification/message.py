"""
What is sent to whom when a period has come to its end.

Mail is for people: a subject that says it all, the facts, and the end of what the job printed. A
webhook is for programs: the same facts as JSON, without what was printed, which may hold secrets. A
ping is for a watcher that expects it: called after each success, and with `/fail` after a failure;
a watcher that waits for it in vain knows that the job did not run.

Spec: NOTIFY-1 to NOTIFY-4, NOTIFY-10.
"""

import json
from dataclasses import dataclass
from typing import assert_never
from urllib.parse import urlsplit, urlunsplit

from gnomon.apps.krond.happening import Happening
from gnomon.apps.krond.notice import Occasion
from gnomon.core.civil.instant import format_instant
from gnomon.errors.root import harmless, printable
from gnomon.shell.launcher.ends import read_exit

__all__ = ["OUTPUT_MAX", "Call", "Mail", "Message", "messages"]

OUTPUT_MAX = 16_384
"""How many characters of what a job printed go into a mail: the last ones."""
DETAIL_MAX = 120
"""How many characters of a detail go into a subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A mail to one or more people."""

    to: tuple[str, ...]
    subject: str
    body: str
    at_ms: int
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a URL: with a body it is a POST of JSON, without one a GET."""

    url: str
    body: str | None = None
    key: str = ""
    """The same for the same happening, so that a receiver can tell a repetition."""


Message = Mail | Call


def messages(happening: Happening, *, host: str, output: str) -> tuple[Message, ...]:
    """Everything that is to be sent; `output` is what the job printed, as far as it is known."""
    notice, found = happening.job.notice, list[Message]()
    if happening.occasion in notice.on:
        if notice.mail:
            found.append(_mail(happening, host=host, output=output))
        if notice.webhook:
            body = json.dumps(_record(happening, host=host))
            found.append(Call(url=notice.webhook, body=body, key=_key(happening)))
    if notice.ping:
        if happening.occasion is Occasion.SUCCESS:
            found.append(Call(url=notice.ping))
        elif happening.occasion is Occasion.FAILURE:
            found.append(Call(url=_failing(notice.ping)))
    return tuple(found)


def _mail(happening: Happening, *, host: str, output: str) -> Mail:
    job = happening.job
    rows = [
        ("job", job.identity),
        ("for", job.description),
        ("host", host),
        ("period", happening.period_id),
        ("periods", str(happening.periods) if happening.periods > 1 else ""),
        ("chosen", _instant(happening.chosen_ms)),
        ("outcome", happening.outcome.value),
        ("reason", "" if happening.reason is None else happening.reason.value),
        ("detail", happening.detail),
        ("started", _instant(happening.started_ms)),
        ("ended", _instant(happening.ended_ms)),
    ]
    lines = [f"{name:<9}{printable(value)}" for name, value in rows if value]
    if output:
        cut = "" if len(output) <= OUTPUT_MAX else "(the end of it)\n"
        lines += ["", "What it printed:", "", f"{cut}{harmless(output[-OUTPUT_MAX:])}"]
    return Mail(
        to=job.notice.mail,
        subject=f"[{host}] {job.name} {_what(happening)}",
        body="\n".join(lines) + "\n",
        at_ms=happening.ended_ms,
        headers=(("X-Gnomon-Job", job.identity), ("X-Gnomon-Period", happening.period_id)),
    )


def _what(happening: Happening) -> str:
    """What happened, in a few words."""
    why = f" ({happening.reason.value})" if happening.reason is not None else ""
    match happening.occasion:
        case Occasion.SUCCESS:
            return "succeeded"
        case Occasion.FAILURE:
            detail = _short(happening.detail)
            return f"failed: {detail}{why}" if detail else f"failed{why}"
        case Occasion.MISSED:
            many = f" {happening.periods} times" if happening.periods > 1 else ""
            detail = f": {_short(happening.detail)}" if happening.detail else ""
            return f"was missed{many}{why}{detail}"
        case Occasion.SKIPPED:
            return f"was skipped{why}"
        case Occasion.UNSCHEDULABLE:
            return "could not be scheduled: its constraints allow no second"
        case _:
            assert_never(happening.occasion)


def _short(detail: str) -> str:
    """How a run ended, or why it did not begin, as far as it fits in a subject."""
    found = read_exit(detail)
    text = printable(detail if found is None else detail.partition(" (")[0])
    return text if len(text) <= DETAIL_MAX else f"{text[: DETAIL_MAX - 1]}…"


def _record(happening: Happening, *, host: str) -> dict[str, str | int | None]:
    return {
        "event": happening.occasion.value,
        "host": host,
        "job": happening.job.name,
        "identity": happening.job.identity,
        "periodId": happening.period_id,
        "periods": happening.periods,
        "chosenTime": _instant(happening.chosen_ms) or None,
        "outcome": happening.outcome.value,
        "reason": None if happening.reason is None else happening.reason.value,
        "detail": happening.detail,
        "startedAt": _instant(happening.started_ms) or None,
        "endedAt": _instant(happening.ended_ms),
    }


def _key(happening: Happening) -> str:
    return f"{happening.job.schedule_id}:{happening.period_id}:{happening.occasion.value}"


def _failing(url: str) -> str:
    """The URL with `/fail` at the end of its path."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/fail"))


def _instant(at_ms: int | None) -> str:
    return "" if at_ms is None else format_instant(at_ms // 1000)
