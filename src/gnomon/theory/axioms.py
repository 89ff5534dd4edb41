"""
The axioms: what each means, as text and as a formula.

`AXIOMS` is the table that people read; `repaired` gives the formula of each for what a trace speaks
of, with the places where it was put to the test. The axioms with EA are about the surroundings, all
others about the scheduler.

Spec: THEORY-3 to THEORY-6.
"""

from dataclasses import dataclass, field

from gnomon.theory.definitions import CRASH, FAULT, INIT_SUCCESS, STOP_END, Repaired, run_end
from gnomon.theory.formula import (
    TRUE,
    Atom,
    Eventually,
    Formula,
    Globally,
    Since,
    Within,
    Yesterday,
    all_of,
    any_of,
    at_most_one,
    implies,
)
from gnomon.theory.positions import Domain

__all__ = ["AXIOMS", "Axiom", "System", "repaired"]


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
    means = Repaired(domain)
    system = System()
    _safety(system, means)
    _liveness(system, means)
    _environment(system, means)
    return system


def _safety(system: System, means: Repaired) -> None:
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


def _completeness(means: Repaired) -> list[Formula]:
    rules = []
    for call in means.domain.init_calls:
        others = [means.initializing[other] for other in means.domain.init_calls if other != call]
        excused = Atom("IS", call) & Yesterday(any_of([means.up, *others]))
        begun = Atom("IS", call)
        # The end belongs to a call that began, so a fault with no beginning since is in the call.
        excuse = Since(~begun, excused) | Since(~begun, FAULT)
        rules.append(implies(Atom("IEf", ("valid", call)), excuse))
    return rules


def _liveness(system: System, means: Repaired) -> None:
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


def _environment(system: System, means: Repaired) -> None:
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


def _ends_follow_starts(means: Repaired) -> list[Formula]:
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
