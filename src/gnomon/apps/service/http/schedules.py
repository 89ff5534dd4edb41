"""
Schedules: register, look at, list, pause, delete, compare.

The first four routes are those of seed 002, with its names; the others go beyond it. An upsert may
carry `If-Match` with the revision that its author has seen, and is refused when it is another.

Spec: HTTP-15 to HTTP-18.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Response

from gnomon.apps.service.http.forms import (
    BulkPauseForm,
    Id,
    PauseForm,
    PreviewForm,
    ScheduleForm,
)
from gnomon.apps.service.http.parts import PartsOf
from gnomon.apps.service.schedule_input import ScheduleInput, schedule_of
from gnomon.apps.service.settings import Settings
from gnomon.apps.service.views import Page, ScheduleView, UpsertDiff, Upserted
from gnomon.core.civil.instant import format_instant, parse_instant, to_epoch
from gnomon.ports.ledger_rows import Only
from gnomon.shell.http.authentication import Reader, Writer
from gnomon.shell.http.openapi import problems
from gnomon.shell.http.problem import FieldProblem, ProblemError

__all__ = ["Cursor", "IdPath", "Limit", "router"]

router = APIRouter(tags=["schedules"])

IdPath = Annotated[Id, Path(description="The id of a schedule.")]
Limit = Annotated[int, Query(ge=1, le=1000)]
Count = Annotated[int, Query(ge=1, le=1000, description="How many of the next runs.")]
Cursor = Annotated[str | None, Query(max_length=1024, description="`next` of the former page.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a recurrence means."""

    description: str
    timezone: str
    next: list[str]
    """The next planned instants, RFC 3339 in UTC; fewer than were asked for when it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The schedules that a filter found, and whether something was done with them."""

    schedule_ids: list[str]
    dry_run: bool


@router.post("/schedules/upsert", responses=problems(409))
async def upsert_schedule(
    form: ScheduleForm,
    actor: Writer,
    parts: PartsOf,
    if_match: Annotated[
        str | None, Header(max_length=64, description="The revision that is to be replaced.")
    ] = None,
) -> Upserted:
    """Register a schedule, or change it; an equal one changes nothing, and a pause stays."""
    return await parts.registrar.upsert_schedule(
        actor, _input(form), if_revision=_revision(if_match)
    )


@router.post("/schedules/diff", responses=problems(409))
async def diff_schedule(form: ScheduleForm, actor: Reader, parts: PartsOf) -> UpsertDiff:
    """What an upsert would change, and which runs would come and go; changes nothing."""
    return await parts.registrar.preview_upsert(actor, _input(form))


@router.post("/schedules/preview", responses=problems())
async def preview_recurrence(form: PreviewForm, actor: Reader, parts: PartsOf) -> Preview:
    """When something would run, without registering it."""
    return preview_of(form, parts.settings, now=parts.clock.now_ms() // 1000)


@router.post("/schedules/pause", responses=problems(404, 409))
async def pause_schedule(form: PauseForm, actor: Writer, parts: PartsOf) -> ScheduleView:
    """Pause a schedule, until an instant or for good, or let it go on."""
    return await parts.registrar.pause_schedule(
        actor, form.schedule_id, form.paused, until=form.until, reason=form.reason
    )


@router.post("/schedules/pause-many", responses=problems())
async def pause_many(form: BulkPauseForm, actor: Writer, parts: PartsOf) -> Found:
    """Pause every schedule that is found, or let them go on; a dry run only says which."""
    wanted = Only(
        user_id=form.user_id,
        workflow_id=form.workflow_id,
        paused=form.only_paused,
        text=form.text,
    )
    ids = await parts.registrar.pause_many(
        actor, wanted, form.paused, until=form.until, reason=form.reason, dry_run=form.dry_run
    )
    return Found(schedule_ids=list(ids), dry_run=form.dry_run)


@router.get("/schedules", responses=problems())
async def list_schedules(
    actor: Reader,
    parts: PartsOf,
    user_id: Annotated[Id | None, Query()] = None,
    workflow_id: Annotated[Id | None, Query()] = None,
    paused: Annotated[bool | None, Query()] = None,
    text: Annotated[str | None, Query(max_length=200, description="Part of the id.")] = None,
    after: Cursor = None,
    limit: Limit = 100,
) -> Page[ScheduleView]:
    """The schedules, in the order of their ids."""
    wanted = Only(user_id=user_id, workflow_id=workflow_id, paused=paused, text=text)
    return await parts.registrar.list_schedules(actor, wanted, after=after or "", limit=limit)


@router.get("/schedules/{schedule_id}", responses=problems(404))
async def get_schedule(
    schedule_id: IdPath, actor: Reader, parts: PartsOf, response: Response, count: Count = 5
) -> ScheduleView:
    """A schedule, with its next runs."""
    found = await parts.registrar.get_schedule(actor, schedule_id, count=count)
    response.headers["etag"] = f'"{found.revision}"'
    return found


@router.delete("/schedules/{schedule_id}", status_code=204, responses=problems(404))
async def delete_schedule(schedule_id: IdPath, actor: Writer, parts: PartsOf) -> None:
    """Forget a schedule; its history stays."""
    await parts.registrar.delete_schedule(actor, schedule_id)


def _input(form: ScheduleForm) -> ScheduleInput:
    return ScheduleInput(**form.model_dump())


def _revision(if_match: str | None) -> int | None:
    if if_match is None or if_match == "*":
        return None
    text = if_match.removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        error = FieldProblem("if-match", "must be a revision", repr(if_match), 'write e.g. "3"')
        raise ProblemError(422, "if-match: must be a revision", errors=[error])
    return int(text)


def preview_of(form: PreviewForm, settings: Settings, *, now: int) -> Preview:
    """The sentence and the next instants of a form, strictly later than `after`, or than now."""
    fields = form.model_dump(exclude={"after", "count"})
    given = ScheduleInput(workflow_id="preview", version=1, user_id="preview", **fields)
    recurrence = schedule_of(given, settings).recurrence
    after = now if form.after is None else to_epoch(parse_instant(form.after, where="after"))
    found: list[str] = []
    while len(found) < form.count:
        following = recurrence.next_epoch(after)
        if following is None:
            break
        found.append(format_instant(following))
        after = following
    return Preview(description=recurrence.describe(), timezone=form.timezone, next=found)
