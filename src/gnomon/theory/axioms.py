"""
The axioms: what each means, as text and as a formula, and the definitions that they are made of.

`AXIOMS` is the table that people read; `repaired` gives the formula of each for what a trace speaks
of, with the places where it was put to the test. The axioms with EA are about the surroundings, all
others about the scheduler.

Of the definitions, running, being quiescent and being interrupted belong to a name; what is due,
retried or new belongs to a task as it is registered, so that a changed cron text or delay makes a
new task, which still owes the run that a crash interrupted.

Spec: THEORY-3 to THEORY-6.
"""

from dataclasses import dataclass, field

from gnomon.theory.budget import list_bits
from gnomon.theory.formula import (
    TRUE,
    Atom,
    Eventually,
    Formula,
    Globally,
    Since,
    Until,
    Within,
    Yesterday,
    all_of,
    any_of,
    at_most_one,
    hold,
    hold_plus,
    implies,
)
from gnomon.theory.positions import Domain, by_name
from gnomon.trace import CallId, Registration

__all__ = ["AXIOMS", "Axiom", "System", "repaired", "run_end"]

Lists = dict[tuple[Registration, ...], Formula]
Tasks = dict[Registration, Formula]
Names = dict[str, Formula]
Calls = dict[CallId, Formula]

CRASH, MINUTE, FAULT = Atom("Crash"), Atom("Min"), Atom("Fault")
INIT_SUCCESS, STOP_START, STOP_END = Atom("IEs"), Atom("SS"), Atom("SE")


@dataclass(frozen=True, slots=True)
class Axiom:
    """One axiom: `meaning` for people, `formula` in the notation of the theory."""

    id: str
    title: str
    meaning: str
    formula: str

    @property
    def is_environment(self) -> bool:
        return self.id.startswith("EA")


AXIOMS = (
    Axiom("S1", "start safety", "A run starts only when it is owed.",
          "G(RS(x) -> Y exists R. Obligation(R,x))"),
    Axiom("S2", "conservation of starts", "At most one run succeeds for each due.",
          "AtMostOne(Boundary(x), RSucc(x))"),
    Axiom("S3", "stop waits", "When stop() returns, no callback is running.",
          "G(SE -> Quiescent)"),
    Axiom("S4", "registration soundness", "A list that is not valid is not accepted.",
          "forall R not valid: G !IEs(R)"),
    Axiom("S5", "registration completeness", "A valid list is refused only while the scheduler is "
          "up or is being initialized by another call, or after a fault.",
          "G((IEf(c) & valid(R_c)) -> (at IS(c): Y(Up | exists c'!=c. Initializing(c')) | Fault in "
          "[IS(c),now]))"),
    Axiom("S6", "one initialization", "After a successful initialize() no other succeeds before a "
          "stop or a crash.", "AtMostOne(SE | Crash, IEs)"),
    Axiom("L1", "obligations are met", "A run that is owed starts in time.",
          "G(Obligation(R,x) -> Fcomp[a*|<R,tau>|+b](RS(x) | !Active(R)))"),
    Axiom("L2", "initialize() returns", "initialize() returns in time, with success or failure.",
          "G(IS(c,R) -> Fcomp[a*|<R,tau>|+b](IE(c) | Crash))"),
    Axiom("L3", "stop() returns", "stop() returns in time once no callback is running.",
          "G(FirstQuiescentSince(SS(c)) -> Fcomp[a*|<R,tau>|+b](SE(c) | Crash))"),
    Axiom("EA1", "crashes are frozen", "No compute is given at the instant of a crash.",
          "G(Crash -> Frozen)"),
    Axiom("EA2", "actions take work", "Some compute is given before every action.",
          "G((RE(x) | RS(x) | IS | IE | SS | SE) -> Y(!action S Compute))"),
    Axiom("EA3", "one action at a time", "No two actions happen at the same instant.",
          "G(at most one action per position)"),
    Axiom("EA4", "freezes never cease", "There is always another instant without compute.",
          "G F Frozen"),
    Axiom("EA5", "dues never cease", "A cron text matches without end or never.",
          "(G F Due(x)) | G !Due(x)"),
    Axiom("EA6", "a crash ends all runs", "After a crash a run ends only if it started after it.",
          "G(RE(x) -> ((!Crash) S RS(x)))"),
    Axiom("EA7", "ends follow starts", "A run, an initialize() and a stop() end only after they "
          "began.", "G(RE(x) -> Y Running(x)), G(IE(c) -> Y Initializing(c)), "
          "G(SE(c) -> Y Hold(SS(c), SE(c) | Crash))"),
)  # fmt: skip


@dataclass(slots=True)
class System:
    """
    The axioms for one trace: `laws` must hold, `tests` are where they were put to the test, and
    `promises` are the parts of the laws about the future, which may be open at the end.
    """

    laws: dict[str, Formula] = field(default_factory=dict)
    tests: dict[str, list[Formula]] = field(default_factory=dict)
    promises: dict[str, list[Formula]] = field(default_factory=dict)

    def promise(self, identifier: str, pairs: list[tuple[Formula, Formula]]) -> None:
        """A law of the form: whenever the one, then in time the other."""
        self.promises[identifier] = [implies(*pair) for pair in pairs]
        self.laws[identifier] = Globally(all_of(self.promises[identifier]))


def repaired(domain: Domain) -> System:
    """The axioms by which Gnomon judges; EA5 is decided from the cron texts, not here."""
    means = _Repaired(domain)
    system = System()
    _safety(system, means)
    _liveness(system, means)
    _environment(system, means)
    return system


class _Repaired:
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


def _safety(system: System, means: _Repaired) -> None:
    laws, tests, domain = system.laws, system.tests, means.domain
    laws["S1"] = Globally(
        all_of(implies(Atom("RS", name), Yesterday(means.owed[name])) for name in domain.names)
    )
    tests["S1"] = [Atom("RS")]
    laws["S2"] = all_of(
        at_most_one(means.boundary[task], means.succeeds[task]) for task in domain.tasks
    )
    tests["S2"] = [Atom("REs", task) for task in domain.tasks]
    laws["S3"] = Globally(implies(STOP_END, means.quiescent))
    tests["S3"] = [STOP_END]
    laws["S4"] = Globally(~Atom("IEs", ("invalid",)))
    tests["S4"] = [Atom("IS", ("invalid",))]
    laws["S5"] = Globally(all_of(_completeness(means)))
    tests["S5"] = [Atom("IEs", ("valid",)), Atom("IEf", ("valid",))]
    laws["S6"] = at_most_one(STOP_END | CRASH, INIT_SUCCESS)
    tests["S6"] = [INIT_SUCCESS]


def _completeness(means: _Repaired) -> list[Formula]:
    rules = []
    for call in means.domain.init_calls:
        others = [means.initializing[other] for other in means.domain.init_calls if other != call]
        excused = Atom("IS", call) & Yesterday(any_of([means.up, *others]))
        begun = Atom("IS", call)
        # The end belongs to a call that began, so a fault with no beginning since is in the call.
        excuse = Since(~begun, excused) | Since(~begun, FAULT)
        rules.append(implies(Atom("IEf", ("valid", call)), excuse))
    return rules


def _liveness(system: System, means: _Repaired) -> None:
    bits, domain = means.sizes(), means.domain
    system.promise("L1", [
        (owed, Within(Atom("RS", task) | ~means.active[one], bits[one]))
        for (one, task), owed in means.obligation.items()
    ])  # fmt: skip
    system.tests["L1"] = [
        owed & ~Yesterday(owed) for owed in means.obligation.values()
    ]  # fmt: skip
    system.promise("L2", [
        (
            Atom("IS", call) & Atom("IS", one),
            Within(Atom("IEs", call) | Atom("IEf", call) | CRASH, bits[one]),
        )
        for call in domain.init_calls
        for one in domain.lists
    ])  # fmt: skip
    system.tests["L2"] = [Atom("IS")]
    known = [*means.registered.items(), ((), ~any_of(means.registered.values()))]
    system.promise("L3", [
        (means.first_quiet[call] & listed, Within(Atom("SE", call) | CRASH, bits[one]))
        for call in domain.stop_calls
        for one, listed in known
    ])  # fmt: skip
    system.tests["L3"] = list(means.first_quiet.values())


def _environment(system: System, means: _Repaired) -> None:
    laws, tests, domain = system.laws, system.tests, means.domain
    same, action, compute = Atom("same"), Atom("action"), Atom("Compute")
    laws["EA1"] = Globally(
        all_of([
            implies(CRASH & same, ~Yesterday(Since(same, compute))),
            implies(compute & same, ~Yesterday(Since(same, CRASH))),
        ])
    )  # fmt: skip
    tests["EA1"] = [CRASH]
    laws["EA2"] = Globally(implies(action, Yesterday(Since(~action, compute))))
    tests["EA2"] = [action]
    laws["EA3"] = Globally(implies(action & same, ~Yesterday(Since(same, action))))
    tests["EA3"] = [action]
    system.promise("EA4", [(TRUE, Eventually(~compute))])
    tests["EA4"] = [~compute]
    laws["EA6"] = Globally(
        all_of(implies(run_end(name), ~Since(~Atom("RS", name), CRASH)) for name in domain.names)
    )
    tests["EA6"] = [Atom("REs"), Atom("REf")]
    laws["EA7"] = Globally(all_of(_ends_follow_starts(means)))
    tests["EA7"] = [Atom("REs"), Atom("REf"), Atom("IEs"), Atom("IEf"), Atom("SE")]


def _ends_follow_starts(means: _Repaired) -> list[Formula]:
    domain = means.domain
    return [
        *(implies(run_end(name), Yesterday(means.running[name])) for name in domain.names),
        *(
            implies(Atom("IEs", call) | Atom("IEf", call), Yesterday(means.initializing[call]))
            for call in domain.init_calls
        ),
        *(
            implies(Atom("SE", call), Yesterday(means.stop_asked[call]))
            for call in domain.stop_calls
        ),
    ]


def _rises(formula: Formula) -> Formula:
    return formula & ~Yesterday(formula)


def _holds(listed: tuple[Registration, ...], task: Registration) -> bool:
    return by_name(listed).get(task.name) == task
