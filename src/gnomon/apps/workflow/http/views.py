"""
What requests about workflows hold, and what their answers look like.

Answers have the names of the JSON that the command line prints, such as `nextAt`.

Spec: WHTTP-2, WHTTP-4, WHTTP-9.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from gnomon.apps.workflow.context import ID_MAX
from gnomon.shell.http.openapi import Form

__all__ = [
    "AnswerForm", "DeployForm", "Deployed", "Done", "EventView", "EventsView", "InputView",
    "InputsView", "PublishForm", "Published", "RemoveForm", "ResolveForm", "RollbackForm",
    "RunView", "RunsView", "SkipForm", "VersionView", "VersionsView", "WorkflowView",
    "WorkflowsView",
]  # fmt: skip

SCRIPT_MAX = 1_000_000


class DeployForm(Form):
    """A script: Python that makes one workflow."""

    text: Annotated[str, Field(min_length=1, max_length=SCRIPT_MAX)]


class PublishForm(Form):
    """An event from outside."""

    topic: Annotated[str, Field(min_length=1, max_length=100)]
    id: Annotated[str, Field(min_length=1, max_length=ID_MAX)]
    payload: JsonValue = None


class RollbackForm(Form):
    """Which version is to be in force again; without one, that before the present one."""

    version: Annotated[int, Field(ge=1, le=2**62)] | None = None


class RemoveForm(Form):
    """Whether what still waits is to be dropped."""

    discard: bool = False


class ResolveForm(Form):
    """What became of a mutation."""

    answer: Literal["try-again", "happened", "did-not-happen", "skip"]


class AnswerForm(Form):
    """Which mutation a person has seen; without a key, the one that waits."""

    key: Annotated[str, Field(max_length=500)] = ""


class SkipForm(Form):
    """An input to do nothing more about."""

    input: Annotated[str, Field(min_length=1, max_length=2_000)]


class View(BaseModel):
    """An answer."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )


class Done(View):
    """A command was followed."""

    workflow: str
    command: str
    result: str


class Deployed(View):
    """Which version is in force now."""

    workflow: str
    version: int


class Published(View):
    """Whether the event is new or has changed."""

    workflow: str
    topic: str
    id: str
    changed: bool


class ActivityView(View):
    at: str
    text: str


class HandlerView(View):
    """What a handler waits for."""

    name: str
    waits: str
    next_at: str | None


class WorkflowView(View):
    """A workflow as its owner sees it."""

    name: str
    title: str
    status: Literal["Running", "Idle", "Needs attention", "Stopped"]
    issue: str
    answer: str
    schedule: list[str]
    next_at: str | None
    pending: int
    in_work: int
    host: str
    script: int
    handlers: list[HandlerView]
    recent: list[ActivityView]


class WorkflowsView(View):
    workflows: list[WorkflowView]


class MutationView(View):
    """What was to be done outside, and what became of it."""

    tool: str
    params: JsonValue
    key: str
    title: str
    status: str
    result: JsonValue
    error: str
    reconcile_attempts: int
    next_reconcile_at: str | None
    resolved_by: str
    created_at: str


class AsksView(View):
    """The mutation that a person is asked to approve."""

    tool: str
    params: JsonValue
    key: str
    title: str


class RunView(View):
    """One attempt to run a handler."""

    number: int
    handler: str
    handler_type: str
    script: int
    retry_of: int | None
    phase: str
    status: str
    prepare_result: JsonValue
    mutation_result: JsonValue
    mutation: MutationView | None
    asks: AsksView | None
    error: str
    traceback: str
    note: str
    created_at: str
    updated_at: str


class RunsView(View):
    """Some runs; `next` asks for those that follow, and is null at the end."""

    workflow: str
    runs: list[RunView]
    next: int | None


class VersionView(View):
    """A version of a script."""

    version: int
    in_force: bool
    reason: str
    digest: str
    text_kept: bool
    modules: list[str]
    deployed_at: str


class VersionsView(View):
    """Some versions; `next` asks for those that follow, and is null at the end."""

    workflow: str
    versions: list[VersionView]
    next: int | None


class EventView(View):
    """A message in a topic."""

    number: int
    topic: str
    id: str
    status: str
    payload: JsonValue
    attempt: int
    reserved_by: int | None
    created_by: int | None
    inputs: list[str]
    created_at: str


class EventsView(View):
    """Some events; `next` asks for those that follow, and is null at the end."""

    workflow: str
    events: list[EventView]
    next: int | None


class InputView(View):
    """Something that came in from outside."""

    id: str
    title: str
    skipped: bool
    pending: int
    created_at: str


class InputsView(View):
    workflow: str
    inputs: list[InputView]
