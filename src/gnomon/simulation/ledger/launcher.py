"""
What runs are in a simulated world: entries in the record of effects, with a beginning and an end.

The record of effects is the outside world's own: it does not come from the ledger, and it stays
when a worker dies. There are four ways to launch, after those that exist:

- `function`: a run begins with `launch` and dies with its worker.
- `process`: a run is made ready by `launch`, begins with `release`, and lives on when its worker
  dies; a later worker may adopt it. What was only made ready dies with its worker.
- `keyed`: a run begins with `launch`, elsewhere, and the executor knows keys: a second launch under
  the same key joins the first run, or hears how it ended, and anybody can have it ended. Sometimes
  it does not answer, and may have begun the run.
- `elsewhere`: the executor of the service, which the real run launcher asks. It answers when it
  likes, and calls back when a run is over, perhaps before it has answered.

Now and then nothing at all can be started for a while, as for want of descriptors.

Spec: SIM-3.
"""

import asyncio
from collections.abc import Callable, Sequence
from enum import StrEnum

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports import Claim, Ended, Failed, Launched, Strained
from gnomon.ports.executor import Accepted, Answer, Feedback, Meta, Refused, Unanswered
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.gate import Gate
from gnomon.simulation.ledger.onlooker import LedgerNature
from gnomon.simulation.ledger.record import Effect

__all__ = ["Outside", "SimulatedExecutor", "SimulatedLauncher", "Way"]

STRAIN_MS = 45_000
"""How long a worker lacks something at a time."""
_ADOPTED_FENCE = 0  # the ledger gives a new one, which a launcher is not told
_UNANSWERED_MAX = 2  # tries, so that a world comes to rest in time
_ANSWERS_MS = (0, 0, 300, 4_000)
"""How long an executor elsewhere takes to answer."""


class Way(StrEnum):
    """How runs come about."""

    FUNCTION = "function"
    PROCESS = "process"
    KEYED = "keyed"
    ELSEWHERE = "elsewhere"


class Outside:
    """Everything that runs, of all workers; a run is known by the id that it was given."""

    def __init__(
        self, nature: LedgerNature, seed: int, way: Way, wall_ms: Callable[[], int],
        lengths_ms: Sequence[int], ends_ms: Sequence[int],
    ) -> None:  # fmt: skip
        self.way = way
        self._lengths_ms, self.ends_ms = lengths_ms, ends_ms
        self.seed = seed
        self.effects = nature.record.effects
        self.nature = nature
        nature.record.anybody_ends = way in (Way.KEYED, Way.ELSEWHERE)
        self.wall_ms = wall_ms
        self.listeners: dict[str, list[SimulatedLauncher]] = {}
        """Who hears of the end of a run: all who started, joined or adopted it."""
        self._going_on: dict[str, tuple[Effect, asyncio.TimerHandle]] = {}

    def begin(self, claim: Claim, run_id: str, listener: "SimulatedLauncher") -> None:
        self.listeners[run_id] = [listener]
        self.begin_for(
            claim.schedule.schedule_id,
            claim.nominal,
            claim.key,
            claim.launches,
            claim.fence,
            listener.gate.worker,
            run_id,
        )

    def begin_for(
        self,
        schedule_id: str,
        nominal: int,
        key: str,
        launches: int,
        fence: int,
        worker: str,
        run_id: str,
        params: str | None = None,
    ) -> None:
        dice = Dice(self.seed, "run", key, launches)
        effect = Effect(
            schedule_id=schedule_id, nominal=nominal, key=key, launches=launches, fence=fence,
            worker=worker, run_id=run_id, no=self.nature.record.next_no(),
            began_at=self.nature.at(), began_ms=self.wall_ms(), success=dice.chance(85),
            params=params,
        )  # fmt: skip
        self.effects.append(effect)
        length_ms = dice.pick(self._lengths_ms)
        timer = self.nature.later(length_ms, lambda: self.over(run_id, "by itself"))
        self._going_on[run_id] = effect, timer

    def is_going_on(self, run_id: str) -> bool:
        return run_id in self._going_on

    def latest(self, key: str) -> Effect | None:
        return next((effect for effect in reversed(self.effects) if effect.key == key), None)

    def over(self, run_id: str, how: str, reason: Reason | None = None) -> None:
        """A run ends; its listeners hear of it."""
        effect, timer = self._going_on.pop(run_id)
        timer.cancel()
        effect.ended_at, effect.how = self.nature.at(), how
        effect.ended_no = self.nature.record.next_no()
        if how != "by itself":
            effect.success = False
        for listener in self.listeners.pop(run_id, ()):
            listener.hear(effect, reason)
        if self.way is Way.ELSEWHERE and how == "by itself":
            self.nature.call_back(effect)

    def worker_died(self, launcher: "SimulatedLauncher") -> None:
        for run_id in self.heard_by(launcher):
            self.listeners[run_id].remove(launcher)
            if self.way is Way.FUNCTION:
                self.over(run_id, "died with its worker")
            else:
                self.nature.record.hit("run went on without its worker")

    def heard_by(self, launcher: "SimulatedLauncher") -> list[str]:
        return [run_id for run_id, heard in self.listeners.items() if launcher in heard]


class SimulatedExecutor:
    """An executor elsewhere, as the run launcher of one worker reaches it."""

    detached = True

    def __init__(self, gate: Gate[LedgerNature], outside: Outside) -> None:
        self._gate, self._outside = gate, outside

    async def run(self, dag_json: str, meta: Meta) -> Answer:
        return await self._gate.call("launch", lambda: self._run(meta), stores=False)

    async def feedback(self) -> Sequence[Feedback]:
        await asyncio.Event().wait()
        return ()

    async def adopt(self, key: str, run_id: str) -> bool:
        return False

    async def kill(self, key: str, reason: Reason) -> bool | None:
        return await self._gate.call("end", lambda: self._kill(key, reason), stores=False)

    async def drain(self, *, grace_ms: int) -> None:
        """Its runs go on."""

    async def close(self) -> None:
        """Nothing is open."""

    async def _run(self, meta: Meta) -> Answer:
        record, outside, worker = self._gate.nature.record, self._outside, self._gate.worker
        key, fence, attempt = meta.idempotency_key, meta.fence, meta.attempt
        record.launched[worker, key, fence] = record.next_no()
        dice = Dice(outside.seed, "elsewhere", key, attempt)
        if dice.chance(12):
            record.hit("launch refused elsewhere")
            return Refused("no", permanent=dice.chance(20))
        is_silent = dice.chance(15) and attempt <= _UNANSWERED_MAX
        former = outside.latest(key)
        run_id = f"{key[-12:]}.{fence}" if former is None else former.run_id
        if former is None and not (is_silent and dice.chance(50)):
            outside.begin_for(
                meta.schedule_id,
                meta.scheduled_for,
                key,
                attempt,
                fence,
                worker,
                run_id,
                meta.params,
            )
        if answers_ms := dice.pick(_ANSWERS_MS):
            await asyncio.sleep(answers_ms / 1000)
        if is_silent:
            return Unanswered("no answer")
        if not outside.is_going_on(run_id):
            record.hit("executor called back before it answered")
            if former is not None:
                outside.nature.call_back(former)  # it is asked again about what is over
        return Accepted(run_id)

    async def _kill(self, key: str, reason: Reason) -> bool:
        former, outside = self._outside.latest(key), self._outside
        if former is None:
            self._gate.nature.record.unbegun.add(key)
        if former is None or not outside.is_going_on(former.run_id):
            return True
        if Dice(outside.seed, "end", former.run_id, len(outside.effects)).chance(10):
            return False
        self._gate.nature.record.hit("run elsewhere ended by a worker")
        outside.over(former.run_id, "ended by its worker", reason)
        return True


class SimulatedLauncher:
    """The launcher of one worker."""

    def __init__(self, gate: Gate[LedgerNature], outside: Outside) -> None:
        self.gate = gate
        self.outside = outside
        self._runs: dict[str, tuple[str, int]] = {}
        """The id and the fencing number of each run, by its key."""
        self._ready: dict[str, Claim] = {}
        self._ends: list[Ended] = []
        self._some_ended = asyncio.Event()

    @property
    def confirms_start(self) -> bool:
        return self.outside.way is Way.PROCESS

    async def launch(self, claim: Claim) -> Launched | Failed | Strained:
        return await self.gate.call("launch", lambda: self._launch(claim), stores=False)

    async def release(self, key: str) -> None:
        await self.gate.call("release", lambda: self._release(key), stores=False)

    async def adopt(self, key: str, run_id: str) -> bool:
        return await self.gate.call("adopt", lambda: self._adopt(key, run_id), stores=False)

    async def ended(self) -> Sequence[Ended]:
        self.gate.check()
        await self._some_ended.wait()
        self.gate.check()
        self._some_ended.clear()
        ends, self._ends = self._ends, []
        return ends

    async def end(self, key: str, reason: Reason) -> bool | None:
        return await self.gate.call("end", lambda: self._end(key, reason), stores=False)

    async def drain(self, *, grace_ms: int) -> None:
        self.gate.check()
        mine = self.outside.heard_by(self)
        if mine and grace_ms:
            await asyncio.sleep(grace_ms / 1000)
            self.gate.check()
        for run_id in mine:
            if self.outside.is_going_on(run_id):
                self.outside.over(run_id, "ended by its worker")
        self._ready.clear()

    def hear(self, effect: Effect, reason: Reason | None) -> None:
        """A run has ended that this launcher started, joined or adopted."""
        self._tell(effect.key, success=effect.success, reason=reason)

    def fence_of(self, key: str) -> int:
        return self._runs[key][1]

    def _tell(self, key: str, *, success: bool, reason: Reason | None) -> None:
        _, fence = self._runs.pop(key)
        self._ends.append(Ended(key, fence, success, "exit 0" if success else "exit 1", reason))
        self._some_ended.set()

    async def _launch(self, claim: Claim) -> Launched | Failed | Strained:
        record, outside = self.gate.nature.record, self.outside
        if Dice(outside.seed, "strain", outside.wall_ms() // STRAIN_MS).chance(4):
            record.hit("nothing could be started")
            record.strained_ms.append(outside.wall_ms())
            return Strained(claim.key, claim.fence, "Too many open files")
        record.launched[self.gate.worker, claim.key, claim.fence] = record.next_no()
        dice = Dice(outside.seed, "launch", claim.key, claim.launches)
        if dice.chance(12):
            permanent = dice.chance(20)
            record.hit("launch failed for good" if permanent else "launch failed")
            return Failed(claim.key, claim.fence, "no", permanent)
        former = outside.latest(claim.key)
        if outside.way is Way.KEYED:
            silent = Dice(outside.seed, "answer", claim.key, claim.launches).chance(25)
            if silent and claim.launches <= _UNANSWERED_MAX:
                return self._leave_unanswered(claim, begins=former is None and dice.chance(60))
            if former is not None:
                return self._join(claim, former)
        if claim.key in self._runs:
            record.hit("launch met its former run")
            return Failed(claim.key, claim.fence, "an earlier run has not ended", False)
        run_id = _name(claim)
        self._runs[claim.key] = run_id, claim.fence
        if self.confirms_start:
            self._ready[claim.key] = claim
        else:
            outside.begin(claim, run_id, self)
        began_ms = None if self.confirms_start else outside.wall_ms()
        return Launched(claim.key, claim.fence, run_id, started_ms=began_ms)

    def _leave_unanswered(self, claim: Claim, *, begins: bool) -> Failed:
        """The executor has begun a run, or not; and who asked does not hear which, nor its end."""
        if begins:
            run_id = _name(claim)
            self.outside.begin(claim, run_id, self)
            self.outside.listeners[run_id].remove(self)
        self.gate.nature.record.hit(f"launch not answered, and {'' if begins else 'not '}begun")
        return Failed(claim.key, claim.fence, "no answer", False, reason=Reason.UNCERTAIN)

    def _join(self, claim: Claim, former: Effect) -> Launched:
        """The executor knows this key: no second run, but news of the first."""
        self.gate.nature.record.hit("launch joined a run of the same key")
        self._runs[claim.key] = former.run_id, claim.fence
        heard = self.outside.listeners.get(former.run_id)
        if heard is None:
            self.hear(former, None)
        elif self not in heard:
            heard.append(self)
        return Launched(claim.key, claim.fence, former.run_id, started_ms=former.began_ms)

    async def _release(self, key: str) -> None:
        if (claim := self._ready.pop(key, None)) is not None:
            self.outside.begin(claim, self._runs[key][0], self)

    async def _adopt(self, key: str, run_id: str) -> bool:
        if self.outside.way is Way.FUNCTION or not self.outside.is_going_on(run_id):
            return False
        self.gate.nature.record.hit("run adopted")
        self._runs[key] = run_id, _ADOPTED_FENCE
        self.outside.listeners[run_id].append(self)
        return True

    async def _end(self, key: str, reason: Reason) -> bool | None:
        outside, record = self.outside, self.gate.nature.record
        if takes_ms := Dice(outside.seed, "takes", key).pick(outside.ends_ms):
            await asyncio.sleep(takes_ms / 1000)
            self.gate.check()
        if self._ready.pop(key, None) is not None:
            record.hit("run ended before it began")
            record.unbegun.add(key)
            self._tell(key, success=False, reason=reason)
            return True
        if key not in self._runs and reason is not Reason.UNCERTAIN:
            return self._end_by_key(key, reason)
        run_id, fence = self._runs.get(key, ("", 0))
        if not outside.is_going_on(run_id):
            return True
        if any(one.fence_of(key) > fence for one in outside.listeners[run_id]):
            record.hit("run that another worker joined is left alone")
            outside.listeners[run_id].remove(self)
            del self._runs[key]
            return True
        return self._try_to_end(run_id, "run ended by its worker", reason)

    def _end_by_key(self, key: str, reason: Reason) -> bool | None:
        """An executor that knows keys is asked to end what this worker does not have."""
        former = self.outside.latest(key)
        if self.outside.way is not Way.KEYED:
            return None
        if former is None or not self.outside.is_going_on(former.run_id):
            return True
        return self._try_to_end(former.run_id, "run ended by who takes its place", reason)

    def _try_to_end(self, run_id: str, what: str, reason: Reason) -> bool:
        outside, record = self.outside, self.gate.nature.record
        if Dice(outside.seed, "end", run_id, len(outside.effects)).chance(10):
            record.hit("run could not be ended")
            return False
        record.hit(what)
        outside.over(run_id, "ended by its worker", reason)
        return True


def _name(claim: Claim) -> str:
    """What the outside world calls a run."""
    return f"{claim.key if ':' in claim.key else claim.key[:12]}.{claim.fence}"
