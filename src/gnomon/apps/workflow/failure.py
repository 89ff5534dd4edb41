"""
What kind of failure is this, and what follows from it?

The class of a failure decides the status of the run and who acts next. What a script raises that is
no trouble of the network or of a server is a mistake of the script. What a tool raises without
saying more, while it mutates, leaves open whether the mutation was made.

Spec: FAIL-1, FAIL-3 to FAIL-8, FAIL-16, FAIL-18, FAIL-21.
"""

from types import MappingProxyType
from typing import NamedTuple

from gnomon.apps.workflow.fault import Fault, Treated, fault_of
from gnomon.apps.workflow.storable import storable
from gnomon.apps.workflow.traced import traced
from gnomon.errors import WorkflowError
from gnomon.ports.workflow_facts import RunStatus

__all__ = [
    "BACKOFF_MAX_MS",
    "BACKOFF_MS",
    "REPAIRS_MAX",
    "TRIES_UNTOLD",
    "Failure",
    "Fault",
    "backoff_ms",
    "classify",
    "status_of",
]

BACKOFF_MS = 10_000
BACKOFF_MAX_MS = 600_000
TRIES_UNTOLD = 5
"""After so many tries in a row that have failed, a person is told; the host goes on trying."""
REPAIRS_MAX = 3

_TEXT_MAX = 1_000
_NOTHING: Treated = MappingProxyType({})


class Failure(NamedTuple):
    fault: Fault
    error: str
    acted: bool | None = None
    """Whether a tool has acted that failed so; None when that is not known."""
    traceback: str = ""
    """Where it failed, for the author."""


_STATUS = {
    Fault.TRANSIENT: RunStatus.TRANSIENT,
    Fault.LOGIC: RunStatus.LOGIC,
    Fault.AUTH: RunStatus.APPROVAL,
    Fault.PERMISSION: RunStatus.APPROVAL,
    Fault.PRECONDITION: RunStatus.APPROVAL,
    Fault.INTERNAL: RunStatus.INTERNAL,
}


def status_of(fault: Fault) -> RunStatus:
    """The status of a run that failed so; not for a mutation that may have been made."""
    return _STATUS[fault]


def classify(error: BaseException, *, by_tool: bool, treated: Treated = _NOTHING) -> Failure:
    """
    The failure that an exception means.

    `by_tool` when a tool raised it while it mutated; `treated` is what the author has said of
    classes of exceptions.
    """
    if isinstance(error, WorkflowError):
        return Failure(Fault(error.fault), _text(error.reason), error.acted, traced(error))
    fault = fault_of(error, treated) or (Fault.INTERNAL if by_tool else Fault.LOGIC)
    return Failure(fault, _described(error), None, traced(error))


def backoff_ms(tries: int) -> int:
    """How long to wait after so many failures in a row, from 1."""
    return min(BACKOFF_MS << min(tries - 1, 30), BACKOFF_MAX_MS)


def _described(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:  # an exception that cannot be printed is still a failure
        said = ""
    name = type(error).__name__
    return _text(f"{name}: {said}" if said else name)


def _text(said: object) -> str:
    return storable(str(said), most=_TEXT_MAX)
