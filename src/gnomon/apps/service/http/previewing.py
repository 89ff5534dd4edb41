"""
When would this run? A recurrence that nobody has registered, with its sentence and its instants.

Spec: HTTP-17.
"""

from dataclasses import dataclass

from gnomon.apps.service.http.forms import PreviewForm
from gnomon.apps.service.schedule_input import ScheduleInput, schedule_of
from gnomon.apps.service.settings import Settings
from gnomon.core.civil.instant import format_instant, parse_instant, to_epoch

__all__ = ["Preview", "preview_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a recurrence means."""

    description: str
    timezone: str
    next: list[str]
    """The next planned instants, RFC 3339 in UTC; fewer than were asked for when it ends."""


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
