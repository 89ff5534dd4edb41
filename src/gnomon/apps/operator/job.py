"""
The Job of a period: how it is made, what is read from it, and how it is released.

A Job is made suspended, as a candidate. Its name is for people, and for finding it again after an
answer was lost; what decides is the uid that the status names. Its annotations are enough to
compute the decision once more, on another machine and without this one.

Spec: OPERATOR-13 to OPERATOR-16.
"""

import json
from base64 import b32encode
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple

from gnomon.apps.operator.definition import RESERVED, Definition
from gnomon.apps.operator.status import Opened
from gnomon.core.civil.instant import format_instant
from gnomon.ports.kubernetes import API_VERSION, JsonPatch, Object
from gnomon.ports.kubernetes_object import (
    CANDIDATE,
    QUEUE_LABEL,
    RELEASED,
    at,
    epoch,
    job_end,
    mapping,
    release_job,
    text,
    things,
)

__all__ = ["CANDIDATE", "CHOSEN", "KRONJOB_LABEL", "QUEUE_LABEL", "RELEASED", "TRIES_MAX",
           "UID_LABEL", "JobView", "candidate", "read_job", "release"]  # fmt: skip

KRONJOB_LABEL, UID_LABEL = f"{RESERVED}kronjob", f"{RESERVED}kronjob-uid"
STATE, PERIOD, CHOSEN = f"{RESERVED}state", f"{RESERVED}period", f"{RESERVED}chosen"
SEED_HASH, DECISION = f"{RESERVED}seed-hash", f"{RESERVED}decision"
SPEC_HASH, REVISION = f"{RESERVED}spec-hash", f"{RESERVED}revision"
TRIES_MAX = 4
"""Names that are tried for one period when others have taken them."""

_NAME_KEPT = 35  # with the time and the hash 57 in all; indexed Jobs add six
_HASH_KEPT = 6


class JobView(NamedTuple):
    """A Job as the operator sees it."""

    name: str
    uid: str
    owner: str
    """The uid of the KronJob."""
    period: int
    spec_hash: str
    revision: int
    is_candidate: bool
    is_held: bool
    """Whether `suspend` is still set."""
    is_deleting: bool
    end: str
    """`Complete` or `Failed`; empty while it has not ended."""
    reason: str
    ended: int | None


def candidate(
    kronjob: Object, definition: Definition, opened: Opened, *, revision: int, number_of_try: int
) -> dict[str, object]:
    """The suspended Job of a period."""
    metadata, template = mapping(kronjob, "metadata"), definition.template
    name, uid = text(metadata, "name"), text(metadata, "uid")
    period = format_instant(opened.period)
    spec_hash = definition.spec_hash
    labels = {
        key: value
        for key, value in mapping(template, "metadata", "labels").items() if key != QUEUE_LABEL
    } | {KRONJOB_LABEL: name, UID_LABEL: uid}  # fmt: skip
    annotations = dict(mapping(template, "metadata", "annotations")) | {
        PERIOD: period,
        CHOSEN: format_instant(opened.chosen or opened.period),
        SEED_HASH: opened.seed_hash,
        SPEC_HASH: spec_hash,
        REVISION: str(revision),
        STATE: CANDIDATE,
    }
    decision = definition.schedule.decider.decide(opened.period)
    if decision.seed_hash == opened.seed_hash:  # else an older timing chose it
        annotations[DECISION] = json.dumps(decision.to_json(), sort_keys=True)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": _name(name, uid, opened.period, spec_hash, revision, number_of_try),
            "namespace": text(metadata, "namespace"),
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [
                {
                    "apiVersion": API_VERSION, "kind": "KronJob", "name": name, "uid": uid,
                    "controller": True, "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {**mapping(template, "spec"), "suspend": True},
    }  # fmt: skip


def release(namespace: str, name: str, uid: str, definition: Definition) -> JsonPatch:
    """Let the Job with this uid run, if nothing has released it before."""
    return release_job(namespace, name, uid, state=STATE, template=definition.template)


def read_job(job: Object) -> JobView:
    metadata, annotations = mapping(job, "metadata"), mapping(job, "metadata", "annotations")
    owner = next(
        (text(one, "uid") for one in things(metadata, "ownerReferences")
         if text(one, "kind") == "KronJob" and at(one, "controller") is True),
        "",
    )  # fmt: skip
    end = job_end(job)
    return JobView(
        name=text(metadata, "name"),
        uid=text(metadata, "uid"),
        owner=owner,
        period=epoch(text(annotations, PERIOD)),
        spec_hash=text(annotations, SPEC_HASH),
        revision=_number(text(annotations, REVISION)),
        is_candidate=text(annotations, STATE) == CANDIDATE,
        is_held=at(job, "spec", "suspend") is True,
        is_deleting=at(metadata, "deletionTimestamp") is not None,
        end="" if end is None else "Complete" if end.is_complete else "Failed",
        reason="" if end is None else end.reason,
        ended=None if end is None else end.ended,
    )


def _name(name: str, uid: str, period: int, *parts: object) -> str:
    written = "\n".join(map(str, (uid, period, *parts)))
    short = b32encode(sha256(written.encode()).digest()).decode().lower()[:_HASH_KEPT]
    stamp = datetime.fromtimestamp(period, UTC).strftime("%Y%m%d%H%M%S")
    return f"{name[:_NAME_KEPT].rstrip('-.')}-{stamp}-{short}"


def _number(written: str) -> int:
    return int(written) if written.isascii() and written.isdigit() else 0
