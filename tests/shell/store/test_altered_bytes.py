"""
Bytes of a file that were altered: whatever they are, the store says so, and nothing else fails.

Each file is a good one with a byte that a failing disk might leave, most of them in a text.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

import pytest

from gnomon.core.engine import plan
from gnomon.errors import DamagedStoreError, GnomonError
from gnomon.ports import Change, Entry, Event
from gnomon.shell.store.examination import examine
from gnomon.shell.store.family import family_of
from gnomon.shell.store.journal import SqliteJournalOpener
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.store.workflow_examination import examine_workflows
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from tests.clauses import clause
from tests.contract.ledger_desk import at, minutely

_FIRST = 4_096
"""Where the first page ends, which says what the file is."""


async def fill_ledger(path: Path) -> None:
    ledger = SqliteLedger.open(path, exclusive=True)
    await ledger.set_note("belongs_to", "run")
    await ledger.save_all([minutely(f"job-{number}") for number in range(5)], now_ms=at("00:00:30"))
    await turn(ledger, "00:01:00", "anna")
    await ledger.close()


async def use_ledger(path: Path) -> None:
    ledger = SqliteLedger.open(path, exclusive=True)
    try:
        await ledger.note("belongs_to")
        await ledger.orphans(owner="berta")
        await ledger.recover(owner="berta", adopted=[], now_ms=at("01:00:00"))
        await turn(ledger, "01:00:00", "berta")
        for row in await ledger.schedules():
            await ledger.runs(row.schedule.schedule_id)
        await ledger.retain(before_ms=at("00:59:00"), limit=1_000)
    finally:
        await ledger.close()


async def turn(ledger: SqliteLedger, now: str, owner: str) -> None:
    changes = plan(await ledger.load(now_ms=at(now), limit=100), now_ms=at(now))
    await ledger.commit(changes, owner=owner, confirmed=True, now_ms=at(now))
    await ledger.next_wake_ms()


async def fill_journal(path: Path) -> None:
    journal = await SqliteJournalOpener(str(path), threaded=False).open()
    entries = [Entry(Event.RUN_START, 5, at("00:00:30"), task="a")] * 20
    records: dict[str, str | None] = {"a": '{"text": "which is no record"}'}
    change = Change(
        identifier="one", t_ms=5, wall_ms=at("00:00:30"), through_ms=0, calls=1, ended=False,
        entries=entries, records=records,
    )  # fmt: skip
    await journal.acquire(change, after=0)
    await journal.close()


async def use_journal(path: Path) -> None:
    journal = await SqliteJournalOpener(str(path), threaded=False).open()
    try:
        await journal.load()
        await journal.entries()
    finally:
        await journal.close()


def look(path: Path) -> None:
    """As the commands that look do."""
    family_of(path)
    examine(path)
    examine_workflows(path)


async def use_workflows(path: Path) -> None:
    log = await SqliteWorkflowLog.open(str(path), to_hold=True, threaded=False)
    try:
        await log.take(holder="berta")
        for name in await log.versions():
            await log.load(name)
    finally:
        await log.close()


Use = Callable[[Path], Awaitable[None]]


@clause("LEDGER-29")
@pytest.mark.parametrize(
    ("fill", "use"), [(fill_ledger, use_ledger), (fill_journal, use_journal)],
    ids=["ledger", "journal"],
)  # fmt: skip
@pytest.mark.parametrize("seed", [pytest.param(0), pytest.param(1, marks=pytest.mark.bulk)])
def test_no_byte_makes_anything_else_fail(fill: Use, use: Use, seed: int, tmp_path: Path) -> None:
    good, path = tmp_path / "good", tmp_path / "store"
    asyncio.run(run(fill, good))
    whole, chance = good.read_bytes(), Random(seed)
    texts = [at for at in range(_FIRST, len(whole)) if 32 <= whole[at] < 127]
    seen: Counter[str] = Counter()
    for _ in range(40 if seed == 0 else 300):
        for one in tmp_path.glob("store*"):
            one.unlink()
        altered = bytearray(whole)
        where = chance.choice(texts)
        altered[where] = chance.choice([0xFF, chance.randrange(256), chance.choice(b"09azAZ{-:")])
        path.write_bytes(altered)
        look(path)
        try:
            asyncio.run(run(use, path))
        except GnomonError as error:
            seen[type(error).__name__] += 1
    assert seen["DamagedStoreError"] > 5, seen


async def run(use: Use, path: Path) -> None:
    await use(path)


@clause("LEDGER-29")
@pytest.mark.parametrize(
    ("former", "found"),
    [(b"job-1", b"job-\xff"), (b"ENQUEUED", b"ENQUEUEd"), (b"cursor_at", b"cursar_at")],
    ids=["no UTF-8", "no word of ours", "no column"],
)
def test_a_value_that_cannot_be_read_is_a_damaged_store(
    former: bytes, found: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "store"
    asyncio.run(run(fill_ledger, path))
    whole = path.read_bytes()
    assert former in whole
    path.write_bytes(whole.replace(former, found))

    with pytest.raises(DamagedStoreError, match=r"is damaged: .*; stop, keep a copy, ask the doct"):
        asyncio.run(run(use_ledger, path))


@clause("LEDGER-29", "LEDGER-11")
@pytest.mark.parametrize(
    ("fill", "use"), [(fill_ledger, use_ledger), (fill_journal, use_journal)],
    ids=["ledger", "journal"],
)  # fmt: skip
def test_a_page_that_is_empty_is_found_before_anything_is_changed(
    fill: Use, use: Use, tmp_path: Path
) -> None:
    path = tmp_path / "store"
    asyncio.run(run(fill, path))
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 8192 * 4096)
        file.write(bytes(4096))
    before = path.read_bytes()

    with pytest.raises(DamagedStoreError, match="is damaged; stop, keep a copy, and restore"):
        asyncio.run(run(use, path))
    assert path.read_bytes() == before
    assert not path.with_name("store-wal").exists()


@clause("LEDGER-29")
def test_a_file_of_workflows_is_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "store"
    asyncio.run(run(use_workflows, path))
    whole = path.read_bytes()
    path.write_bytes(whole[:8_192] + bytes(4_096) + whole[12_288:])

    with pytest.raises(DamagedStoreError, match="is damaged"):
        asyncio.run(run(use_workflows, path))
