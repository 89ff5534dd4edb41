"""The pages of evidence: what was done, what was counted, what it was made from."""

from pathlib import Path
from unittest.mock import patch

import pytest

from tests.kube.binaries import NAMES
from tests.prove import declarative, fleet, killing, operator, operator_worlds, storm, workflow
from tests.prove.chunk import Chunk, ChunkResult
from tests.prove.killing import KILLINGS
from tests.prove.runner import Run


def _found(chunk: Chunk) -> ChunkResult:
    return ChunkResult(
        kind=chunk.kind, index=chunk.index, cases=1_000, answers=7_000,
        notes={
            "executed": 1, "outcome executed()": 2, "died after commit": 3, "fault kill": 4,
            "met crash_after write": 5, "simulated_s": 7_200, "call commit": 6,
            "raised kill: broke a deadlock": 8,
        },
    )  # fmt: skip


@pytest.mark.parametrize("kind", KILLINGS)
def test_a_page_of_kills_tells_what_was_killed_and_where_it_died(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _have_cluster(tmp_path, monkeypatch)
    with patch("tests.prove.runner.run", _found):
        assert killing.prove(kind, _run(tmp_path), kills=10, workers=1)
    page = (tmp_path / f"{kind}.md").read_text()
    assert page.startswith("# Evidence: kill -9")
    assert "\n| kills | 1,000 |\n" in page
    assert f"\n| {KILLINGS[kind].none} | 0 |\n" in page
    assert "\n| after commit | 3 |\n" in page


def test_a_page_of_faults_tells_how_many_of_each_kind(tmp_path: Path) -> None:
    with patch("tests.prove.runner.run", _found):
        assert fleet.prove(_run(tmp_path), faults=20, workers=1)
    page = (tmp_path / "workers-kill.md").read_text()
    assert "\n| faults: kill | 4 |\n" in page
    assert "\n| executed() | 2 |\n" in page


def test_a_page_of_storms_tells_what_was_called_and_what_was_raised(tmp_path: Path) -> None:
    with patch("tests.prove.runner.run", _found):
        assert storm.prove(_run(tmp_path), storms=1, workers=1)
    page = (tmp_path / "ledger-storm.md").read_text()
    assert "\n| claims handed out | 7,000 |\n" in page
    assert "\n| commit | 6 |\n" in page
    assert "\n| deadlocks that the server broke | 8 |\n" in page


PROOFS = {
    "declarative": declarative.prove, "workflow": workflow.prove,
    "operator-worlds": operator_worlds.prove,
}  # fmt: skip


@pytest.mark.parametrize("proof", PROOFS)
def test_a_page_of_worlds_tells_what_was_met(proof: str, tmp_path: Path) -> None:
    with patch("tests.prove.runner.run", _found):
        assert PROOFS[proof](_run(tmp_path), worlds=100, workers=1)
    (page,) = (path.read_text() for path in tmp_path.glob("*.md"))
    assert "| 1,000 |" in page
    assert "\n## What was met\n" in page
    assert "\n| crash_after write |" in page


def _have_cluster(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        (folder / name).touch()
    monkeypatch.setenv("GNOMON_KUBE_BIN", str(folder))


def _run(folder: Path) -> Run:
    return Run(reports=folder, state=folder)


def test_a_page_of_operators_tells_how_many_faults_of_each_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _have_cluster(tmp_path, monkeypatch)
    with patch("tests.prove.runner.run", _found):
        assert operator.prove(_run(tmp_path), faults=100)
    page = (tmp_path / "kill-operator.md").read_text()
    assert "\n| faults | 1,000 |\n" in page
    assert "\n| kill | 4 |\n" in page


def test_a_proof_without_its_cluster_says_what_to_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GNOMON_KUBE_BIN", str(tmp_path))

    assert not operator.prove(_run(tmp_path), faults=100)
    assert not killing.prove("kill-jobs", _run(tmp_path), kills=10)
    assert capsys.readouterr().out.count("run `make kube` to build them") == 2
