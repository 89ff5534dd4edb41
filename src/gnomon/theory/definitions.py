"""
What the axioms are made of: the definitions of the theory, as formulas over what a trace speaks of.

`Repaired` holds the definitions by which Gnomon judges, `axioms` puts them together. Running, being
quiescent and being interrupted belong to a name; what is due, retried or new belongs to a task as
it is registered, so that a changed cron text or delay makes a new task, which still owes the run
that a crash interrupted.

Spec: THEORY-3 to THEORY-6.
"""

from gnomon.theory.budget import list_bits
from gnomon.theory.formula import (
    Atom,
    Formula,
    Since,
    Until,
    Yesterday,
    all_of,
    any_of,
    hold,
    hold_plus,
)
from gnomon.theory.positions import Domain, by_name
from gnomon.trace import CallId, Registration

__all__ = ["Repaired", "run_end"]

Lists = dict[tuple[Registration, ...], Formula]
Tasks = dict[Registration, Formula]
Names = dict[str, Formula]
Calls = dict[CallId, Formula]

CRASH, MINUTE, FAULT = Atom("Crash"), Atom("Min"), Atom("Fault")
INIT_SUCCESS, STOP_START, STOP_END = Atom("IEs"), Atom("SS"), Atom("SE")


class Repaired:
    """The definitions, one formula for each subject of the trace."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._registration()
        self._lifecycle()
        self._runs()
        self._pending()
        self._obligation()

    def _registration(self) -> None:
        lists, tasks = self.domain.lists, self.domain.tasks
        self.registered: Lists = {
            one: hold_plus(Atom("IEs", one), INIT_SUCCESS) for one in lists
        }  # fmt: skip
        self.is_listed: Tasks = {
            task: any_of(self.registered[one] for one in lists if _holds(one, task))
            for task in tasks
        }
        self.first_coming: Tasks = {task: _rises(self.is_listed[task]) for task in tasks}
        self.first_name: Names = {
            name: _rises(any_of(self.is_listed[task] for task in self.tasks_of(name)))
            for name in self.domain.names
        }

    def _lifecycle(self) -> None:
        lists = self.domain.lists
        self.stopping = hold(STOP_START, STOP_END | CRASH)
        self.up = hold_plus(INIT_SUCCESS, STOP_END | CRASH)
        self.active: Lists = {
            one: hold_plus(
                Atom("IEs", one) & ~self.stopping,
                any_of([STOP_START, STOP_END, CRASH, *(Atom("IEs", o) for o in lists if o != one)]),
            )
            for one in lists
        }
        self.initializing: Calls = {
            call: hold(Atom("IS", call), Atom("IEs", call) | Atom("IEf", call) | CRASH)
            for call in self.domain.init_calls
        }
        self.stop_asked: Calls = {
            call: hold(Atom("SS", call), Atom("SE", call) | CRASH)
            for call in self.domain.stop_calls
        }

    def _runs(self) -> None:
        self.running: Names = {
            name: hold(Atom("RS", name), run_end(name) | CRASH) for name in self.domain.names
        }
        self.quiescent = ~any_of(self.running.values())
        self.orphaned: Names = {
            name: CRASH & Yesterday(self.running[name]) for name in self.domain.names
        }
        self.succeeds: Tasks = {
            task: Atom("RS", task) & Until(~(Atom("REf", task) | CRASH), Atom("REs", task))
            for task in self.domain.tasks
        }
        self.first_quiet: Calls = {
            call: self._first_quiescent_since(Atom("SS", call)) for call in self.domain.stop_calls
        }

    def _first_quiescent_since(self, start: Formula) -> Formula:
        busy = ~self.quiescent
        return self.quiescent & (start | Yesterday(Since(busy, start & busy)))

    def _pending(self) -> None:
        tasks, names = self.domain.tasks, self.domain.names
        idle = {name: ~self.running[name] for name in names}
        cleared = {task: Atom("RS", task) | self.first_coming[task] for task in tasks}
        self.mountain: Tasks = {task: Since(~MINUTE, Atom("Due", task)) for task in tasks}
        self.boot: Tasks = {task: self.first_coming[task] & self.mountain[task] for task in tasks}
        self.retry_due: Tasks = {
            task: Atom("RetryPulse", task)
            & Since(
                ~(cleared[task] | Atom("REf", task)), Atom("REf", task), at_least_ms=task.retry_ms
            )
            for task in tasks
        }
        self.orphan_pending: Names = {
            name: hold(self.orphaned[name], Atom("RS", name) | self.first_name[name])
            for name in names
        }
        self.pending: Tasks = {
            task: any_of([
                hold_plus(Atom("Due", task), cleared[task]) & idle[task.name],
                hold_plus(self.retry_due[task], cleared[task]) & idle[task.name],
                self.orphan_pending[task.name],
                hold_plus(
                    self.boot[task],
                    Atom("RS", task) | (self.first_coming[task] & ~self.mountain[task]),
                ) & idle[task.name],
            ])
            for task in tasks
        }  # fmt: skip
        self.boundary: Tasks = {
            task: any_of([Atom("Due", task), self.boot[task], self.orphaned[task.name]])
            for task in tasks
        }

    def _obligation(self) -> None:
        self.obligation: dict[tuple[tuple[Registration, ...], Registration], Formula] = {
            (one, task): all_of([self.pending[task], self.registered[one], self.active[one]])
            for one in self.domain.lists
            for task in by_name(one).values()
        }
        self.owed: Names = {
            name: any_of(formula for (_, task), formula in self.obligation.items()
                         if task.name == name)
            for name in self.domain.names
        }  # fmt: skip

    def tasks_of(self, name: str) -> list[Registration]:
        return [task for task in self.domain.tasks if task.name == name]

    def sizes(self) -> dict[tuple[Registration, ...], int]:
        """The size of every list, in bits."""
        return {one: list_bits(one) for one in self.domain.lists}


def run_end(subject: str) -> Formula:
    """`RE(x)`: a run of this name ends, well or not."""
    return Atom("REs", subject) | Atom("REf", subject)


def _rises(formula: Formula) -> Formula:
    return formula & ~Yesterday(formula)


def _holds(listed: tuple[Registration, ...], task: Registration) -> bool:
    return by_name(listed).get(task.name) == task
