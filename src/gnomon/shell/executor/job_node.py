"""
Nodes that are Jobs of a Kubernetes cluster: actions, each with a template of its name.

A Job is made suspended under a name that follows from the key, the executor writes down its uid,
and only then the Job is let run. So a run that is taken up again finds its Job again, and a Job
that a person deletes is not made a second time. A worker that stops, dies or loses the run leaves
the Job alone; only a run that is ended here ends it.

The template is what stands in a file of a directory; an action names the file.

Spec: EXEC-40 to EXEC-45.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gnomon.core.dag import ActionNode
from gnomon.ports.kubernetes import GROUP, Object
from gnomon.ports.kubernetes_object import (
    CANDIDATE,
    QUEUE_LABEL,
    JobEnd,
    at,
    mapping,
    number,
    things,
)
from gnomon.shell.executor.node import NodeContext, NodeEnd, Record
from gnomon.shell.kubernetes.jobs import KEY, RUN_LABEL, STATE, JobAt, Jobs

__all__ = ["JobNodes", "JobTemplates"]

KEPT_S = 86_400
"""For so long the server keeps a finished Job whose template does not say it."""
GRACE_MS = 30_000
"""What Kubernetes gives a pod to end, where its template does not say it."""

_PREFIX = "gnomon"
_SUFFIXES = (".yaml", ".yml", ".json")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


class JobTemplates:
    """A directory of templates; each is read when it is needed."""

    def __init__(self, directory: Path, read: Callable[[str], object]) -> None:
        """`read` makes a value of the text of a file, and raises a ValueError."""
        self._directory, self._read = directory, read

    def get(self, name: str) -> Object | str:
        """The template of a name, or why there is none."""
        if not set(name) <= _PLAIN or name.startswith("."):
            return f"the action {name} cannot be the name of a template"
        paths = [self._directory / f"{name}{suffix}" for suffix in _SUFFIXES]
        path = next((one for one in paths if one.is_file()), None)
        if path is None:
            return f"there is no template of a Job for the action {name}"
        try:
            found = self._read(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            return f"the template {path.name} cannot be read: {error}"
        if not things(found, "spec", "template", "spec", "containers"):
            return f"the template {path.name} has no spec.template.spec.containers"
        return mapping(found)


class JobNodes:
    """Carries out actions, each as one Job."""

    def __init__(self, jobs: Jobs, templates: JobTemplates) -> None:
        self._jobs, self._templates = jobs, templates

    def objection_to(self, node: ActionNode) -> str | None:
        """Why a node cannot be a Job here; None when it can."""
        template = self._templates.get(node.uses)
        return template if isinstance(template, str) else None

    def grace_ms(self, node: ActionNode) -> int:
        """How long its pods may take to end."""
        pod = mapping(self._templates.get(node.uses), "spec", "template", "spec")
        return number(pod, "terminationGracePeriodSeconds") * 1000 or GRACE_MS

    async def carry_out(self, node: ActionNode, context: NodeContext, record: Record) -> NodeEnd:
        job, wanted = _job_at(context.former), None
        try:
            template = self._templates.get(node.uses)
            if job is None:
                if isinstance(template, str):
                    return NodeEnd(False, template)
                wanted = _job_of(node, context, template)
                made = await self._jobs.make(wanted)
                if isinstance(made, str):
                    return NodeEnd(False, made)
                job = made
                if not await record(json.dumps(job)):
                    return NodeEnd(False, "taken over by another worker")
            await self._jobs.release(job, mapping(template))
            return _told(job, await self._jobs.ended(job))
        except asyncio.CancelledError:
            if context.goes_on():
                raise
            if job is not None:
                await self._jobs.end(job)
            elif wanted is not None:
                await self._jobs.discard(wanted)
            return NodeEnd(False, "ended" if job is None else f"the Job {job.name} was ended")

    async def clear_away(self, process: str) -> bool:
        """End the Job of a node that is not taken up again."""
        job = _job_at(process)
        if job is not None:
            await self._jobs.end(job)
        return True

    async def close(self) -> None:
        await self._jobs.close()


def _job_at(process: str | None) -> JobAt | None:
    """The Job that a record names."""
    if process is None:
        return None
    name, uid = json.loads(process)
    return JobAt(name, uid)


def _told(job: JobAt, end: JobEnd | None) -> NodeEnd:
    if end is None:
        return NodeEnd(False, f"the Job {job.name} was deleted, its end was not seen")
    if end.is_complete:
        return NodeEnd(True, f"the Job {job.name} is complete")
    return NodeEnd(False, f"the Job {job.name} failed ({end.reason})")


def _job_of(node: ActionNode, context: NodeContext, template: Object) -> dict[str, object]:
    """The suspended Job of a node."""
    meta = context.meta
    labels = {
        name: value
        for name, value in mapping(template, "metadata", "labels").items()
        if name != QUEUE_LABEL
    }
    annotations = {
        KEY: context.key,
        STATE: CANDIDATE,
        f"{GROUP}/workflow": meta.workflow_id,
        f"{GROUP}/version": str(meta.version),
        f"{GROUP}/user": meta.user_id,
        f"{GROUP}/schedule": meta.schedule_id,
        f"{GROUP}/scheduled-for": context.scheduled_for,
        f"{GROUP}/node": context.node_id,
    }
    variables = context.environment() | {"GNOMON_WITH": json.dumps(node.given)}
    spec = {"ttlSecondsAfterFinished": KEPT_S, **mapping(template, "spec"), "suspend": True}
    if node.timeout_ms:
        spec["activeDeadlineSeconds"] = -(-node.timeout_ms // 1000)
    pod = mapping(template, "spec", "template")
    pod_spec = {
        **mapping(pod, "spec"),
        **{
            kind: [_with_variables(one, variables) for one in things(pod, "spec", kind)]
            for kind in ("initContainers", "containers")
            if things(pod, "spec", kind)
        },
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": f"{_PREFIX}-{context.name}",
            "labels": labels | {RUN_LABEL: context.name},
            "annotations": {**mapping(template, "metadata", "annotations"), **annotations},
        },
        "spec": {**spec, "template": {**pod, "spec": pod_spec}},
    }


def _with_variables(container: object, variables: Mapping[str, str]) -> Object:
    """The container, told first what it runs for: its own variables may refer to that."""
    own: Sequence[object] = [
        one for one in things(container, "env") if at(one, "name") not in variables
    ]
    told = [{"name": name, "value": value} for name, value in variables.items()]
    return {**mapping(container), "env": [*told, *own]}
