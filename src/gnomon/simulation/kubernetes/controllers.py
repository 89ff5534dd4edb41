"""
The controllers beside an API server: one runs Jobs, one collects what lost its owner.

Each looks at what is there and takes what steps there are to take, when the world says so; a world
decides how late. A Job that is not suspended runs for as long as its annotation says; a Job that is
deleted in the foreground goes when its pods have ended, which takes `PODS_END_S` seconds.
"""

from collections.abc import Callable, Mapping

from gnomon.core.civil.instant import format_instant, parse_instant, to_epoch
from gnomon.ports.kubernetes import Delete, Kind, Object, Propagation
from gnomon.simulation.kubernetes.server import FOREGROUND, SimulatedServer, metadata_of

__all__ = ["PODS_END_S", "collect_garbage", "is_finished", "is_suspended", "run_jobs"]

PODS_END_S = 2


def run_jobs(
    server: SimulatedServer, lasts_s: Callable[[Object], int], *,
    fails: Callable[[Object], bool] = lambda job: False,
) -> None:  # fmt: skip
    """One look of the controller of Jobs at each Job."""
    for job in server.objects_of(Kind.JOB):
        metadata, status = metadata_of(job), _status_of(job)
        if "deletionTimestamp" in metadata:
            _end(server, job, status)
        elif is_finished(job):
            _expire(server, job, status)
        elif is_suspended(job):
            if not _has(status, "Suspended"):
                server.set_status(Kind.JOB, job, {"conditions": [_condition("Suspended")]})
        elif "startTime" not in status:
            server.set_status(Kind.JOB, job, {"startTime": format_instant(server.at), "active": 1})
        elif server.at >= _instant(status["startTime"]) + lasts_s(job):
            kind = "Failed" if fails(job) else "Complete"
            now = format_instant(server.at)
            server.set_status(
                Kind.JOB, job,
                {"startTime": status["startTime"], "completionTime": now,
                 "conditions": [_condition(kind)]},
            )  # fmt: skip


def collect_garbage(server: SimulatedServer) -> None:
    """One look of the collector: what has owners, of whom none is there, goes."""
    for kind in (Kind.JOB, Kind.POD):
        for one in server.objects_of(kind):
            metadata = metadata_of(one)
            owners = metadata.get("ownerReferences")
            if not isinstance(owners, list) or not owners or "deletionTimestamp" in metadata:
                continue
            if not any(server.is_alive(owner["uid"]) for owner in owners):
                server.send(
                    Delete(
                        kind, str(metadata["namespace"]), str(metadata["name"]),
                        str(metadata["uid"]), Propagation.FOREGROUND,
                    )
                )  # fmt: skip


def is_suspended(job: Object) -> bool:
    spec = job.get("spec")
    return isinstance(spec, Mapping) and spec.get("suspend") is True


def is_finished(job: Object) -> bool:
    status = _status_of(job)
    return _has(status, "Complete") or _has(status, "Failed")


def _end(server: SimulatedServer, job: Object, status: Mapping[str, object]) -> None:
    """The pods of a Job that is being deleted end, and then it goes."""
    finalizers = metadata_of(job).get("finalizers")
    if finalizers != [FOREGROUND]:
        return
    began = _instant(metadata_of(job)["deletionTimestamp"])
    runs = "startTime" in status and not is_finished(job)
    if not runs or server.at >= began + PODS_END_S:
        server.remove(Kind.JOB, job)


def _expire(server: SimulatedServer, job: Object, status: Mapping[str, object]) -> None:
    spec = job.get("spec")
    ttl = spec.get("ttlSecondsAfterFinished") if isinstance(spec, Mapping) else None
    if not isinstance(ttl, int):
        return
    if server.at >= _instant(status["completionTime"]) + ttl:
        metadata = metadata_of(job)
        server.send(
            Delete(
                Kind.JOB, str(metadata["namespace"]), str(metadata["name"]), str(metadata["uid"]),
                Propagation.FOREGROUND,
            )
        )  # fmt: skip


def _status_of(job: Object) -> Mapping[str, object]:
    status = job.get("status")
    return status if isinstance(status, Mapping) else {}


def _has(status: Mapping[str, object], kind: str) -> bool:
    conditions = status.get("conditions")
    return isinstance(conditions, list) and any(
        one["type"] == kind and one["status"] == "True" for one in conditions
    )


def _condition(kind: str) -> dict[str, object]:
    return {"type": kind, "status": "True"}


def _instant(text: object) -> int:
    return to_epoch(parse_instant(str(text)))
