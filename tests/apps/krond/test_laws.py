"""
Whatever happens to a machine, nothing is executed twice and no outcome is taken back.

Random lives of a daemon on virtual time: time passes, the clock is set by a second to a day, krond
is killed and comes back, the machine is booted, jobs are suspended, edited, removed and put back,
on days when the clocks of their zone change. The runs' own account is compared with the ledger, and
the rows of boots with the boots that there were.
"""

from collections import Counter
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.ledger.lifecycle import Outcome, State
from tests.apps.krond.stage import Stage, play
from tests.clauses import clause

JOBS = {
    "plain": "*/7 * * * * {policy} name=plain command=true",
    "window": "*/20 * * * * @win(around,15m) {policy} name=window command=true",
    "local": "*/30 2-4 * * * @tz(Europe/Riga) {policy} name=local command=true",
    "slow": '*/5 * * * * {policy} name=slow command="sleep 420"',
    "never": "*/10 * * * * @avoid(hours=0-23) {policy} name=never command=true",
    "boot": "@reboot {policy} name=boot command=true",
    "warm": '@reboot {policy} name=warm command="sleep 420"',
}
AT_BOOT = ("boot", "warm")
POLICIES = (
    "", "@policy(deadline=1h)", "@policy(concurrency=allow,deadline=10m)",
    "@policy(concurrency=replace,deadline=30s)",
)  # fmt: skip
DAYS = ("2026-03-28T23:30:00Z", "2026-10-25T00:30:00Z", "2026-06-01T11:59:00Z")
JUMPS_S = (1, 30, 61, 600, 3_600, 86_400)

# Two kronds of one process in one millisecond would have one name, which no machine can do.
steps = st.one_of(
    st.tuples(st.just("pass"), st.integers(1, 1_200)),
    st.tuples(st.just("jump"), st.sampled_from([s * way for s in JUMPS_S for way in (1, -1)])),
    st.tuples(st.just("kill"), st.integers(1, 900)),
    st.tuples(st.just("boot"), st.integers(1, 900)),
    st.tuples(st.just("suspend"), st.sampled_from(sorted(JOBS))),
    st.tuples(st.just("edit"), st.sampled_from(sorted(JOBS))),
    st.tuples(st.just("remove"), st.sampled_from(sorted(JOBS))),
    st.tuples(st.just("replan"), st.integers(0, 0)),
)


class Life:
    """A stage, and what the files say at present."""

    def __init__(self, day: str, policies: list[str]) -> None:
        self.policies = dict(zip(JOBS, policies, strict=True))
        self.edits: Counter[str] = Counter()
        self.suspended: set[str] = set()
        self.removed: set[str] = set()
        self.stage = Stage(self.text(), day)
        self.outcomes: dict[str, Outcome] = {}
        self.owed: dict[str, set[str]] = {name: set() for name in AT_BOOT}
        """The boots at which krond found each job in its files when it first started."""

    def text(self) -> str:
        lines = ["0 0 1 1 * name=idle command=true"]
        for name in set(JOBS) - self.removed:
            line = JOBS[name].format(policy=self._policy(name))
            lines.append(f"{line} env=EDIT={self.edits[name]}")
        return "\n".join(sorted(lines))

    async def take(self, what: str, value: int | str) -> None:
        match what, value:
            case "pass", int():
                await self.stage.pass_s(value)
            case "jump", int():
                self.stage.clock.offset_ms += value * 1000
                await self.stage.pass_s(31)
            case "kill", int():
                await self.stage.kill()
                await self.stage.pass_s(value)
                await self.stage.start()
            case "boot", int():
                await self.stage.power_off()
                await self.stage.pass_s(value)
                await self.start()
            case "replan", int():
                await self.replan()
            case "suspend", str():
                self.suspended ^= {value}
                assert await self.stage.reload(self.text()) is None
            case "edit", str():
                self.edits[value] += 1
                assert await self.stage.reload(self.text()) is None
            case _, str():
                self.removed ^= {value}
                assert await self.stage.reload(self.text()) is None

    async def start(self) -> None:
        """Start krond for the first time in a boot: what is not suspended runs at once."""
        executed = self.stage.outside.executed
        before = len(executed)
        for name in set(AT_BOOT) - self.removed:
            self.owed[name].add(f"b{self.stage.boots}")
        await self.stage.start()
        await self.stage.pass_s(1)
        ran = {one.job for one in executed[before:]} & set(AT_BOOT)
        assert ran == set(AT_BOOT) - self.removed - self.suspended

    async def check(self) -> None:
        """Nothing ran twice, what was settled is as it was, and each boot has its rows."""
        keys = Counter(self.stage.outside.keys)
        assert [key for key, count in keys.items() if count > 1] == []
        ran = Counter((one.job, one.period) for one in self.stage.outside.executed)
        assert [one for one, n in ran.items() if n > 1 and one[0] not in AT_BOOT] == []
        for name in AT_BOOT:
            found = await self._boots_of(name)
            assert found == Counter(self.owed[name]), name
        for name in JOBS:
            for schedule_id in await self.stage.ledger.ids(f"{name}-"):
                for row in await self.stage.ledger.runs(schedule_id, limit=1000):
                    if row.outcome is not None:
                        assert self.outcomes.setdefault(row.key, row.outcome) is row.outcome
                    if row.outcome is Outcome.EXECUTED and row.reason is None:
                        assert (name, _period(row.nominal)) in ran or row.state is not State.DONE

    async def _boots_of(self, name: str) -> Counter[str]:
        """How many rows each boot has."""
        found: Counter[str] = Counter()
        for schedule_id in await self.stage.ledger.ids(f"{name}-"):
            rows = await self.stage.ledger.runs(schedule_id, limit=1000)
            found.update(row.key.rpartition(":")[2] for row in rows)
        return found

    async def replan(self) -> None:
        """Of what was not started, an outcome may be taken back by a person."""
        assert self.stage.daemon is not None
        await self.stage.daemon.replan()
        kept = (Outcome.EXECUTED, Outcome.UNSCHEDULABLE)
        self.outcomes = {key: one for key, one in self.outcomes.items() if one in kept}

    def _policy(self, name: str) -> str:
        policy = self.policies[name]
        if name not in self.suspended:
            return policy
        return policy.replace("@policy(", "@policy(suspend=true,") or "@policy(suspend=true)"


def _period(nominal: int) -> str:
    return datetime.fromtimestamp(nominal, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@clause(
    "KROND-2", "KROND-5", "KROND-6", "KROND-13", "KROND-14", "KROND-20", "KROND-41", "KROND-42",
)  # fmt: skip
@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(DAYS),
    st.lists(st.sampled_from(POLICIES), min_size=len(JOBS), max_size=len(JOBS)),
    st.lists(steps, min_size=1, max_size=8),
)
def test_nothing_runs_twice_and_no_outcome_is_taken_back(
    day: str, policies: list[str], taken: list[tuple[str, int | str]]
) -> None:
    async def scenario() -> None:
        life = Life(day, policies)
        await life.start()
        for what, value in taken:
            await life.take(what, value)
            await life.check()
        await life.stage.pass_s(1_800)
        await life.check()

    play(scenario())
