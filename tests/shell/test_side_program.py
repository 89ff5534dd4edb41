"""A program that is asked something: its answer, its failures, and its end when it is given up."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from gnomon.errors import DefinitionError
from gnomon.shell.side_program import OUTPUT_MAX, ProgramFailedError, ask_program, read_program
from tests.clauses import clause


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def ask(words: list[str], text: str = "") -> str:
    return asyncio.run(ask_program(words, text))


@clause("FAIL-20")
def test_what_is_asked_goes_in_and_what_is_printed_comes_out() -> None:
    echo = python("import sys; sys.stdout.write(sys.stdin.read().upper())")

    assert ask(echo, "grüße\n" * 100_000) == "GRÜSSE\n" * 100_000


@clause("FAIL-20")
def test_a_program_need_not_read_what_it_is_given() -> None:
    assert ask(python("print(5)"), "x" * 1_000_000) == "5\n"


@clause("FAIL-20")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys; sys.exit('no model')", "exited with 1: no model"),
        ("import os; os.kill(os.getpid(), 9)", "exited with -9"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "UTF-8"),
        (f"print('x' * {OUTPUT_MAX})", "at most"),
    ],
)
def test_a_program_that_fails_or_says_too_much_is_a_failure(text: str, said: str) -> None:
    with pytest.raises(ProgramFailedError, match=said):
        ask(python(text))


@clause("FAIL-20")
def test_a_program_that_is_gone_by_then_is_a_failure() -> None:
    with pytest.raises(ProgramFailedError, match="No such file"):
        ask(["/nowhere/at/all"])


@clause("FAIL-20")
def test_given_up_the_whole_group_of_the_program_is_ended(tmp_path: Path) -> None:
    mark, pids = tmp_path / "begun", tmp_path / "pids"
    os.mkfifo(mark)
    script = f"echo $$ > {pids}; sleep 1000 & echo $! >> {pids}; echo > {mark}; wait"

    async def scenario() -> None:
        task = asyncio.create_task(ask_program(["sh", "-c", script], ""))
        await asyncio.to_thread(mark.read_text)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    shell, sleeper = map(int, pids.read_text().split())

    with pytest.raises(ProcessLookupError):
        os.kill(shell, 0)
    stat = Path(f"/proc/{sleeper}/stat")
    assert not stat.exists() or stat.read_text().split(") ")[1][0] in "ZX"


@clause("FAIL-20")
@pytest.mark.parametrize("text", ["", "   ", "/nowhere/at/all --fast", "'unclosed"])
def test_a_command_that_cannot_be_meant_is_refused_at_once(text: str) -> None:
    with pytest.raises(DefinitionError, match="repairer"):
        read_program(text, where="repairer")


def test_a_command_is_read_as_a_shell_reads_it() -> None:
    assert read_program("sh -c 'exit 0'", where="alert") == ["sh", "-c", "exit 0"]
