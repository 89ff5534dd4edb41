"""
What is read from the JSON of a Kubernetes server, and what is written into that of a Job.

An object of Kubernetes may be of any shape where no schema keeps it; what is not what it should be
reads as nothing.

A Job that must run at most once is made suspended, as a candidate. The caller writes down its uid,
and only then releases the Job with this uid (`release_job`). Where the template asks that another
program resumes its Jobs (its own `suspend`, or a queue of Kueue), a release says so in the state
and leaves `suspend` alone.

Spec: OPERATOR-13, OPERATOR-16, OPERATOR-23.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.errors import DefinitionError
from gnomon.ports.kubernetes import Answer, Denied, Found, JsonPatch, Kind, NoAnswer, Object

__all__ = [
    "CANDIDATE",
    "QUEUE_LABEL",
    "RELEASED",
    "JobEnd",
    "at",
    "digest",
    "epoch",
    "job_end",
    "mapping",
    "number",
    "release_job",
    "say",
    "text",
    "things",
]

CANDIDATE, RELEASED = "candidate", "released"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"


class JobEnd(NamedTuple):
    """How a Job has ended."""

    is_complete: bool
    reason: str
    ended: int | None
    """In seconds; None where its status does not say."""


def at(one: object, *path: str) -> object:
    """What stands at a path; None where there is nothing."""
    for part in path:
        if not isinstance(one, Mapping):
            return None
        one = one.get(part)
    return one


def mapping(one: object, *path: str) -> Mapping[str, object]:
    found = at(one, *path)
    return found if isinstance(found, Mapping) else {}


def text(one: object, *path: str) -> str:
    found = at(one, *path)
    return found if isinstance(found, str) else ""


def number(one: object, *path: str) -> int:
    found = at(one, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def things(one: object, *path: str) -> list[object]:
    """The entries of a list."""
    found = at(one, *path)
    return list(found) if isinstance(found, list | tuple) else []


def digest(*parts: object) -> str:
    """SHA-256 of parts as JSON with sorted keys: equal values have equal digests."""
    written = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(written.encode(errors="surrogatepass")).hexdigest()


def epoch(written: str) -> int:
    """An instant that an annotation or a status names; 0 for what is none."""
    try:
        return to_epoch(parse_instant(written))
    except DefinitionError:
        return 0


def job_end(job: Object) -> JobEnd | None:
    """How a Job has ended, as its status says; None while it has not."""
    for one in things(job, "status", "conditions"):
        if text(one, "type") in ("Complete", "Failed") and text(one, "status") == "True":
            when = text(job, "status", "completionTime") or text(one, "lastTransitionTime")
            is_complete = text(one, "type") == "Complete"
            return JobEnd(is_complete, text(one, "reason"), epoch(when) or None)
    return None


def release_job(namespace: str, name: str, uid: str, *, state: str, template: Object) -> JsonPatch:
    """
    Let the Job with this uid run, if nothing has released it before.

    `state` is the annotation that says what the Job is, `template` what the Job was made from.
    """
    pointer = _pointer("annotations", state)
    operations: list[dict[str, object]] = [
        {"op": "test", "path": "/metadata/uid", "value": uid},
        {"op": "test", "path": pointer, "value": CANDIDATE},
        {"op": "replace", "path": pointer, "value": RELEASED},
    ]
    queue = at(template, "metadata", "labels", QUEUE_LABEL)
    if queue is not None:
        operations.append({"op": "add", "path": _pointer("labels", QUEUE_LABEL), "value": queue})
    elif at(template, "spec", "suspend") is not True:
        operations.append({"op": "replace", "path": "/spec/suspend", "value": False})
    return JsonPatch(Kind.JOB, namespace, name, operations)


def say(answer: Answer | Found) -> str:
    """What an answer says of why not."""
    match answer:
        case Denied(why, message):
            return f"{why}: {message}"
        case NoAnswer(message):
            return message
        case _:
            return ""


def _pointer(kind: str, key: str) -> str:
    return f"/metadata/{kind}/{key.replace('/', '~1')}"
