"""
What `kubectl explain kronjob.status` says, field by field.

Only the operator writes a status, so that this is description; nothing in it is pruned.

Spec: OPERATOR-28.
"""

__all__ = ["status_schema"]

Schema = dict[str, object]

_KEPT = {"x-kubernetes-preserve-unknown-fields": True}


def status_schema() -> Schema:
    return _object(
        "What became of the periods, and when the next one comes. Only the operator writes it; an "
        "edit by hand is noticed and repaired, and what was due until then does not run any more.",
        **_position(),
        **_outcomes(),
    )


def _position() -> dict[str, Schema]:
    """Which periods are handled, and what is active."""
    return {
        "seal": _text("A digest of the rest, by which an edit by hand is noticed."),
        "observedGeneration": _number("The newest generation of the spec that was taken up."),
        "definition": _object(
            "The timing in force, in the words of the spec.",
            revision=_number("Greater for each timing that comes into force."),
            since=_text("When it came into force."),
        ),
        "cursor": _text("Every period up to here is handled, but for those in open."),
        "open": _list(
            "Periods that had opened under a timing that an edit replaced.",
            period=_text("The nominal instant."),
            chosen=_text("When it is to run."),
            seedHash=_text("What the choice was drawn from."),
        ),
        "ahead": {
            "type": "array", "items": {"type": "string"},
            "description": "Periods that are handled and not before the cursor, or hardly.",
        },
        "lapsed": _object(
            "Periods that an edit made during a suspension left too late; missed when it ends.",
            **{"from": _text("The first."), "to": _text("The last.")},
            count=_number("How many."),
        ),
        "active": _list(
            "Jobs that were claimed and have not ended.",
            job=_text("The name of the Job."),
            uid=_text("Its uid: what decides."),
            period=_text("The period it runs for."),
            void={
                "type": "boolean",
                "description": "Found by a repair before its release; it is deleted.",
            },
        ),
    }  # fmt: skip


def _outcomes() -> dict[str, Schema]:
    """What became of periods, and what holds now."""
    return {
        "activeCount": _number("How many Jobs are active."),
        "recent": _records("What became of the newest periods, the newest first."),
        "last": _object("The newest outcome, in short.", **_SHORT),
        "next": _object(
            "The next period.",
            period=_text("Its nominal instant."),
            chosen=_text("The second at which it will run."),
        ),
        "lastExecuted": _record("The newest period that was executed."),
        "lastMissed": _record("The newest period that was missed."),
        "lastSkipped": _record("The newest period that was skipped."),
        "lastUnschedulable": _record("The newest period for which no second was allowed."),
        "totals": _object(
            "How many periods had each outcome.",
            executed=_number("Executed."), skipped=_number("Skipped."),
            missed=_number("Missed."), unschedulable=_number("Unschedulable."),
        ),
        "conditions": _list(
            "What holds now.",
            type=_text("Ready, InvalidSpec, Suspended, ClockSkew, NameTaken, StatusRepaired or "
                       "LaunchFailing."),
            status=_text("True or False."),
            reason=_text("Why, in a word."),
            message=_text("Why, and what to do."),
            lastTransitionTime=_text("Since when."),
            observedGeneration=_number("Of which generation it is said."),
        ),
    }  # fmt: skip


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _number(description: str) -> Schema:
    return {"type": "integer", "format": "int64", "description": description}


def _object(description: str, **properties: Schema) -> Schema:
    return {"type": "object", "description": description, "properties": properties, **_KEPT}


def _list(description: str, **properties: Schema) -> Schema:
    return {
        "type": "array",
        "description": description,
        "items": {"type": "object", "properties": properties, **_KEPT},
    }


_SHORT: dict[str, Schema] = {
    "period": _text("The nominal instant of the period."),
    "outcome": _text("executed, skipped, missed or unschedulable."),
    "reason": _text("Why it did not run, or why its Job failed."),
    "result": _text("How its Job ended: Succeeded, Failed, Deleted or Replaced."),
}
_RECORD: dict[str, Schema] = {
    **_SHORT,
    "at": _text("When it was recorded."),
    "chosen": _text("The second that was chosen in its window."),
    "seedHash": _text("A digest from which the chosen second was drawn."),
    "job": _text("The name of its Job."),
    "uid": _text("The uid of its Job."),
    "phase": _text("Starting until its Job has ended, then Completed."),
    "ended": _text("When its Job ended."),
    "from": _text("Of several periods at once: the first."),
    "to": _text("Of several periods at once: the last."),
    "count": _number("Of several periods at once: how many; 0 when that is unknown."),
}


def _record(description: str) -> Schema:
    return _object(description, **_RECORD)


def _records(description: str) -> Schema:
    return _list(description, **_RECORD)
