"""The live table of `gnomon run`, drawn from what a ledger says."""

import asyncio
from io import StringIO
from pathlib import Path

from rich.console import Console

from gnomon.apps.run.schedule_file import load_schedules
from gnomon.cli.live_table import live_table, read_lines
from gnomon.core.engine import plan
from gnomon.ports import Ended, Launched
from gnomon.shell.store.sqlite import SqliteLedger
from tests.acceptance.running import write
from tests.clauses import clause

NOW_MS = 1_774_699_200_000
"""2026-03-28T12:00:00Z, the day before Europe's clocks go forward."""
TEXT = """
[[schedule]]
name = "nightly"
cron = "30 2 * * *"
zone = "Europe/Berlin"
command = ["true"]

[[schedule]]
name = "over"
once = 2026-03-28T12:00:01Z
command = ["false"]

[[schedule]]
name = "busy"
every = "1m"
command = ["sleep", "90"]
"""


async def drawn(file: Path, *, left_out: int = 0) -> list[str]:
    """The table two minutes after the schedules were saved, with one run ended, one in flight."""
    ledger = SqliteLedger.open(":memory:")
    entries = load_schedules(file, to_run=True)
    await ledger.save_all([entry.schedule for entry in entries], now_ms=NOW_MS)
    now_ms = NOW_MS + 120_000
    dues = await ledger.load(now_ms=now_ms, limit=10)
    held = await ledger.commit(plan(dues, now_ms=now_ms), owner="me", confirmed=True, now_ms=now_ms)
    for claim in held.claims:
        await ledger.report([Launched(claim.key, claim.fence, "1")], now_ms=now_ms)
        if claim.schedule.schedule_id == "over":
            ended = Ended(claim.key, claim.fence, False, "exit 1")
            await ledger.report([ended], now_ms=now_ms + 3_000)
    lines = await read_lines(ledger, entries, now_ms=now_ms + 5_000)
    await ledger.close()
    printed = StringIO()
    console = Console(file=printed, width=300)
    console.print(live_table(lines, left_out=left_out, now_ms=now_ms + 5_000))
    return [line.rstrip() for line in printed.getvalue().splitlines()]


@clause("CLI-22")
def test_each_schedule_is_shown_with_what_comes_next_and_what_came_last(tmp_path: Path) -> None:
    heading, nightly, over, busy = asyncio.run(drawn(write(tmp_path, TEXT)))

    assert heading.split() == ["schedule", "means", "next", "last", "ended", "in", "flight"]
    assert nightly.split() == [
        "nightly", "At", "02:30", "every", "day", "2026-03-29", "03:00:00", "+02:00",
        "in", "12", "h", "57", "min",
    ]  # fmt: skip
    assert "never again" in over
    assert busy.split()[:9] == [
        "busy", "Every", "minute", "2026-03-28", "12:03:00", "+00:00", "in", "55", "s",
    ]  # fmt: skip
    assert busy.split()[-1] == "1"


@clause("CLI-22")
def test_schedules_without_room_are_counted(tmp_path: Path) -> None:
    assert asyncio.run(drawn(write(tmp_path, TEXT), left_out=7))[-1] == "and 7 more"
