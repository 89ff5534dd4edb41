"""`gnomon doctor --database`: when is a worker that fell silent something to look after?"""

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from tests.acceptance.command_line import gnomon
from tests.acceptance.running import EVERY_SECOND, running, write
from tests.acceptance.test_cli_database import execute
from tests.clauses import clause

HELD = """
[[schedule]]
name = "long"
every = "1s"
shell = "exec sleep 600"
lease = "1h"
overlap = "skip"
"""
NOBODY = "mend  start a worker; what is due waits for one"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path, EVERY_SECOND)


def present(url: str, *rows: str) -> None:
    """Workers as others would find them: name, state, when they were heard of, and their clocks."""
    values = ", ".join(
        f"('{name}', '{name}', 1, '{state}', now(), now() - interval '{ago} s', {ahead})"
        for name, state, ago, ahead in (row.split() for row in rows)
    )
    execute(url, "DELETE FROM gnomon.workers")
    execute(
        url,
        "INSERT INTO gnomon.workers (owner, host, pid, state, started_at, seen_at, ahead_ms)"
        f" VALUES {values}",
    )


def codes(url: str) -> tuple[int, list[str]]:
    doctor = gnomon("doctor", "--database", url, "--json")
    findings = doctor.json["findings"]
    assert isinstance(findings, list)
    return doctor.code, [one["code"] for one in findings]


@clause("CLI-32", "CLI-40", "PG-14")
def test_who_fell_silent_and_was_replaced_is_told_and_nothing_to_mend(
    file: Path, database: str
) -> None:
    assert gnomon("run", str(file), "--database", database, "--once").code == 0
    present(database, "anna running 90 0", "boris running 0 0")

    doctor = gnomon("doctor", "--database", database)

    assert (doctor.code, doctor.lines[0]) == (0, "The ledger is in good order.")
    assert "worker     anna: silent, holds nothing any more, heard of 9" in doctor.out
    assert "worker     boris: running, 0 runs in hand, heard of 0 s ago" in doctor.out
    workers = gnomon("doctor", "--database", database, "--json").json["workers"]
    assert isinstance(workers, list)
    assert [(one["owner"], one["state"], one["silent"]) for one in workers] == [
        ("anna", "silent", True), ("boris", "running", False),
    ]  # fmt: skip


@clause("CLI-40")
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["anna running 90 0"], (1, ["nobody"])),
        (["anna running 90 0", "boris draining 3000 0"], (1, ["nobody"])),
        (["anna running 90 0", "boris draining 2 0"], (0, [])),
        (["anna running 90 0", "boris stopped 60 0"], (0, [])),
        (["anna running 90 0", "boris stopped 120 0"], (1, ["nobody"])),
        (["anna stopped 90 0", "boris stopped 60 0"], (0, [])),
    ],
)
def test_having_no_worker_is_a_finding_unless_the_last_one_said_good_bye(
    file: Path, database: str, rows: list[str], expected: tuple[int, list[str]]
) -> None:
    assert gnomon("run", str(file), "--database", database, "--once").code == 0
    present(database, *rows)

    assert codes(database) == expected


@clause("CLI-40")
def test_the_last_one_is_named_with_what_to_do(file: Path, database: str) -> None:
    assert gnomon("run", str(file), "--database", database, "--once").code == 0
    present(database, "anna running 90 0")

    doctor = gnomon("doctor", "--database", database)

    assert "nobody: no worker runs: anna was the last, and was heard of 9" in doctor.out
    assert NOBODY in doctor.out


@clause("CLI-32", "CLI-40")
def test_a_wrong_clock_matters_while_its_worker_is_there(file: Path, database: str) -> None:
    assert gnomon("run", str(file), "--database", database, "--once").code == 0
    present(database, "anna running 90 -9000", "boris running 0 -3000", "clara stopped 0 9000")

    doctor = gnomon("doctor", "--database", database)

    assert doctor.code == 1
    assert "clock: the clock of boris is 3000 ms behind the database's" in doctor.out
    assert doctor.out.count("clock:") == 1


@clause("CLI-40", "CLI-31")
def test_a_killed_worker_is_a_finding_until_another_has_its_run(
    tmp_path: Path, database: str
) -> None:
    file = write(tmp_path, HELD)
    with running(file, "--database", database) as first:
        first.until("run started")
    sleeping = run_id(database)
    execute(database, "UPDATE gnomon.workers SET seen_at = now() - interval '90 s'")
    alone = gnomon("doctor", "--database", database)
    with running(file, "--database", database, "--grace", "0s") as second:
        beside = alone
        while "nobody:" in beside.out:  # until the second has said that it is there
            beside = gnomon("doctor", "--database", database)
        execute(
            database,
            "UPDATE gnomon.schedule_runs SET lease_until = now() WHERE lease_until IS NOT NULL;"
            "NOTIFY gnomon_gnomon",
        )
        replaced = beside
        while replaced.code:  # until it has taken the run over
            replaced = gnomon("doctor", "--database", database)
        second.signal(signal.SIGTERM)
        assert second.end() == 0
    with suppress(ProcessLookupError):  # its worker may have been killed before it let it go
        os.kill(sleeping, signal.SIGKILL)

    for seen in (alone, beside):
        assert seen.code == 1
        assert ": silent, still holds 1 run, heard of 9" in seen.out
        assert ", and has 1 run whose leases end in 3" in seen.out
    assert NOBODY in alone.out
    assert ": silent, holds nothing any more, heard of 9" in replaced.out


def run_id(url: str) -> int:
    """The process of the only run in flight."""
    found = gnomon("history", "--database", url, "--json").json["runs"]
    assert isinstance(found, list)
    (row,) = [row for row in found if row["state"] == "running"]
    return int(str(row["runId"]).split(":")[0])
