"""
What all drivers of a host share: where facts are, what time it is, and who can be asked.

Spec: HOST-1.
"""

from collections.abc import Callable
from dataclasses import dataclass

from gnomon.apps.workflow.alarm import Alert
from gnomon.apps.workflow.function_calls import HANDLER_MAX_MS, FunctionCalls
from gnomon.apps.workflow.repair import Repairer
from gnomon.apps.workflow.retention import RUNS_KEPT
from gnomon.apps.workflow.script import Library
from gnomon.ports import Clock
from gnomon.ports.workflow_log import WorkflowLog

__all__ = ["HostParts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostParts:
    """What all drivers of a host share."""

    log: WorkflowLog
    clock: Clock
    functions: FunctionCalls
    library: Library
    repairer: Repairer | None = None
    repair_ms: int = HANDLER_MAX_MS
    """How long a repair may take."""
    alert: Alert | None = None
    """Tells a person of a run that waits for one, and of a script that cannot be loaded."""
    keep_ms: int | None = None
    """How long what is over is kept; None for ever."""
    runs_kept: int = RUNS_KEPT
    """How many runs of a workflow are kept, however old they are."""
    draw_token: Callable[[], str]
    """Text that was never drawn before, by any host: what makes a key of a mutation its own."""
    is_stopping: Callable[[], bool]
