"""
Deploying a DAG: its version is kept, and its schedules are what its triggers say.

Everything is read first: a trigger that cannot be meant refuses the whole DAG, with its place
in the document. Then the version is kept, which by itself changes nothing, and then all schedules
of the DAG are changed in one transaction: one for each `schedule_based` trigger, and none for
a trigger that is gone. When the process dies in between, or cannot write, the caller deploys again,
with the same result. A pause stays.

Spec: DEPLOY-1 to DEPLOY-6.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gnomon.apps.service.registrar import Registrar
from gnomon.apps.service.schedule_input import ScheduleInput, read_input, schedule_of
from gnomon.apps.service.settings import Settings
from gnomon.apps.service.views import Page
from gnomon.core.civil.instant import format_instant
from gnomon.core.dag import Dag, Trigger, parse_dag
from gnomon.core.identifier import check_id
from gnomon.errors import ConflictError, DefinitionError, NotFoundError
from gnomon.ports import Clock
from gnomon.ports.dag import DagStore, StoredDag
from gnomon.ports.ledger_rows import Actor

__all__ = ["DagView", "Deployed", "Deployer", "Removed"]

PAGE_MAX = 1_000
_OF_THE_DAG = ("workflow_id", "version", "user_id", "schedule_id", "trigger_id")
"""Fields of a schedule that a trigger does not say itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """What deploying did."""

    user_id: str
    workflow_id: str
    version: int
    digest: str
    created: bool
    """Whether this version was not there before."""
    schedules: list[str]
    """The schedules of its triggers."""
    deleted: list[str]
    """The schedules of triggers that are gone."""
    warnings: list[str]
    """What the author should know of those schedules, with the id in front."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What removing a DAG did."""

    user_id: str
    workflow_id: str
    versions: int
    """How many versions are there no longer."""
    deleted: list[str]
    """The schedules that went with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DagView:
    """One version of a DAG."""

    user_id: str
    workflow_id: str
    version: int
    digest: str
    created_at: str
    dag: Mapping[str, object] = field(default_factory=dict)


class Deployer:
    """Deploys DAGs, and shows those that were."""

    def __init__(
        self, dags: DagStore, registrar: Registrar, clock: Clock, settings: Settings
    ) -> None:
        self._dags = dags
        self._registrar = registrar
        self._clock = clock
        self._settings = settings

    async def deploy(self, actor: Actor, text: str, *, user_id: str | None = None) -> Deployed:
        """Keep a version and have its schedules; all of it, or nothing that a reader would see."""
        owner = _owner(actor, user_id)
        dag = parse_dag(text)
        inputs = [self._read(trigger, dag, owner) for trigger in dag.schedules]
        now_ms = self._clock.now_ms()
        mine = StoredDag(owner, dag.workflow_id, dag.version, dag.digest, dag.text, now_ms)
        was_there = await self._dags.load(owner, dag.workflow_id, dag.version) is not None
        kept = await self._dags.put(mine)
        if kept.digest != dag.digest:
            raise ConflictError(
                f"is version {dag.version} of {dag.workflow_id} with other content, and a version "
                "never changes",
                where="version", got=dag.version,
                hint=f"deploy it as version {await self._free(owner, dag)}",
            )  # fmt: skip
        done = await self._registrar.deploy(
            actor, inputs, workflow_id=dag.workflow_id, user_id=owner
        )
        return Deployed(
            user_id=owner, workflow_id=dag.workflow_id, version=dag.version, digest=dag.digest,
            created=not was_there, schedules=[one.schedule_id for one in done.upserted],
            deleted=list(done.deleted),
            warnings=[f"{one.schedule_id}: {it}" for one in done.upserted for it in one.warnings],
        )  # fmt: skip

    async def remove(
        self, actor: Actor, workflow_id: str, version: int | None = None, *,
        user_id: str | None = None,
    ) -> Removed:  # fmt: skip
        """
        Have a DAG, or one version of it, no longer there, and its schedules with it.

        The schedules go first: whatever happens in between, none starts what is not there.
        """
        owner = (await self.get(actor, workflow_id, version, user_id=user_id)).user_id
        gone = await self._registrar.withdraw(actor, workflow_id, version, user_id=owner)
        versions = await self._dags.remove(
            owner, workflow_id, version=version, now_ms=self._clock.now_ms()
        )
        return Removed(user_id=owner, workflow_id=workflow_id, versions=versions, deleted=gone)

    async def get(
        self, actor: Actor, workflow_id: str, version: int | None = None, *,
        user_id: str | None = None,
    ) -> DagView:  # fmt: skip
        """One version of a DAG, or the newest."""
        owner = _visible(actor, user_id)
        check_id(workflow_id, where="workflow_id")
        if version is None:
            found = await self._dags.newest(owner, workflow_id)
        else:
            found = await self._dags.load(owner, workflow_id, version)
        if found is None:
            name = workflow_id if version is None else f"{workflow_id} version {version}"
            raise NotFoundError(where="workflow_id", got=name)
        return _view(found, whole=True)

    async def versions(
        self, actor: Actor, workflow_id: str, *, before: int | None = None, limit: int = 100,
        user_id: str | None = None,
    ) -> Page[DagView]:  # fmt: skip
        """The versions of a DAG, highest first."""
        owner = _visible(actor, user_id)
        check_id(workflow_id, where="workflow_id")
        found = await self._dags.versions(
            owner, workflow_id, before=before, limit=_limit(limit) + 1
        )
        if not found and before is None:
            raise NotFoundError(where="workflow_id", got=workflow_id)
        shown = found[: _limit(limit)]
        return _page(shown, str(shown[-1].version) if len(found) > len(shown) else None)

    async def list(
        self, actor: Actor, *, after: str | None = None, limit: int = 100,
        user_id: str | None = None,
    ) -> Page[DagView]:  # fmt: skip
        """The newest version of each DAG that the actor may see."""
        owner = actor.tenant if user_id is None else _visible(actor, user_id)
        found = await self._dags.newest_of_each(
            user_id=owner, after=_place(after), limit=_limit(limit) + 1
        )
        shown = found[: _limit(limit)]
        last = f"{shown[-1].user_id}/{shown[-1].workflow_id}" if shown else None
        return _page(shown, last if len(found) > len(shown) else None)

    def _read(self, trigger: Trigger, dag: Dag, owner: str) -> ScheduleInput:
        """What a trigger asks for, when it can be meant."""
        for name in _OF_THE_DAG:
            if name in trigger.fields:
                raise DefinitionError(
                    "is not for a trigger to say", where=f"{trigger.place}.{name}",
                    got=trigger.fields[name], hint="leave it out; `id` names the trigger",
                )  # fmt: skip
        record = {
            **trigger.fields,
            "workflow_id": dag.workflow_id,
            "version": dag.version,
            "user_id": owner,
            "trigger_id": trigger.trigger_id,
        }
        given = read_input(record, where=trigger.place)
        schedule_of(given, self._settings, where=trigger.place)
        return given

    async def _free(self, owner: str, dag: Dag) -> int:
        return await self._dags.highest(owner, dag.workflow_id) + 1


def _owner(actor: Actor, user_id: str | None) -> str:
    """Whose DAGs are meant."""
    wanted = actor.tenant if user_id is None else user_id
    if wanted is None:
        raise DefinitionError(
            "must be given, because the sender acts for every user", where="user_id", got=None,
            hint="write ?user_id=ID behind the path, with the id of the user whose DAG it is",
        )  # fmt: skip
    if not actor.may_see(wanted):
        raise DefinitionError(
            "is another user", where="user_id", got=wanted, hint=f"write {actor.tenant}"
        )
    return check_id(wanted, where="user_id")


def _visible(actor: Actor, user_id: str | None) -> str:
    """Whose DAGs are asked for."""
    if user_id is not None and not actor.may_see(user_id):
        raise NotFoundError(where="user_id", got=user_id)
    return _owner(actor, user_id)


def _place(after: str | None) -> tuple[str, str]:
    if after is None:
        return "", ""
    user, slash, dag = after.partition("/")
    if not slash:
        raise DefinitionError(
            "is no place in the list", where="after", got=after, hint="write what `next` said"
        )
    return user, dag


def _limit(limit: int) -> int:
    return max(1, min(limit, PAGE_MAX - 1))


def _page(shown: Sequence[StoredDag], following: str | None) -> Page[DagView]:
    return Page(items=[_view(one, whole=False) for one in shown], next=following)


def _view(dag: StoredDag, *, whole: bool) -> DagView:
    return DagView(
        user_id=dag.user_id, workflow_id=dag.workflow_id, version=dag.version, digest=dag.digest,
        created_at=format_instant(dag.created_ms // 1000),
        dag=json.loads(dag.text) if whole else {},
    )  # fmt: skip
