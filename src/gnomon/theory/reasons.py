"""
Reasons: why an axiom is broken, in a sentence for the reader who looks for the cause.

Spec: THEORY-12.
"""

from gnomon.theory.account import Waiting
from gnomon.theory.memory import Name, Task

__all__ = ["late_call", "late_start", "why_not_owed"]

_ASKED = {
    "L2": "initialize() of call {call!r} has not returned",
    "L3": "stop() of call {call!r} has not returned although nothing is running",
}


def why_not_owed(name: Name, *, is_active: bool) -> str:
    """What was missing when a run started that should not have."""
    started = f"{name.text!r} started"
    if name.registered is None:
        return f"{started} and is not registered"
    if not is_active:
        return f"{started} while the scheduler was not active"
    if name.is_running:
        return f"{started} while its last run was going on"
    return f"{started} and nothing asked for it: no due, retry or interrupted run was pending"


def late_start(task: Task, t: int) -> str:
    """A start that is overdue."""
    since = f"since position {task.owed_position} (t {task.owed_t})"
    return f"{task.name.text!r} is owed {since} and has not started {t - task.owed_t} ms later"


def late_call(waiting: Waiting, t: int) -> str:
    """A call that is overdue."""
    text = _ASKED[waiting.axiom].format(call=waiting.call)
    return f"{text} {t - waiting.t} ms after position {waiting.position}"
