"""
The minutes of the rows beside CronJob, and what a status says of them in one line.

Both plays use this: the one on a simulated API server and the one on a real cluster.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from gnomon.ports.kubernetes_object import at, number, text, things
from tests.apps.operator.cronjob_rows import Act, Before, Row

__all__ = ["Minutes", "kronjob_spec", "said_of", "starts_of"]

_ORDER = ("executed", "missed", "skipped", "unschedulable")


class Minutes(NamedTuple):
    """The two minutes, as epoch seconds."""

    b0: int
    b1: int

    def schedule(self, row: Row) -> str:
        """The schedule of a row when its object is made."""
        if row.before is Before.NEVER:
            default = "{b1} * * * *" if row.due else "{later} * * * *"
        else:
            default = "{b0},{b1} * * * *" if row.due else "{b0} * * * *"
        return self.fill(row.schedule or default)

    def fill(self, template: str) -> str:
        """A text with the minutes and hours of this play in it."""
        hour = self._hour("UTC")
        return template.format(
            b0=self._minute(self.b0), b1=self._minute(self.b1), ago=self._minute(self.b1 - 300),
            later=self._minute(self.b1 + 1_800), hour=hour, york=self._hour("America/New_York"),
            elsewhere=(hour + 12) % 24,
        )  # fmt: skip

    @staticmethod
    def _minute(instant: int) -> int:
        return datetime.fromtimestamp(instant, UTC).minute

    def _hour(self, zone: str) -> int:
        return datetime.fromtimestamp(self.b1, ZoneInfo(zone)).hour


def kronjob_spec(row: Row, policy: str, minutes: Minutes) -> dict[str, object]:
    """The spec of the KronJob of a row, without its template."""
    judged = {"concurrency": policy}
    if row.deadline_s is not None:
        judged["deadline"] = f"{row.deadline_s}s"
    spec: dict[str, object] = {
        "schedule": minutes.schedule(row), "policy": judged, "recordsLimit": 100,
    }  # fmt: skip
    if row.zone:
        spec["timezone"] = row.zone
    if row.kept is not None and row.act is not Act.NO_ROOM:
        spec["successfulJobsHistoryLimit"] = row.kept
    if row.constraints:
        spec["constraints"] = {"only": minutes.fill(row.constraints)}
    return spec


def said_of(row: Row, minutes: Minutes, kronjob: object, jobs: Sequence[object]) -> str:
    """What a KronJob says of what came after the run before, and of that run when it was cut."""
    if any(text(one, "type") == "InvalidSpec" for one in things(kronjob, "status", "conditions")):
        return "refused"
    counted: Counter[tuple[str, str]] = Counter()
    words = []
    for one in things(kronjob, "status", "recent"):
        if _is_before(row, minutes, one):
            if text(one, "result") in ("Replaced", "Deleted") and row.before is Before.ACTIVE:
                words.append(f"the older {text(one, 'result')}")
            continue
        reason = "" if text(one, "result") else text(one, "reason")
        size = number(one, "count") if at(one, "from") is not None else 1
        counted[text(one, "outcome"), reason] += max(size, 1)
    listed = [
        (f"{count} " if count > 1 else "") + outcome + (f"({reason})" if reason else "")
        for (outcome, reason), count in sorted(
            counted.items(), key=lambda item: (_ORDER.index(item[0][0]), item[0][1])
        )
    ]  # fmt: skip
    if row.act is Act.NO_ANSWER and any(at(one, "spec", "suspend") for one in jobs):
        words.append("held")
    return ", ".join([*(listed or ["nothing"]), *words, *_kept(row, jobs)])


def starts_of(row: Row, before: Sequence[object], after: Sequence[object]) -> str:
    """What a CronJob did: from its Jobs before it came back, and afterwards."""
    known = {text(one, "metadata", "uid") for one in before}
    new = [one for one in after if text(one, "metadata", "uid") not in known]
    words = {0: "starts none", 1: "starts one"}.get(len(new), f"starts {len(new)}")
    left = {text(one, "metadata", "uid") for one in after}
    is_ended = row.before is Before.ACTIVE and bool(known - left)
    return ", ".join([words, *(["ends the older"] if is_ended else []), *_kept(row, after)])


def _kept(row: Row, jobs: Sequence[object]) -> list[str]:
    if row.kept is None:
        return []
    finished = [
        one for one in jobs
        if any(text(part, "type") == "Complete" for part in things(one, "status", "conditions"))
    ]  # fmt: skip
    return [f"{len(finished)} kept"]


def _is_before(row: Row, minutes: Minutes, entry: object) -> bool:
    """Whether an entry of the status is of the run before."""
    if row.absence_s:
        return False
    period = text(entry, "period") if isinstance(entry, Mapping) else ""
    return bool(period) and datetime.fromisoformat(period).timestamp() <= minutes.b0
