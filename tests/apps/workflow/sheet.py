"""A sheet outside, to which a consumer appends what comes in, and which counts."""

from collections.abc import Callable

from gnomon.apps.workflow.context import Context, Outcome, Prepared
from gnomon.apps.workflow.definition import Consumer, Workflow
from gnomon.apps.workflow.handler_calls import Call
from tests.apps.workflow.stage import simple

__all__ = ["Outside", "failing", "shop"]


class Outside:
    """A system outside, which counts what was done to it."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.asked: list[float] = []
        self.outcomes: list[Outcome] = []


def failing(outside: Outside, error: Exception, *, times: int = 1) -> Callable[[Call], None]:
    """A tool that fails so many times, and counts each of its calls."""

    def append(call: Call) -> None:
        outside.made.append(call.key)
        if len(outside.made) <= times:
            raise error

    return append


def shop(
    outside: Outside, tool: Callable[[Call], object], *, approval: bool = False,
    reconcile: Callable[[Call], object] | None = None,
) -> tuple[Workflow, Consumer]:  # fmt: skip
    """Each event is appended outside by the tool."""
    orders, sheet = simple()

    def next_step(ctx: Context, prepared: Prepared, outcome: Outcome) -> None:
        if prepared.data:
            outside.outcomes.append(outcome)

    sheet.mutate(lambda ctx, prepared: ctx.mutate("append", prepared.data, title="Append rows"))
    sheet.next(next_step)
    made = orders.tool("append", approval=approval)(tool)
    made.on_reconcile = reconcile
    return orders, sheet
