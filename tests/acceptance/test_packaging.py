"""The units of systemd start commands that there are, with options that they have."""

import shlex
from pathlib import Path

import pytest

from gnomon.cli import app
from tests.acceptance.command_line import commands_of
from tests.tidy.tree import ROOT

UNITS = sorted((ROOT / "packaging").glob("*.service"))
KROND = [unit for unit in UNITS if unit.name.startswith("krond")]


def lines_of(unit: Path, key: str) -> list[list[str]]:
    lines = (line.partition("=") for line in unit.read_text().splitlines())
    return [shlex.split(value) for name, _, value in lines if name == key]


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_a_unit_starts_commands_that_there_are(unit: Path) -> None:
    commands = [*lines_of(unit, "ExecStartPre"), *lines_of(unit, "ExecStart")]

    assert commands
    for program, name, *arguments in commands:
        assert program.endswith("/bin/gnomon")
        command = commands_of(app)[name]
        if below := commands_of(command):
            name, *arguments = arguments
            command = below[name]
        with command.make_context(name, arguments) as context:
            assert context.args == []


@pytest.mark.parametrize("unit", KROND, ids=lambda path: path.name)
def test_a_unit_leaves_jobs_to_krond_and_does_not_restart_in_vain(unit: Path) -> None:
    assert lines_of(unit, "KillMode") == [["process"]]
    assert lines_of(unit, "RestartPreventExitStatus") == [["1", "3"]]
