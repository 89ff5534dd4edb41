"""What the benchmark of the operator reads from an audit log, and how it writes its page."""

from pathlib import Path

import pytest

from benchmarks.harness.machine import Machine
from benchmarks.harness.table import Table
from benchmarks.operator.__main__ import page_of, table_of
from benchmarks.operator.contender import CronJobs, KronJobs
from benchmarks.operator.round import Dose, Figures

DOSE = Dose(objects=5, due=2, idle_s=1.0)
MACHINE = Machine(cpu="one", cores=2, system="Linux", python="CPython", load=0.5)


def answered(verb: str, annotation: str, *, suspend: bool = False) -> dict[str, object]:
    return {
        "verb": verb, "stageTimestamp": "2026-03-01T00:00:07.500000Z",
        "responseObject": {
            "metadata": {
                "annotations": {annotation: "2026-03-01T00:00:05Z"},
                "ownerReferences": [{"name": "rush-00001"}],
            },
            "spec": {"suspend": suspend},
        },
    }  # fmt: skip


def test_a_job_of_a_kronjob_starts_when_it_is_released() -> None:
    contender = KronJobs("KronJob", window="")
    start = contender.start_of(answered("patch", "gnomon.dev/chosen"))

    assert start is not None
    assert (start.owner, start.late_s) == ("rush-00001", 2.5)
    assert contender.start_of(answered("patch", "gnomon.dev/chosen", suspend=True)) is None
    assert contender.start_of(answered("create", "gnomon.dev/chosen")) is None


def test_a_job_of_a_cronjob_starts_when_it_is_made() -> None:
    due = "batch.kubernetes.io/cronjob-scheduled-timestamp"
    contender = CronJobs("CronJob")

    start = contender.start_of(answered("create", due))

    assert start is not None
    assert (start.owner, start.late_s) == ("rush-00001", 2.5)
    assert contender.start_of(answered("patch", due)) is None


@pytest.mark.parametrize("window", ["", "1m"])
def test_only_a_contender_with_a_window_has_one(window: str) -> None:
    assert ("window" in KronJobs("one", window=window).spec("0 0 1 1 *")) is bool(window)


def test_the_page_keeps_what_was_written_by_hand(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    table: Table = table_of([Figures(contender="KronJob", objects=5, due=2, late_p50_s=1.25)])

    page.write_text(page_of(table, DOSE, MACHINE, page))
    page.write_text(page.read_text() + "\nBy hand.\n")
    again = page_of(table, DOSE, MACHINE, page)

    assert "| late p50 | 1.2 s |" in again
    assert again.count("## What the figures say") == 1
    assert again.endswith("By hand.\n")
