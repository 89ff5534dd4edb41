"""`--json` of every command of krond and of krontab files: one object, with keys that stay."""

from pathlib import Path

import pytest

from gnomon.cli.program import app
from tests.acceptance.command_line import commands_of, gnomon
from tests.acceptance.krond_process import ask_krond, krond, write_krontab
from tests.clauses import clause

YEARLY = "0 0 1 1 * name=yearly command=true\n"
C = "0 5 * * * name=c command=/bin/true"


def commands() -> list[tuple[str, str]]:
    """Every command of the two groups, also those that a later change adds."""
    groups = commands_of(app)
    return [(name, one) for name in ("krond", "krontab") for one in commands_of(groups[name])]


@clause("KROND-40")
@pytest.mark.parametrize("path", commands(), ids=" ".join)
def test_every_command_has_an_answer_as_json(path: tuple[str, str]) -> None:
    assert "--json" in gnomon(*path, "--help").out


@clause("KROND-40")
def test_a_change_of_a_file_is_told_as_json(tmp_path: Path) -> None:
    file = write_krontab(tmp_path, YEARLY)
    about_c = {"file": str(file), "job": "c", "identity": f"{file}:c"}

    added = gnomon("krontab", "add", C, "--file", str(file), "--json")
    replaced = gnomon("krontab", "add", C, "--file", str(file), "--replace", "--json")
    removed = gnomon("krontab", "remove", "c", "--file", str(file), "--json")

    assert added.json == {**about_c, "replaced": False}
    assert replaced.json == {**about_c, "replaced": True}
    assert removed.json == about_c
    assert file.read_text() == YEARLY


@clause("KROND-40")
def test_what_a_form_would_be_is_told_as_json(tmp_path: Path) -> None:
    file = write_krontab(tmp_path, f"  {YEARLY}")
    about = {"file": str(file), "text": YEARLY}

    untidy = gnomon("krontab", "format", str(file), "--check", "--json")
    shown = gnomon("krontab", "format", str(file), "--json")
    written = gnomon("krontab", "format", str(file), "--write", "--json")
    tidy = gnomon("krontab", "format", str(file), "--check", "--json")
    other = gnomon("krontab", "format", str(file), "--to", "yaml", "--write", "--json")

    assert (untidy.code, untidy.json) == (1, {**about, "formatted": False, "written": False})
    assert (shown.code, shown.json) == (0, {**about, "formatted": False, "written": False})
    assert (written.code, written.json) == (0, {**about, "formatted": False, "written": True})
    assert (tidy.code, tidy.json) == (0, {**about, "formatted": True, "written": False})
    assert str(other.json["text"]).startswith("jobs:\n")
    assert other.json["written"] is False
    assert file.read_text() == YEARLY


@clause("KROND-40")
def test_a_krond_tells_its_life_as_json(tmp_path: Path) -> None:
    file, state = write_krontab(tmp_path, YEARLY), tmp_path / "state"

    started = ask_krond(state, "start", str(file), "--detach", "--json")
    status = ask_krond(state, "status", "--json")
    reloaded = ask_krond(state, "reload", "--json")
    file.write_text("nonsense\n")
    refused = ask_krond(state, "reload", "--json")
    stopped = ask_krond(state, "stop", "--json")
    gone = ask_krond(state, "stop", "--json")

    assert started.json == {"pid": status.json["pid"], "log": f"{state}/krond.log"}
    assert reloaded.json == {"jobs": 1}
    assert (refused.code, refused.out) == (1, "")
    assert f"error: {file}:1:1: " in refused.err
    assert stopped.json == {"stopped": True, "active": 0}
    assert (gone.code, gone.out) == (2, "")
    assert gone.err.startswith("error: ")


@clause("KROND-40")
def test_krond_in_the_foreground_gives_no_answer(tmp_path: Path) -> None:
    file = write_krontab(tmp_path, YEARLY)

    done = gnomon("krond", "start", str(file), "--state-dir", str(tmp_path / "state"), "--json")

    assert (done.code, done.out) == (1, "")
    assert "hint: add --detach, or write --json-log" in done.err
    assert not (tmp_path / "state").exists()


@clause("KROND-40", "KROND-22")
def test_a_repair_is_told_as_json(tmp_path: Path) -> None:
    file, state = write_krontab(tmp_path, YEARLY), tmp_path / "state"
    with krond(file, state):
        assert ask_krond(state, "stop", "--json").code == 0
    ledger = state / "krond.sqlite3"
    whole = ledger.read_bytes()
    ledger.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))

    repaired = ask_krond(state, "repair", "--json").json
    again = ask_krond(state, "repair", "--json").json

    assert repaired["repaired"] is True
    assert repaired["stateDirectory"] == again["stateDirectory"] == str(state)
    assert f"{ledger}.damaged-1" in str(repaired["putAside"])
    assert "'code': 'damaged'" in str(repaired["findings"])
    assert (again["repaired"], again["findings"], again["putAside"]) == (False, [], [])
