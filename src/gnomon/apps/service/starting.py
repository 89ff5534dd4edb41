"""
What is started directly, without a schedule? A version of a DAG, under a key of the caller's.

It becomes a run like any other: a row that the worker finds, whatever happens in between, under the
schedule of such runs, which never runs by itself. So it is seen, explained, ended and recovered as
runs are, and an executor may say how it ends. A DAG that is not there starts nothing.

Spec: START-1 to START-4.
"""

from dataclasses import dataclass
from hashlib import sha256

from gnomon.apps.service.queries import read_instant
from gnomon.apps.service.registrar import Registrar
from gnomon.apps.service.schedule_id import START, direct_id
from gnomon.apps.service.schedule_input import ScheduleInput
from gnomon.core.identifier import ID
from gnomon.ports.dag import DagStore
from gnomon.ports.ledger_rows import Actor

__all__ = ["Started", "Starter"]

NEVER = "1970-01-01T00:00:00Z"
"""The one instant of a schedule that never runs by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """Whether a run is there now, and under which key."""

    started: bool
    idempotency_key: str
    """The key of the run; empty without one."""
    reason: str = ""
    """Why nothing was started."""


class Starter:
    """Starts versions of DAGs that are there."""

    def __init__(self, dags: DagStore, registrar: Registrar) -> None:
        self._dags = dags
        self._registrar = registrar

    async def start(
        self, actor: Actor, workflow_id: str, version: int, user_id: str, scheduled_for: str,
        idempotency_key: str,
    ) -> Started:  # fmt: skip
        """Have a version run now; the same key again starts nothing, and gets the same answer."""
        given = ScheduleInput(
            workflow_id=workflow_id, version=version, user_id=user_id, trigger_id=START,
            schedule_id=direct_id(workflow_id, version, user_id), once=NEVER,
            overlap_policy="allow", catchup_policy="none", jitter_ms=0,
        )  # fmt: skip
        self._registrar.check(actor, given)
        nominal = read_instant(scheduled_for, "scheduled_for")
        if await self._dags.load(user_id, workflow_id, version) is None:
            reason = f"DAG {workflow_id} has no version {version}; deploy it first"
            return Started(started=False, idempotency_key="", reason=reason)
        name = _name(idempotency_key)
        run = await self._registrar.start(actor, given, name=name, nominal=nominal)
        return Started(started=True, idempotency_key=run.idempotency_key)


def _name(key: str) -> str:
    """The key where it can be part of another, else what stands for it."""
    return key if ID.fullmatch(key) else sha256(key.encode()).hexdigest()
