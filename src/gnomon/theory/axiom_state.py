"""
What each kind of event means for the axioms: the monitor's memory, and how it changes.

Every method takes one event into account in a time that does not depend on the length of the trace;
only a new list, a stop and a crash look at every task. The formulas of `axioms` say the same
without any memory, and tests hold the two against each other.

Spec: THEORY-3 to THEORY-9.
"""

from collections.abc import Callable, Iterable

from gnomon.theory.budget import WITNESSES, list_bits
from gnomon.theory.environment import Gauge, recurs_for_ever
from gnomon.theory.memory import DUE, NEVER, RETRY, Instant, KnownName, KnownNames, OpenCall
from gnomon.theory.owed import Obligations, WaitingCall, late_call, late_start, why_not_owed
from gnomon.theory.positions import is_valid
from gnomon.theory.verdict import Violation
from gnomon.trace import CallId, Event, Header, Kind, Reinitialize, Witnesses

__all__ = ["AxiomState"]


class AxiomState:
    """The state of all axioms after the events so far."""

    __slots__ = (
        "_broken", "_call_actions", "_calls", "_counts", "_crashes", "_ends", "_faults", "_fresh",
        "_gauge", "_handlers", "_happy", "_header", "_instant", "_is_active", "_is_metered",
        "_is_paid", "_is_stopping", "_is_up", "_known", "_latest", "_minute", "_names",
        "_obligations", "_position", "_quiet", "_running", "_starts", "_stops", "_successes", "_t",
        "_texts", "_unhappy", "_waiting_stops",
    )  # fmt: skip

    def __init__(
        self,
        header: Header | None,
        *,
        witnesses: Witnesses | None,
        is_metered: bool,
        happy: Iterable[str] | None,
    ) -> None:
        self._header = header or Header()
        self._obligations = Obligations(
            witnesses or self._header.witnesses or WITNESSES, is_metered=is_metered
        )
        self._is_metered = is_metered
        self._happy = None if happy is None else frozenset(happy)
        self._position = NEVER
        self._t = 0
        self._latest: Event | None = None
        self._instant = Instant()
        self._fresh: list[Violation] = []
        self._broken: dict[str, tuple[Violation, int]] = {}
        self._unhappy: Violation | None = None
        self._gauge = Gauge()
        self._known = KnownNames()
        self._names = self._known.names
        self._texts: dict[str, bool | None] = {}
        self._calls: dict[CallId, OpenCall] = {}
        self._stops: set[CallId] = set()
        self._waiting_stops: dict[CallId, None] = {}
        self._is_up = self._is_active = self._is_stopping = self._is_paid = False
        self._running = self._minute = self._faults = self._crashes = 0
        self._starts = self._ends = self._successes = self._call_actions = self._quiet = 0
        self._counts = dict.fromkeys(("S3", "S4", "S5", "S6", "L2", "EA7"), 0)
        self._handlers: dict[Kind, Callable[[Event], None]] = {
            Kind.INIT_START: self._init_start,
            Kind.INIT_SUCCESS: self._init_success,
            Kind.INIT_FAILURE: self._init_failure,
            Kind.STOP_START: self._stop_start,
            Kind.STOP_END: self._stop_end,
            Kind.RUN_START: self._run_start,
            Kind.RUN_SUCCESS: self._run_success,
            Kind.RUN_FAILURE: self._run_failure,
            Kind.CRASH: self._crash,
            Kind.MINUTE_START: self._minute_start,
            Kind.DUE: self._due,
            Kind.RETRY_DUE: self._retry_due,
            Kind.COMPUTE: self._compute,
            Kind.FAULT: self._fault,
        }

    # --- runs ---------------------------------------------------------------------------------

    def _run_start(self, event: Event) -> None:
        self._starts += 1
        if self._is_metered:
            self._pay()
        name = self._names.get(event.task)
        if name is None:
            name = self._known.name(event.task)
        task = name.registered
        if (
            task is None
            or name.is_running
            or not self._is_active
            or not (task.pending or name.is_orphaned)
        ):
            self._break("S1", why_not_owed(name, is_active=self._is_active), name.text)
        name.is_orphaned = False
        name.started = task
        name.is_cut_off = False
        if not name.is_running:
            name.is_running = True
            self._running += 1
        if task is not None:
            task.pending = 0
            task.failed_t = NEVER
            if task.succeeded or task.is_trying:
                task.is_doomed = True
            task.is_trying = True
            if task.owed_position >= 0:
                self._obligations.settle(task, event.t)

    def _run_success(self, event: Event) -> None:
        name = self._run_end(event)
        task = name.started
        if task is not None:
            self._successes += 1
            if task.is_doomed:
                self._break("S2", f"{name.text!r} succeeded twice for one due", name.text)
            if task.is_trying:
                task.succeeded = True
            task.is_trying = task.is_doomed = False
        self._owe_if_pending(name)

    def _run_failure(self, event: Event) -> None:
        name = self._run_end(event)
        task = name.started
        if task is not None:
            task.is_trying = task.is_doomed = False
            task.failed_t = event.t
        self._owe_if_pending(name)

    def _run_end(self, event: Event) -> KnownName:
        self._ends += 1
        if self._is_metered:
            self._pay()
        name = self._names.get(event.task)
        if name is None:
            name = self._known.name(event.task)
        if name.is_cut_off:
            text = f"{name.text!r} ended after a crash and had not started since"
            self._break("EA6", text, name.text)
        if name.is_running:
            name.is_running = False
            self._running -= 1
            if not self._running and self._waiting_stops:
                self._await_stops()
        else:
            self._break("EA7", f"{name.text!r} ended and was not running", name.text)
        return name

    # --- pulses -------------------------------------------------------------------------------

    def _minute_start(self, event: Event) -> None:
        self._minute += 1

    def _due(self, event: Event) -> None:
        name = self._names.get(event.task)
        if name is None:
            name = self._known.name(event.task)
        task = name.registered
        if task is None or event.cron:
            self._due_of_several(name, event.cron)
        else:
            task.due_minute = self._minute
            task.pending |= DUE
            task.succeeded = task.is_trying = False
            if self._is_active and task.owed_position < 0 and not name.is_running:
                self._obligations.owe(task, self._position, event.t)

    def _due_of_several(self, name: KnownName, cron: str) -> None:
        """A due of one cron text, or of every task of a name under which none is registered."""
        if cron:
            name.cron_minutes[cron] = self._minute
        else:
            name.due_minute = self._minute
        for task in name.tasks.values():
            if not cron or task.cron == cron:
                task.pending |= DUE
                task.begin_period()
        self._owe_if_pending(name)

    def _retry_due(self, event: Event) -> None:
        """A pulse counts if nothing has started since the failure, and not before its time."""
        name = self._names.get(event.task)
        task = None if name is None else name.registered
        if task is not None and 0 <= task.failed_t <= event.t - task.retry_ms:
            task.pending |= RETRY
            self._owe_if_pending(task.name)

    def _compute(self, event: Event) -> None:
        self._is_paid = True
        self._gauge.spend(event.t, event.n)
        self._obligations.spend(event.t, event.n)
        if event.t > self._obligations.deadline and self._is_metered:
            self._look_for_late()

    def _fault(self, event: Event) -> None:
        self._faults += 1
        if self._happy is not None and event.fault not in self._happy and self._unhappy is None:
            text = f"a fault of the kind {event.fault!r} is outside the happy set"
            self._unhappy = Violation("happy set", self._position, event.t, text)
            self._fresh.append(self._unhappy)

    # --- lifecycle ----------------------------------------------------------------------------

    def _init_start(self, event: Event) -> None:
        self._call()
        self._counts["L2"] += 1
        valid = is_valid(event)
        self._counts["S4"] += not valid
        others = len(self._calls) - (event.call in self._calls)
        self._calls[event.call] = OpenCall(
            event.call, event.registrations, is_valid=valid,
            is_excused=self._is_up or others > 0, faults=self._faults,
        )  # fmt: skip
        self._wait("L2", event.call, list_bits(event.registrations))
        for one in event.registrations:
            if one.cron not in self._texts:
                self._texts[one.cron] = recurs = recurs_for_ever(one.cron)
                if recurs is False:
                    text = f"{one.cron!r}, of {one.name!r}, does not occur for ever"
                    self._break("EA5", text, one.name)

    def _init_success(self, event: Event) -> None:
        call = self._init_end(event)
        if call is not None and not call.is_valid:
            self._break("S4", f"call {event.call!r} was accepted with a list that is not valid")
        self._counts["S6"] += 1
        if self._is_up and self._header.reinitialize is Reinitialize.REJECT:
            self._break("S6", f"call {event.call!r} succeeded while the scheduler was up")
        listed = call.registrations if call else ()
        if listed != self._known.listed:
            self._settle_all()
            self._known.register(listed, self._minute)
            self._obligations.bits = list_bits(listed)
        self._is_up = True
        self._is_active = not self._is_stopping
        for name in self._names.values():
            self._owe_if_pending(name)

    def _init_failure(self, event: Event) -> None:
        call = self._init_end(event)
        if call and call.is_valid and not call.is_excused and call.faults == self._faults:
            self._break("S5", f"call {event.call!r} refused a valid list without an excuse")

    def _init_end(self, event: Event) -> OpenCall | None:
        self._call()
        self._counts["EA7"] += 1
        call = self._calls.pop(event.call, None)
        if call is None:
            self._break("EA7", f"initialize() returned to call {event.call!r}, which is not open")
        else:
            self._counts["S5"] += call.is_valid
        self._obligations.answer("L2", event.call, event.t)
        return call

    def _stop_start(self, event: Event) -> None:
        self._call()
        self._settle_all()
        self._is_active = False
        self._is_stopping = True
        self._stops.add(event.call)
        self._waiting_stops[event.call] = None
        if not self._running:
            self._await_stops()

    def _stop_end(self, event: Event) -> None:
        self._call()
        self._counts["EA7"] += 1
        self._counts["S3"] += 1
        if event.call not in self._stops:
            self._break("EA7", f"stop() returned to call {event.call!r}, which is not open")
        self._stops.discard(event.call)
        if self._running:
            busy = sorted(name.text for name in self._names.values() if name.is_running)
            self._break("S3", f"stop() returned while {busy[0]!r} was running", busy[0])
        self._settle_all()
        self._is_active = self._is_stopping = self._is_up = False
        self._obligations.answer("L3", event.call, event.t)

    def _crash(self, event: Event) -> None:
        self._crashes += 1
        self._settle_all()
        self._known.crash()
        self._running = 0
        self._quiet += len(self._waiting_stops)
        self._waiting_stops.clear()
        self._stops.clear()
        self._calls.clear()
        self._is_active = self._is_stopping = self._is_up = False
        self._obligations.answer("L2", None, event.t)
        self._obligations.answer("L3", None, event.t)

    # --- what several of them share -----------------------------------------------------------

    def _call(self) -> None:
        """An action that is no run."""
        self._call_actions += 1
        if self._is_metered:
            self._pay()

    def _pay(self) -> None:
        """An action: some compute must have been given since the one before."""
        if not self._is_paid:
            self._break("EA2", "an action without any compute since the one before")
        self._is_paid = False

    def _owe_if_pending(self, name: KnownName) -> None:
        task = name.registered
        if (
            task is not None
            and self._is_active
            and not name.is_running
            and task.owed_position < 0
            and (task.pending or name.is_orphaned)
        ):
            self._obligations.owe(task, self._position, self._t)

    def _settle_all(self) -> None:
        """Nothing is active any more, or something else is: no start is owed as before."""
        for name in self._names.values():
            if name.registered is not None and name.registered.owed_position >= 0:
                self._obligations.settle(name.registered, self._t)

    def _wait(self, axiom: str, call: CallId, bits: int) -> None:
        owed = self._obligations
        owed.wait(WaitingCall(axiom, call, self._position, self._t, owed.compute, bits))

    def _await_stops(self) -> None:
        """No callback is running: every stop() that waited for this must return soon."""
        for call in self._waiting_stops:
            self._quiet += 1
            self._wait("L3", call, list_bits(self._known.listed or ()))
        self._waiting_stops.clear()

    def _look_for_late(self) -> None:
        for late in self._obligations.overdue(self._t):
            if isinstance(late, WaitingCall):
                self._break(late.axiom, late_call(late, self._t))
            else:
                self._break("L1", late_start(late, self._t), late.name.text)

    def _look_at_instant(self, event: Event) -> None:
        broken = self._instant.add(event, self._latest)
        if broken is not None and (self._is_metered or broken[0] != "EA1"):
            self._break(*broken)

    def _break(self, axiom: str, explanation: str, task: str = "") -> None:
        violation = Violation(axiom, self._position, self._t, explanation, task)
        first, count = self._broken.get(axiom, (violation, 0))
        self._broken[axiom] = first, count + 1
        self._fresh.append(violation)
