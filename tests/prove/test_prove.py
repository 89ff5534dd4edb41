"""The proof itself: a finding is said with its replay line, and nothing that was done is lost."""

import json
from pathlib import Path
from unittest.mock import patch

import pytest

from gnomon.simulation.ledger.plan import World
from gnomon.simulation.ledger.world import SCENARIO
from tests.prove import chunk, crash, runner, time_core
from tests.prove.chunk import Chunk, ChunkResult
from tests.prove.runner import Run, State, run_all
from tests.simulation.ledger.mutants import MUTANTS

FEW = 6
SEED = 2  # of a small world


def run_few(folder: Path) -> bool:
    with (
        patch.object(chunk, "CRASH_CHUNK", FEW),
        patch.object(crash, "CRASH_CHUNK", FEW),
        patch.object(chunk, "_FIRST_SEED", SEED),
    ):
        return crash.prove(Run(state=folder, reports=folder), worlds=FEW, workers=1)


def test_a_broken_promise_is_said_at_once_with_the_line_that_shows_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mutant = next(one for one in MUTANTS if one.name == "a run is launched before the commit")
    with mutant.make():
        well = run_few(tmp_path)

    said = capsys.readouterr().out
    assert not well
    assert "FOUND unclaimed: s" in said
    assert ": python -m gnomon.simulation ledger --world crash --seed 2 --faults crash_" in said
    assert "- broken: unclaimed: s" in (tmp_path / "ledger.md").read_text()


def test_where_every_promise_is_kept_the_report_counts_what_was_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_few(tmp_path)

    said, page = capsys.readouterr().out, (tmp_path / "ledger.md").read_text()
    figures = json.loads((tmp_path / "ledger.json").read_text())
    assert "2/2 chunks, " in said
    assert "| `crash` | `abandon` | " in page
    assert [part["broken"] for part in figures["parts"]] == [0, 0]
    assert figures["parts"][0]["worlds"] == len(list(SCENARIO.crashes(SEED)))
    assert figures["parts"][1]["worlds"] == FEW


def test_what_was_done_is_taken_over_and_a_line_cut_short_is_not(tmp_path: Path) -> None:
    chunks = [Chunk(kind="fuzz", index=index) for index in range(3)]
    state = State(tmp_path / "some.jsonl", resume=False)
    for one in chunks[:2]:
        state.add(ChunkResult(kind=one.kind, index=one.index, cases=7))
    with (tmp_path / "some.jsonl").open("a") as file:
        file.write('\n{"result": {"kind": "fuzz", "ind')

    again = State(tmp_path / "some.jsonl", resume=True)

    assert sorted(again.results) == chunks[:2]
    assert [result.cases for result in again.results.values()] == [7, 7]


def test_results_of_other_sources_are_not_taken_over(tmp_path: Path) -> None:
    State(tmp_path / "some.jsonl", resume=False).add(ChunkResult(kind="fuzz", index=0))
    with patch.object(runner, "SEED", 0):
        again = State(tmp_path / "some.jsonl", resume=True)

    assert again.results == {}


def test_a_chunk_that_raises_is_a_finding_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chunks = [Chunk(kind="sweep", index=10_000), Chunk(kind="sweep", index=0)]

    state = run_all(chunks, "some", Run(state=tmp_path), workers=1, unit="cases")

    assert len(state.results) == 2
    assert "python -m tests.prove chunk sweep 10000" in capsys.readouterr().out


def test_a_sample_writes_no_evidence(tmp_path: Path) -> None:
    assert Run(sample=8).report("ledger.md", whole=True) is None
    assert Run().report("ledger.md", whole=False) is None
    assert Run(sample=8, reports=tmp_path).report("a.md", whole=False) == tmp_path / "a.md"


def test_a_middle_dose_of_the_time_core_takes_every_nth_chunk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = Run(sample=20, state=tmp_path)
    with patch.object(chunk, "FUZZ_CHUNK", 50), patch.object(time_core, "FUZZ_CHUNK", 50):
        assert time_core.prove(("fuzz",), how, random_cases=0, fuzz_texts=2_000, workers=1)

    assert "fuzz: 100 cases, " in capsys.readouterr().out


def test_a_seed_is_run_as_a_whole_or_not_at_all() -> None:
    whole = [SCENARIO.replay_line(spec) for spec in SCENARIO.whole_seeds(World.CRASH, 3, 1)]

    assert whole == [SCENARIO.replay_line(spec) for spec in SCENARIO.crashes(3)]
    singles = [line for line in whole if line.count("@") == 1]
    pairs = [line for line in whole if line.count("@") == 2]
    assert len(whole) == 1 + len(singles) + len(pairs)
    assert len(singles) == len(pairs) == len(set(singles))
