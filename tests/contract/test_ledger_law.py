"""Every ledger: whatever happens in whatever order, the audit finds nothing."""

import asyncio
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnomon.core.engine import plan
from gnomon.core.ledger.audit import AuditRun, AuditSchedule, Finding, audit
from gnomon.core.ledger.lifecycle import State
from gnomon.ports import By, Claim, Ended, Failed, Held, Launched, Ledger, Report
from gnomon.shell.store.postgres.ledger import LeaseTime, PostgresLedger
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.contract.ledger_desk import at, minutely

ACTS = (
    "turn", "turn", "turn", "stale turn", "launch", "end", "end", "fail", "give up", "renew",
    "recover", "pause", "pause on", "resume", "edit", "delete", "trigger", "backfill", "skip next",
    "kill", "detach",
)  # fmt: skip


class Move(NamedTuple):
    act: str
    wait_ms: int
    pick: int


moves = st.builds(
    Move,
    st.sampled_from(ACTS),
    st.sampled_from([0, 1, 500, 10_000, 60_000, 61_500, 600_000]),
    st.integers(0, 9),
)
definitions = st.fixed_dictionaries(
    {
        "overlap_policy": st.sampled_from(["allow", "skip", "queue", "replace"]),
        "catchup_policy": st.sampled_from(
            ["none", "latest", "fire_immediately", "spread", "recent"]
        ),
        "uncertain": st.sampled_from(["restart", "relaunch_same_key", "abandon"]),
        "pause_rule": st.sampled_from(["skip", "hold"]),
        "deadline": st.sampled_from([None, "0s", "30s", "10m"]),
        "jitter_ms": st.sampled_from([0, 30_000]),
        "lease": st.sampled_from(["10s", "10m"]),
    }
)


class Player:
    """Two workers, one of them late, on one ledger."""

    def __init__(self, ledger: Ledger, definition: dict[str, object]) -> None:
        self.ledger = ledger
        self.definition = definition
        self.now_ms = at("00:00:30")
        self.claims: list[Claim] = []
        self.outcomes: dict[str, str] = {}
        self.accepted: set[tuple[str, int, type[Report]]] = set()
        self.chosen: dict[str, int] = {}
        self.settled: set[str] = set()
        """Keys of what commits said is over."""
        self.edits = 0
        self.floor = 0
        """Up to here nothing is owed: the schedule was not there."""

    async def play(self, move: Move) -> None:
        self.now_ms += move.wait_ms
        ledger, now_ms = self.ledger, self.now_ms
        match move.act:
            case "turn" | "stale turn":
                await self._turn(stale=move.act == "stale turn", confirmed=move.pick > 4)
            case "launch" | "end" | "fail" | "give up" | "detach":
                await self._report(move)
            case "renew":
                runs = [Held(claim.key, claim.fence) for claim in self.claims]
                await ledger.renew(runs, owner="anna", now_ms=now_ms)
            case "recover":
                adopted = [claim.key for claim in self.claims[: move.pick]]
                await ledger.recover(owner="boris", adopted=adopted, now_ms=now_ms)
            case "pause":
                until_ms = now_ms + 90_000
                await ledger.pause("report", until_ms=until_ms, reason="", now_ms=now_ms)
            case "pause on":
                await ledger.pause("report", until_ms=None, reason="", now_ms=now_ms)
            case "resume":
                await ledger.resume("report", now_ms=now_ms)
            case "trigger":
                await ledger.trigger("report", name=f"{move.pick}", now_ms=now_ms)
            case "backfill":
                nominals = [at("00:00:00") // 1000 - 60 * move.pick, at("00:00:00") // 1000]
                await ledger.backfill("report", name="b", nominals=nominals, now_ms=now_ms)
            case "skip next":
                await ledger.skip_next("report", now_ms=now_ms)
            case "kill":
                rows = await ledger.runs("report", limit=10)
                for row in rows[move.pick : move.pick + 1]:
                    await ledger.kill(row.key, by=By("anna"), now_ms=now_ms)
            case "edit":
                self.edits += 1
                await self.save()
            case _:
                await ledger.delete("report", now_ms=now_ms)

    async def save(self) -> None:
        if await self.ledger.get("report") is None:
            self.floor = (self.now_ms - 1) // 1000
        schedule = minutely("report", **self.definition, target=self.edits)
        await self.ledger.save(schedule, now_ms=self.now_ms)

    async def _turn(self, *, stale: bool, confirmed: bool) -> None:
        ledger, now_ms = self.ledger, self.now_ms
        changes = plan(await ledger.load(now_ms=now_ms, limit=10), now_ms=now_ms)
        for owner in ("boris", "anna") if stale else ("anna",):
            held = await ledger.commit(changes, owner=owner, confirmed=confirmed, now_ms=now_ms)
            self.claims += held.claims
            for fact in [fact for change in held.changes for fact in change.facts]:
                row = await ledger.run(fact.key)
                assert row is not None
                found = row.state, row.outcome, row.reason, row.periods
                told = fact.state, fact.outcome or row.outcome, fact.reason, fact.periods
                assert found == told, fact
                if fact.state is State.DONE:
                    assert fact.outcome is row.outcome
                    assert fact.key not in self.settled
                    self.settled.add(fact.key)

    async def _report(self, move: Move) -> None:
        if not self.claims:
            return
        claim = self.claims[move.pick % len(self.claims)]
        reports: dict[str, Report] = {
            "launch": Launched(claim.key, claim.fence, "pid 7"),
            "detach": Launched(claim.key, claim.fence, "run 7", detached_ms=90_000),
            "end": Ended(claim.key, claim.fence, move.pick > 4, ""),
            "fail": Failed(claim.key, claim.fence, "", permanent=False),
            "give up": Failed(claim.key, claim.fence, "", permanent=True),
        }
        report = reports[move.act]
        if (await self.ledger.report([report], now_ms=self.now_ms))[0]:
            self.accepted.add((claim.key, claim.fence, type(report)))

    async def check(self) -> list[Finding]:
        """What the audit finds; and no outcome was taken back."""
        rows = await self.ledger.runs("report", limit=10_000)
        for row in rows:
            if row.state is State.DONE and (row.key, row.fence, Launched) in self.accepted:
                assert row.run_id is not None
                assert row.started_ms is not None
                assert row.ended_ms is not None
            if row.launches or self.definition["catchup_policy"] != "spread":
                assert self.chosen.setdefault(row.key, row.chosen_ms) == row.chosen_ms
            if row.outcome is not None:
                assert self.outcomes.setdefault(row.key, row.outcome) == row.outcome
        runs = [AuditRun(*(getattr(row, name) for name in AuditRun._fields)) for row in rows]
        schedules = [
            AuditSchedule(
                row.schedule, row.cursor, self.floor, row.wake_ms, row.updated_ms,
                row.pause is not None, row.in_flight,
            )
            for row in await self.ledger.schedules()
        ]  # fmt: skip
        return audit(schedules, runs)


async def play_all(ledger: Ledger, definition: dict[str, object], script: list[Move]) -> None:
    player = Player(ledger, definition)
    try:
        await player.save()
        for move in script:
            await player.play(move)
            assert await player.check() == [], move
    finally:
        await ledger.close()


@clause("LEDGER-1", "PORT-1")
@settings(max_examples=60)
@given(definition=definitions, script=st.lists(moves, max_size=30))
def test_a_ledger_holds_together_whatever_happens(
    definition: dict[str, object], script: list[Move]
) -> None:
    asyncio.run(play_all(SqliteLedger.open(":memory:"), definition, script))


@clause("LEDGER-1", "PORT-1")
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(definition=definitions, script=st.lists(moves, min_size=10, max_size=30))
def test_a_ledger_on_postgresql_holds_together_whatever_happens(
    common_database: str, schema: str, definition: dict[str, object], script: list[Move]
) -> None:
    async def scenario() -> None:
        ledger = await PostgresLedger.open(
            common_database, schema=schema, lease_time=LeaseTime.GIVEN
        )
        tables = ("schedule_runs", "schedule_revisions", "schedules")
        await ledger.pool.fetch(f"TRUNCATE {', '.join(f'{schema}.{name}' for name in tables)}")
        await play_all(ledger, definition, script)

    asyncio.run(scenario())
