"""
The status page and the metrics: how the service is doing, for people and for Prometheus.

A browser asks for a name and a password: the password is the token, the name is not looked at.

Spec: HTTP-22, HTTP-24, METRICS-8.
"""

import base64
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from jinja2 import Environment, StrictUndefined
from starlette.responses import HTMLResponse, Response

from gnomon.apps.service.events import FeedEvent
from gnomon.apps.service.http.parts import PartsOf, parts_of
from gnomon.apps.service.views import ScheduleView, instant_text
from gnomon.ports.ledger_rows import Only
from gnomon.shell.http.authentication import Viewer, scraper
from gnomon.shell.http.openapi import problems
from gnomon.shell.observe.prometheus import CONTENT_TYPE, page_text

__all__ = ["router"]

SHOWN = 50
CHANGES = 20

router = APIRouter(tags=["status"])


@router.get(
    "/",
    response_class=HTMLResponse,
    responses={**problems(), 200: {"description": "A page.", "content": {"text/html": {}}}},
)
async def status_page(actor: Viewer, parts: PartsOf) -> HTMLResponse:
    """The schedules and what has happened lately, as a page."""
    page = await parts.registrar.list_schedules(actor, Only(), after="", limit=SHOWN)
    seen = [one for one in parts.events.after(0) if actor.may_see(one.user_id)]
    html = render_status(
        {
            "now": instant_text(parts.clock.now_ms()),
            "tenant": actor.tenant or "everybody",
            "schedules": [_schedule(one) for one in page.items],
            "more": page.next is not None,
            "changes": [_change(one) for one in reversed(seen[-CHANGES:])],
        }
    )
    return HTMLResponse(html, headers={"content-security-policy": POLICY})


@router.get(
    "/metrics",
    response_class=Response,
    responses={**problems(), 200: {"description": "Metrics.", "content": {"text/plain": {}}}},
)
async def read_metrics(request: Request, scraped: Annotated[None, Depends(scraper)]) -> Response:
    """What the service has counted, and how its workers are, for Prometheus."""
    parts = parts_of(request)
    workers = [] if parts.heartbeats is None else await parts.heartbeats()
    text = page_text([*parts.figures(), *parts.answers.families(), *workers])
    return Response(text, media_type=CONTENT_TYPE)


def _schedule(one: ScheduleView) -> dict[str, str]:
    return {
        "schedule_id": one.schedule_id,
        "when": one.description,
        "timezone": one.timezone,
        "next_run_at": one.next_run_at or "-",
        "state": _state(one),
    }


def _state(one: ScheduleView) -> str:
    if one.paused:
        return f"paused until {one.paused_until}" if one.paused_until else "paused"
    return "running" if one.in_flight else "active"


def _change(event: FeedEvent) -> dict[str, str]:
    return {
        "at": instant_text(event.at_ms),
        "kind": event.kind,
        "schedule_id": event.schedule_id or "",
        "detail": ", ".join(f"{name} {value}" for name, value in event.fields.items()),
    }


_PAGES = files("gnomon.apps.service.http") / "pages"
_STYLE = (_PAGES / "status.css").read_text(encoding="utf-8")
_HASH = base64.b64encode(sha256(_STYLE.encode()).digest()).decode("ascii")

POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'"
)
"""What the browser may do with the page."""

_TEMPLATES = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
_STATUS = _TEMPLATES.from_string((_PAGES / "status.html").read_text(encoding="utf-8"))


def render_status(facts: Mapping[str, object]) -> str:
    """The page for these facts."""
    return _STATUS.render(facts, style=_STYLE)
