"""
DAGs: deploy a version, look at what was deployed, and remove it.

Deploying keeps the DAG under its id and version, for ever as it is, and registers its
`schedule_based` triggers in the same breath. A DAG belongs to one user.

Spec: HTTP-25, HTTP-39.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from gnomon.apps.service.dag_deployment import DagView, Deployed, Removed
from gnomon.apps.service.http.forms import DagForm, Id
from gnomon.apps.service.http.parts import PartsOf
from gnomon.apps.service.http.schedules import Cursor, Limit
from gnomon.apps.service.views import Page
from gnomon.shell.http.authentication import Reader, Writer
from gnomon.shell.http.openapi import problems

__all__ = ["router"]

router = APIRouter(tags=["dags"])

DagPath = Annotated[Id, Path(description="The id of a DAG.")]
UserQuery = Annotated[
    Id | None,
    Query(
        description="Whose DAG; left out, the sender's own. A sender who acts for every user "
        "must name one, except in a list."
    ),
]
VersionQuery = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


@router.post("/dags", status_code=201, responses=problems(409))
async def deploy_dag(
    form: DagForm,
    request: Request,
    response: Response,
    actor: Writer,
    parts: PartsOf,
    user_id: UserQuery = None,
) -> Deployed:
    """Deploy a version of a DAG, and register its schedules; 200 when it was there."""
    text = (await request.body()).decode("utf-8")
    found = await parts.deployer.deploy(actor, text, user_id=user_id)
    if not found.created:
        response.status_code = 200
    return found


@router.get("/dags", responses=problems(404))
async def list_dags(
    actor: Reader,
    parts: PartsOf,
    user_id: UserQuery = None,
    after: Cursor = None,
    limit: Limit = 100,
) -> Page[DagView]:
    """The newest version of each DAG."""
    return await parts.deployer.list(actor, after=after, limit=limit, user_id=user_id)


@router.get("/dags/{workflow_id}", responses=problems(404))
async def get_dag(
    workflow_id: DagPath,
    actor: Reader,
    parts: PartsOf,
    version: VersionQuery = None,
    user_id: UserQuery = None,
) -> DagView:
    """One version of a DAG; the newest when none is named."""
    return await parts.deployer.get(actor, workflow_id, version, user_id=user_id)


@router.delete("/dags/{workflow_id}", responses=problems(404, 409))
async def remove_dag(
    workflow_id: DagPath,
    actor: Writer,
    parts: PartsOf,
    version: VersionQuery = None,
    user_id: UserQuery = None,
) -> Removed:
    """Remove a DAG with the schedules of its triggers, or one version that none starts."""
    return await parts.deployer.remove(actor, workflow_id, version, user_id=user_id)


@router.get("/dags/{workflow_id}/versions", responses=problems(404))
async def list_versions(
    workflow_id: DagPath,
    actor: Reader,
    parts: PartsOf,
    before: VersionQuery = None,
    limit: Limit = 100,
    user_id: UserQuery = None,
) -> Page[DagView]:
    """The versions of a DAG, newest first."""
    return await parts.deployer.versions(
        actor, workflow_id, before=before, limit=limit, user_id=user_id
    )
