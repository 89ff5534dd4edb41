"""The program as a whole: how it is started, what it prints where, how it ends."""

import os
import pty
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from gnomon import tzdata_version
from gnomon.cli.program import app
from tests.acceptance.command_line import commands_of, gnomon, gnomon_process
from tests.clauses import clause

NEXT = ["next", "30 2 * * *", "--zone", "Europe/Berlin", "--after", "2026-03-28T12:00:00Z"]


LOADED = """
import sys
before = set(sys.modules)  # loaded by a tool that watches this process
from gnomon.cli import main
code = main(sys.argv[1:])
print(*sorted(set(sys.modules) - before), file=sys.stderr)
sys.exit(code)
"""

HEAVY = {
    "aiohttp", "asyncio", "asyncpg", "fastapi", "gnomon.apps", "gnomon.batch",
    "gnomon.compose", "gnomon.ports", "gnomon.shell.http", "gnomon.shell.store", "httpx2", "jinja2",
    "kubernetes_asyncio", "logging", "numpy", "prometheus_client", "pydantic", "rich", "sqlite3",
    "ssl", "starlette", "typer", "uvicorn", "yaml",
}  # fmt: skip
"""What takes its time to be imported, and answers no question about time."""

PRINTING = [
    ["next", "* * * * *", "--count", "1000"],
    ["decide", "--identity", "a", "--nominal", "2026-03-01T00:00:00Z", "--json"],
    ["--version"],
    ["--help"],
]


def with_closed(stream: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the program as `gnomon ... 1>&-` does, or with 2 without a place for errors."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {stream}>&-', "sh", sys.executable, "-m", "gnomon", *arguments],
        check=False, capture_output=True, text=True,
    )  # fmt: skip


def in_a_terminal(*arguments: str, environment: dict[str, str]) -> str:
    """What the program prints when it writes to a terminal."""
    here, there = pty.openpty()
    with os.fdopen(here, "rb", buffering=0) as terminal:
        program = subprocess.Popen(
            [sys.executable, "-m", "gnomon", *arguments],
            stdin=there, stdout=there, stderr=there,
            env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "60"} | environment,
        )  # fmt: skip
        os.close(there)
        printed = b""
        try:
            while chunk := terminal.read(4096):
                printed += chunk
        except OSError:
            pass  # how a terminal says that the other side is gone
        assert program.wait() == 0
    return printed.decode()


@clause("CLI-1")
def test_the_version_names_gnomon_the_zone_data_and_python() -> None:
    done = gnomon_process("--version")

    assert done.code == 0
    assert done.out.startswith(f"gnomon {version('gnomon')} (tzdata {tzdata_version()}, Python 3.")


@clause("CLI-1")
def test_the_command_is_the_same_program_as_the_module() -> None:
    command = Path(sys.executable).with_name("gnomon")

    done = subprocess.run([command, *NEXT], check=True, capture_output=True, text=True)

    assert done.stdout == gnomon_process(*NEXT).out


@clause("CLI-1")
def test_without_a_command_the_program_says_what_it_can_do() -> None:
    done = gnomon()

    assert done.code == 0
    assert done.out == gnomon("--help").out
    assert all(word in done.out for word in ("next", "describe", "decide", "preview"))


@clause("CLI-6")
def test_output_in_a_pipe_is_plain_and_does_not_depend_on_the_width() -> None:
    narrow = gnomon_process(*NEXT, environment={"COLUMNS": "20"})
    coloured = gnomon_process(*NEXT, environment={"FORCE_COLOR": "1", "COLUMNS": "300"})

    assert narrow == coloured
    assert "\x1b" not in narrow.out
    assert [line for line in narrow.lines if line != line.rstrip()] == []


@clause("CLI-6")
def test_output_in_a_terminal_has_colours_unless_they_are_unwanted() -> None:
    coloured = in_a_terminal(*NEXT, environment={"NO_COLOR": ""})
    plain = in_a_terminal(*NEXT, environment={"NO_COLOR": "1"})

    assert "\x1b[33mmoved: 02:30" in coloured
    assert "\x1b[33m" not in plain


@clause("CLI-6")
def test_no_column_is_cut_short_in_a_narrow_terminal() -> None:
    printed = in_a_terminal(*NEXT, environment={"NO_COLOR": "1"})

    assert "2026-03-29 03:00:00 +02:00  Sun  2026-03-29T01:00:00Z  in 13 h" in printed


@clause("CLI-6")
def test_a_reader_that_has_seen_enough_ends_the_program_silently() -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "gnomon", "next", "* * * * *", "--count", "1000"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert program.stdout is not None
    program.stdout.close()

    _, errors = program.communicate()

    assert (program.returncode, errors) == (0, b"")


@clause("CLI-3")
@pytest.mark.parametrize("arguments", PRINTING)
def test_output_that_cannot_be_written_is_a_failure_of_the_system(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gnomon", *arguments],
            stdout=full, stderr=subprocess.PIPE, check=False, text=True,
        )  # fmt: skip

    assert done.returncode == 2
    error, *hints = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert "No space left on device" in error
    assert hints == ["hint: make room on the disk; what was written before is as it was"]


@clause("CLI-3")
@pytest.mark.parametrize("arguments", PRINTING[:2])
def test_output_that_is_closed_is_a_failure_of_the_system(arguments: list[str]) -> None:
    done = with_closed("1", *arguments)

    assert (done.returncode, done.stderr) == (2, "error: standard output: is closed\n")


@clause("CLI-3")
def test_a_problem_that_cannot_be_said_still_has_its_exit_code() -> None:
    assert with_closed("2", "next", "61 * * * *").returncode == 1


@clause("CLI-6")
def test_the_output_in_a_pipe_is_what_a_wide_terminal_shows() -> None:
    arguments = [*NEXT, "--count", "20"]

    shown = in_a_terminal(*arguments, environment={"NO_COLOR": "1", "COLUMNS": "300"})

    lines = [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", shown).splitlines()]
    assert lines == gnomon_process(*arguments).lines


@clause("CLI-6")
def test_a_locale_without_unicode_is_no_reason_to_fail(tmp_path: Path) -> None:
    file = tmp_path / "schedules.toml"
    file.write_text('[[schedule]]\nname = "käse"\nevery = "1h"\n', encoding="utf-8")

    done = gnomon_process("preview", str(file), environment={"PYTHONIOENCODING": "ascii:strict"})

    assert done.code == 0
    assert "k\\xe4se: Every" in done.out


@clause("CLI-7")
def test_the_shipped_program_begins_with_now() -> None:
    done = gnomon_process("next", "* * * * *", "--count", "2", "--json")

    after, found = str(done.json["after"]), done.json["next"]
    assert isinstance(found, list)
    assert after < found[0] < found[1]


def loaded_by(*command: str) -> set[str]:
    """The modules that a command imports."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *command], check=True, capture_output=True, text=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("command", [NEXT, [*NEXT, "--json"], ["describe", "0 3 * * *"]])
def test_a_question_about_time_loads_nothing_of_what_runs_schedules(command: list[str]) -> None:
    loaded = loaded_by(*command)

    assert "gnomon.core.recurrence" in loaded
    assert loaded & HEAVY == set()
    assert {name for name in loaded if name.startswith("gnomon.cli.")} == {
        "gnomon.cli.click_parts", "gnomon.cli.local_time", "gnomon.cli.time_commands",
        "gnomon.cli.options", "gnomon.cli.problem", "gnomon.cli.program", "gnomon.cli.screen",
    }  # fmt: skip


def test_the_version_loads_no_command() -> None:
    loaded = loaded_by("--version")

    assert loaded & HEAVY == set()
    assert {name for name in loaded if name.startswith("gnomon.cli.")} == {
        "gnomon.cli.click_parts", "gnomon.cli.problem", "gnomon.cli.program", "gnomon.cli.screen",
    }  # fmt: skip


def test_the_help_which_looks_at_every_command_loads_no_extra_and_does_not_draw() -> None:
    extras = {"aiohttp", "asyncpg", "fastapi", "httpx", "numpy", "pydantic", "uvicorn", "yaml"}

    assert loaded_by("--help") & {*extras, "rich", "typer"} == set()


def groups() -> list[list[str]]:
    """Every group of commands, by the words that lead to it."""
    return [[], *([name] for name, command in commands_of(app).items() if commands_of(command))]


@clause("CLI-43")
@pytest.mark.parametrize("path", groups(), ids=" ".join)
def test_a_group_of_commands_without_a_command_prints_its_help(path: list[str]) -> None:
    done = gnomon(*path)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: {' '.join(['gnomon', *path])} [OPTIONS]")
    assert "\nCommands:\n" in done.out
    assert "\\n" not in done.out
