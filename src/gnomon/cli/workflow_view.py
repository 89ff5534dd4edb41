"""
How workflows are shown: an overview for their owner, and lists of runs and events for operators.

Spec: SEEN-1, SEEN-3 to SEEN-6, SEEN-8 to SEEN-10, WCLI-2.
"""

import json
from collections.abc import Sequence

from gnomon.apps.workflow.overview import Overview
from gnomon.apps.workflow.queries import Attempts, Page, Versions
from gnomon.apps.workflow.records import (
    event_record,
    input_record,
    overview_record,
    run_record,
    version_record,
)
from gnomon.cli.problem import printable
from gnomon.ports.workflow_facts import Event, Input
from gnomon.shell.store.instant_text import to_text
from gnomon.shell.store.workflow_examination import WorkflowExamination

__all__ = [
    "doctor_text",
    "events_text",
    "inputs_text",
    "overviews_text",
    "runs_text",
    "versions_text",
]


def overviews_text(
    found: Sequence[Overview], *, now_ms: int, as_json: bool, in_full: bool = False
) -> str:
    """What owners see; in full with what each handler waits for."""
    if as_json:
        return _json({"workflows": [overview_record(one) for one in found]})
    if not found:
        return "no workflows are deployed\n"
    return "\n".join(_overview_lines(one, now_ms, in_full=in_full) for one in found)


def runs_text(workflow: str, runs: Attempts, *, as_json: bool) -> str:
    """For operators: every attempt, newest first."""
    if as_json:
        records = [run_record(one, runs.mutations) for one in runs.rows]
        return _json({"workflow": workflow, "runs": records, "next": runs.next})
    lines = [
        f"{one.number:>5}  {to_text(one.created_ms)}  {one.handler:<16} {one.phase.value:<10} "
        f"{one.status.value:<21} v{one.script}"
        + (f"  retry of {one.retry_of}" if one.retry_of else "")
        + (f"  {one.error or one.note}" if one.error or one.note else "")
        + "".join(f"  [{two.key}]" for two in [runs.mutations.get(one.mutation or 0)] if two)
        for one in runs.rows
    ]
    return _below([*(lines or ["no runs yet"]), *_more(runs.next)])


def events_text(workflow: str, events: Page[Event], *, as_json: bool) -> str:
    """Newest first."""
    if as_json:
        records = [event_record(one) for one in events.rows]
        return _json({"workflow": workflow, "events": records, "next": events.next})
    lines = [
        f"{one.number:>5}  {to_text(one.created_ms)}  {one.topic:<16} {one.status.value:<9} "
        f"{one.id}  {_cut(one.payload)}"
        for one in events.rows
    ]
    return _below([*(lines or ["no events yet"]), *_more(events.next)])


def versions_text(workflow: str, found: Versions, *, as_json: bool) -> str:
    """Newest first, with the one in force marked."""
    if as_json:
        records = [version_record(one, in_force=found.in_force) for one in found.rows]
        return _json({"workflow": workflow, "versions": records, "next": found.next})
    lines = [
        f"{one.version:>5}  {to_text(one.deployed_ms)}  {one.digest[:12]}  {one.reason}"
        + ("" if one.text else "  of a program, without its text")
        + ("  in force" if one.version == found.in_force else "")
        for one in found.rows
    ]
    return _below([*lines, *_more(found.next)])


def inputs_text(workflow: str, inputs: Sequence[Input], *, as_json: bool) -> str:
    """Newest first."""
    if as_json:
        return _json({"workflow": workflow, "inputs": [input_record(one) for one in inputs]})
    lines = [
        f"{to_text(one.created_ms)}  {one.id}"
        + (f"  {_cut(one.title)}" if one.title else "")
        + ("  skipped" if one.skipped else "")
        + (f"  {one.pending} pending" if one.pending else "")
        for one in inputs
    ]
    return _below(lines or ["no inputs yet"])


def doctor_text(found: WorkflowExamination, *, as_json: bool) -> str:
    """What is wrong with the workflows of a store, and what to do about it."""
    if as_json:
        return _json(
            {
                "store": found.place, "schema": found.schema, "schemaKnown": found.schema_known,
                "owner": found.owner, "workflows": found.workflows,
                "findings": [one._asdict() for one in found.findings],
            }
        )  # fmt: skip
    number = len(found.findings)
    lines = [
        f"{number} finding{'s' if number > 1 else ''}"
        if number
        else "The workflows are in good order.",
        f"  store      {printable(found.place)}",
        f"  schema     {found.schema} (newest known: {found.schema_known})",
        f"  owner      {_owner(found)}",
        f"  workflows  {found.workflows}",
    ]
    for one in found.findings:
        where = ": ".join(part for part in (one.workflow, one.subject) if part)
        lines += [
            "",
            printable(f"{one.code}: {where} {one.problem}".replace(":  ", ": ")),
            f"  mend  {printable(one.remedy)}",
        ]
    return "\n".join(lines) + "\n"


def _owner(found: WorkflowExamination) -> str:
    if found.owner != "nobody":
        return printable(found.owner)
    return f"no host: gnomon workflow run --store {printable(found.place)} starts one"


def _overview_lines(one: Overview, now_ms: int, *, in_full: bool) -> str:
    title = f" ({one.title})" if one.title else ""
    lines = [f"{one.name}{title}: {one.status}"]
    if one.issue:
        lines.append(f"  {one.issue}")
    if one.answer:
        lines.append(f"  to go on: {one.answer}")
    when = f", next in {_length(one.next_ms - now_ms)}" if one.next_ms is not None else ""
    if one.schedule:
        lines.append(f"  {'; '.join(one.schedule)}{when}")
    elif when:
        lines.append(f"  Looks again{when.removeprefix(', next')}")
    lines.append(f"  {one.pending} pending" + (f", {one.in_work} in work" if one.in_work else ""))
    if in_full:
        lines += [f"  {two.handler}: {two.text}{_when(two.at_ms, now_ms)}" for two in one.handlers]
    lines += [f"  {to_text(activity.at_ms)}  {activity.text}" for activity in one.recent]
    return _below(lines)


def _when(at_ms: int | None, now_ms: int) -> str:
    return "" if at_ms is None else f"; begins in {_length(at_ms - now_ms)}"


def _length(ms: int) -> str:
    """`3 min`, the way people say it."""
    if ms <= 0:
        return "a moment"
    seconds = -(-ms // 1000)
    if seconds < 90:
        return f"{seconds} s"
    return f"{round(seconds / 60)} min" if seconds < 5_400 else f"{round(seconds / 3600)} h"


def _below(lines: Sequence[str]) -> str:
    """Each line is one, whatever a script, an event or a user has said in it."""
    return "".join(f"{printable(line)}\n" for line in lines)


def _more(number: int | None) -> list[str]:
    return [] if number is None else [f"there are more: --after {number}"]


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"
