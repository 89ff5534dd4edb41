"""
The axioms as they were printed, for comparison.

These are the formulas of the original text, defects included: some accuse a scheduler that does the
right thing, one accuses the surroundings of a second crash, and some can never fail. Where the text
leaves a symbol open, it is read as in the repaired theory: an instant is frozen when it has no
compute, and an action is unfrozen when some was given since the action before.
`docs/explanation/theory.md` lists the defects.

Spec: THEORY-17.
"""

from gnomon.theory.axioms import CRASH, INIT_SUCCESS, MINUTE, STOP_END, STOP_START, System, run_end
from gnomon.theory.budget import list_bits
from gnomon.theory.formula import (
    TRUE,
    Atom,
    Eventually,
    Formula,
    Globally,
    Not,
    Since,
    Until,
    Within,
    Yesterday,
    all_of,
    any_of,
    at_most_one,
    implies,
    once,
)
from gnomon.theory.positions import Domain, by_name
from gnomon.trace import Registration

__all__ = ["as_printed"]

List = tuple[Registration, ...]
Tasks = dict[Registration, Formula]


def as_printed(domain: Domain) -> System:
    """The printed axioms for what a trace speaks of."""
    means = _Printed(domain)
    system = System()
    _safety(system, means)
    _liveness(system, means)
    _environment(system, means)
    return system


def hold(begins: Formula, ends: Formula) -> Formula:
    """As printed: where both happen it is false, and true one position later."""
    return Since(Not(ends), begins) & ~ends


class _Printed:
    """The printed definitions."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        lists, names = domain.lists, domain.names
        self.registered = {one: hold(Atom("IEs", one), INIT_SUCCESS) for one in lists}
        self.stops = {one: STOP_START & self.registered[one] for one in lists}
        self.active = {
            one: hold(Atom("IEs", one), self.stops[one] | CRASH | INIT_SUCCESS) for one in lists
        }
        self.running = {name: hold(Atom("RS", name), run_end(name) | CRASH) for name in names}
        self.quiescent = ~any_of(self.running.values())
        self.initializing = {
            one: hold(Atom("IS", one), Atom("IEs", one) | Atom("IEf", one) | CRASH) for one in lists
        }
        listed = {
            name: [self.registered[one] for one in lists if name in by_name(one)] for name in names
        }
        self.first_coming = {
            name: any_of(listed[name]) & ~any_of(map(Yesterday, listed[name])) for name in names
        }
        self.pending: Tasks = {task: self._pending(task) for task in domain.tasks}
        self.obligation = {
            (one, task): all_of([self.pending[task], self.registered[one], self.active[one]])
            for one in lists
            for task in by_name(one).values()
        }

    def first_quiescent_since(self, start: Formula) -> Formula:
        return self.quiescent & Since(~self.quiescent, start)

    def _pending(self, task: Registration) -> Formula:
        due, retry = Atom("Due", task), Atom("RetryPulse", task)
        first, idle = self.first_coming[task.name], ~self.running[task.name]
        cleared = Atom("RS", task) | first
        minute = any_of([MINUTE, *(Atom("Due", other) for other in self.domain.tasks)])
        orphaned = CRASH & hold(Atom("RS", task.name), run_end(task.name))
        return any_of([
            (hold(due, cleared) | due) & idle,
            (hold(retry, cleared) | retry) & idle,
            hold(orphaned, cleared),
            first & Since(~minute, due) & idle,
        ])  # fmt: skip


def _safety(system: System, means: _Printed) -> None:
    laws, tests, domain = system.laws, system.tests, means.domain
    owed = {
        name: any_of(one for (_, task), one in means.obligation.items() if task.name == name)
        for name in domain.names
    }
    laws["S1"] = Globally(
        all_of(implies(Atom("RS", name), Yesterday(owed[name])) for name in domain.names)
    )
    laws["S2"] = all_of(
        at_most_one(Atom("Due", task), _succeeds(task)) for task in domain.tasks
    )  # fmt: skip
    laws["S3"] = Globally(
        all_of(implies(STOP_END, ~means.running[name]) for name in domain.names)
    )  # fmt: skip
    laws["S4"] = Globally(~Atom("IEs", ("invalid",)))
    concurrent = Yesterday(any_of(means.initializing.values()))
    laws["S5"] = Globally(
        all_of(implies(_fails(one) & Atom("IS", ("valid",)), concurrent) for one in domain.lists)
    )
    laws["S6"] = at_most_one(INIT_SUCCESS, STOP_END | CRASH)
    tests["S1"] = [Atom("RS")]
    tests["S2"] = [Atom("REs", task) for task in domain.tasks]
    tests["S3"] = [STOP_END]
    tests["S4"] = [Atom("IS", ("invalid",))]
    tests["S5"] = [_fails(one) & Atom("IS", ("valid",)) for one in domain.lists]
    tests["S6"] = [STOP_END | CRASH]


def _succeeds(task: Registration) -> Formula:
    return Atom("RS", task) & Until(~(Atom("REf", task) | CRASH), Atom("REs", task))


def _fails(one: List) -> Formula:
    return Atom("IS", one) & Until(~Atom("IEs", one), Atom("IEf", one))


def _liveness(system: System, means: _Printed) -> None:
    lists = means.domain.lists
    bits = {one: list_bits(one) for one in lists}
    system.promise("L1", [
        (owed, Within(Atom("RS", task) | ~means.active[one], bits[one]))
        for (one, task), owed in means.obligation.items()
    ])  # fmt: skip
    system.tests["L1"] = [owed & ~Yesterday(owed) for owed in means.obligation.values()]
    system.promise("L2", [
        (Atom("IS", one), Within(Atom("IEs", one) | Atom("IEf", one) | CRASH, bits[one]))
        for one in lists
    ])  # fmt: skip
    system.tests["L2"] = [Atom("IS")]
    quiet = {one: means.first_quiescent_since(means.stops[one]) for one in lists}
    system.promise("L3", [
        (
            once(means.stops[one]) & quiet[one],
            Within((STOP_END & means.registered[one]) | CRASH, bits[one]),
        )
        for one in lists
    ])  # fmt: skip
    system.tests["L3"] = list(quiet.values())


def _environment(system: System, means: _Printed) -> None:
    laws, tests, names = system.laws, system.tests, means.domain.names
    action, compute = Atom("action"), Atom("Compute")
    begun, ended = Atom("IS"), Atom("IEs") | Atom("IEf")
    laws["EA1"] = Globally(implies(CRASH, ~compute))
    laws["EA2"] = Globally(implies(action, compute | Yesterday(Since(~action, compute))))
    laws["EA3"] = Globally(~Atom("crowded"))
    system.promise("EA4", [(TRUE, Eventually(~compute))])
    laws["EA6"] = Globally(all_of(
        implies(CRASH, Until(~run_end(name), Atom("RS", name), is_weak=True)) for name in names
    ))  # fmt: skip
    laws["EA7"] = Globally(all_of([
        *(implies(run_end(name), Yesterday(means.running[name])) for name in names),
        implies(ended, Yesterday(hold(begun, ended | CRASH))),
        implies(STOP_END, Yesterday(hold(STOP_START, STOP_END | CRASH))),
    ]))  # fmt: skip
    tests["EA1"] = [CRASH]
    tests["EA2"] = tests["EA3"] = [action]
    tests["EA4"] = [~compute]
    tests["EA6"] = [CRASH]
    tests["EA7"] = [Atom("REs"), Atom("REf"), Atom("IEs"), Atom("IEf"), STOP_END]
