"""
A job of a krontab file becomes a KronJob, with everything said that a cluster does otherwise.

The timing is taken over as it is. The command runs in a container of the image that the caller
names, which must hold the program; it is tried once, as krond tries it once.

Spec: CRONJOB-8, CRONJOB-9.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from gnomon.apps.krond.execution import GRACE, Execution, SinkKind
from gnomon.apps.krond.job import UNTOLD, Job
from gnomon.apps.operator.definition import DEADLINE, NAME_MAX, read_definition, write_timing
from gnomon.core.civil.duration import short_duration
from gnomon.core.cron.dialect import STANDARD
from gnomon.core.fire_diff import compare_fires
from gnomon.core.recurrence import Boot, Cron, cron
from gnomon.core.schedule import CONCURRENCY
from gnomon.errors import DefinitionError
from gnomon.importers.cronjob import COMPARED_S, Difference
from gnomon.ports.kubernetes import GROUP, VERSION

__all__ = ["ExportedJob", "export_job", "general_changes"]

_DEFAULTS = {"timezone": "UTC", "dst": "vixie", "seed": "stable", "salt": "", "constraints": {},
             "window": {"mode": "after", "duration": "0s"},
             "distribution": {"name": "uniform"}}  # fmt: skip
_DESCRIPTION = "kubernetes.io/description"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedJob:
    """What a job of a krontab file is on a cluster."""

    manifest: Mapping[str, object]
    differences: tuple[Difference, ...]


def general_changes() -> tuple[str, ...]:
    """What is different for every job."""
    return (
        "seeds are drawn from namespace/name, so that a window gives other seconds than krond's",
        "programs and files are those of the image",
        "what a job prints is in the log of its pod: kubectl logs job/NAME",
    )


def export_job(job: Job, *, namespace: str, image: str, now: int) -> ExportedJob:
    """The KronJob for a job; a `DefinitionError` says why there is none."""
    if not image:
        raise DefinitionError(
            "must name the image that holds the program", where="image", got=image,
            hint="write e.g. --image registry.example/tools:1.4",
        )  # fmt: skip
    recurrence = job.schedule.recurrence
    if isinstance(recurrence, Boot):
        reason = "runs at boot, and a KronJob at times only"
        hint = "leave this job to krond, or write a DaemonSet: its pods start with each node"
        raise DefinitionError(reason, where="schedule", got="@reboot", hint=hint)
    if not isinstance(recurrence, Cron):
        raise DefinitionError(
            "is no cron expression, which a KronJob must have", where=f"{job.name}: schedule",
            got=recurrence.describe(), hint="leave this job to krond",
        )  # fmt: skip
    _check_dialect(job, recurrence, now)
    policy = job.schedule.policy
    deadline = policy.deadline or DEADLINE
    words = {overlap: word for word, overlap in CONCURRENCY.items()}
    timing = {
        name: value
        for name, value in write_timing(job.schedule).items()
        if _DEFAULTS.get(name) != value
    }
    spec: dict[str, object] = {
        **timing,
        "policy": {
            "concurrency": words[policy.overlap],
            "deadline": short_duration(deadline),
            **({"suspend": True} if job.suspend else {}),
        },
        "jobTemplate": {"spec": _job_spec(job.execution, image)},
    }
    name = _name(job)
    read_definition(f"{namespace}/{name}", spec)
    metadata: dict[str, object] = {"name": name, "namespace": namespace}
    if job.description:
        metadata["annotations"] = {_DESCRIPTION: job.description}
    return ExportedJob(
        manifest={
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": "KronJob",
            "metadata": metadata,
            "spec": spec,
        },
        differences=tuple(_differences(job, name, deadline)),
    )


def _check_dialect(job: Job, recurrence: Cron, now: int) -> None:
    """A KronJob reads the dialect `standard`; refuse what it would read otherwise."""
    expression = recurrence.expression
    if expression.dialect == STANDARD.name:
        return
    where = f"{job.name}: schedule"
    try:
        other = cron(expression.text, zone=recurrence.zone.name, dst=recurrence.dst.value)
    except DefinitionError as error:
        raise DefinitionError(error.reason, where=where, got=error.got, hint=error.hint) from error
    found = compare_fires(recurrence, other, since=now, until=now + COMPARED_S)
    if found.gone or found.come:
        raise DefinitionError(
            f"means something else in the dialect {STANDARD.name}, which a KronJob reads:"
            f" {len(found.gone)} runs of two years go and {len(found.come)} come",
            where=where, got=expression.text,
            hint="write it so that both dialects read it alike, with one restricted day field",
        )  # fmt: skip


def _name(job: Job) -> str:
    name = job.name.strip("/-").replace("/", "-")
    if not name or len(name) > NAME_MAX:
        raise DefinitionError(
            f"must give a name of 1 to {NAME_MAX} letters, digits and hyphens", where="name",
            got=job.name, hint="give the job a shorter name",
        )  # fmt: skip
    return name


def _job_spec(execution: Execution, image: str) -> dict[str, object]:
    container: dict[str, object] = {
        "name": "job",
        "image": image,
        "command": list(execution.argv),
    }
    if execution.cwd:
        container["workingDir"] = execution.cwd
    if execution.env:
        container["env"] = [{"name": name, "value": value} for name, value in execution.env]
    pod: dict[str, object] = {"restartPolicy": "Never", "containers": [container]}
    if owner := _owner(execution):
        pod["securityContext"] = owner
    if execution.grace != GRACE:
        pod["terminationGracePeriodSeconds"] = ceil(execution.grace.total_seconds())
    spec: dict[str, object] = {"backoffLimit": 0, "template": {"spec": pod}}
    if execution.timeout is not None:
        spec["activeDeadlineSeconds"] = ceil(execution.timeout.total_seconds())
    return spec


def _owner(execution: Execution) -> dict[str, object]:
    """Numbers can be kept; names are of a machine."""
    return {
        field: int(who)
        for field, who in (("runAsUser", execution.user), ("runAsGroup", execution.group))
        if who.isascii() and who.isdigit()
    }


def _differences(job: Job, name: str, deadline: timedelta) -> Iterator[Difference]:
    execution = job.execution
    if name != job.name:
        yield Difference("name", f"{job.name} is called {name}")
    if not job.schedule.policy.deadline:
        yield Difference(
            "deadline",
            f"is 0s, which a cluster cannot keep, as a start takes two calls;"
            f" {short_duration(deadline)} is written",
        )
    for field, who in (("user", execution.user), ("group", execution.group)):
        if who and not (who.isascii() and who.isdigit()):
            yield Difference(field, f"{who} is a name of this machine; set securityContext")
    if execution.umask is not None:
        yield Difference("umask", "is left out: a pod has none")
    if execution.timeout is not None:
        yield Difference("timeout", "counts from the start of the Job, with the pull of the image")
    for field, sink in (("stdout", execution.stdout), ("stderr", execution.stderr)):
        if sink.kind not in (SinkKind.CAPTURE, SinkKind.INHERIT):
            yield Difference(field, f"{sink} is left out: it is in the log of the pod")
    if job.notify != UNTOLD:
        yield Difference(
            "notify", "is left out: have your alerts watch Events or the metrics of the operator"
        )
