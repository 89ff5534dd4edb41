"""What processes print: where it goes, how much of it is kept, and what it takes meanwhile."""

import asyncio
import os
from pathlib import Path

from gnomon.shell.clock import SystemClock
from gnomon.shell.launcher.outputs import Output
from gnomon.shell.launcher.process import OUTPUT_LOOK_MS, ProcessLauncher
from tests.clauses import clause
from tests.shell.launcher.claims import a_claim
from tests.shell.launcher.processes import READY, begin, heard, run_one, say, shell_with_fifo


@clause("LAUNCH-9")
def test_of_long_output_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    text = "echo first; head -c 5000 /dev/zero | tr '\\0' x; echo; echo last >&2"

    end, printed = run_one({"shell": text}, tmp_path, output_max=20)

    assert end.success
    assert printed == "first\nxxxx\n... 4992 bytes left out ...\nxxxx\nlast\n"


class TickingClock(SystemClock):
    """The looks at output come when the test says so; everything else takes its time."""

    def __init__(self) -> None:
        self._ticks = asyncio.Semaphore(0)
        self._waiting = asyncio.Semaphore(0)

    async def sleep_ms(self, length_ms: int) -> None:
        if length_ms != OUTPUT_LOOK_MS:
            await super().sleep_ms(length_ms)
            return
        self._waiting.release()
        await self._ticks.acquire()

    async def tick(self) -> None:
        """Let one look happen, and return when it has."""
        await self._waiting.acquire()
        self._ticks.release()
        await self._waiting.acquire()
        self._waiting.release()


@clause("LAUNCH-11")
def test_long_output_does_not_fill_the_disk_while_the_process_runs(
    tmp_path: Path, fifo: Path
) -> None:
    many = "head -c 3000000 /dev/zero | tr '\\0' x"
    text = f'echo first; {many}; {READY}; read word < "$FIFO"; {many}; echo last; {READY}'

    async def scenario() -> tuple[list[int], str]:
        clock = TickingClock()
        launcher = ProcessLauncher(clock, directory=tmp_path, output_max=65_536)
        claim = a_claim(shell_with_fifo(text, fifo))
        await begin(launcher, claim)
        path = launcher.output.newest(claim.key)
        assert path is not None
        on_disk = []
        for _ in range(2):
            assert heard(fifo) == "ready\n"
            await clock.tick()
            on_disk.append(path.stat().st_blocks * 512)
            if len(on_disk) == 1:
                say(fifo, "go on")
        await launcher.ended()
        return on_disk, path.read_text()

    on_disk, printed = asyncio.run(scenario())

    assert max(on_disk) < 200_000
    assert printed.startswith("first\nxxxx")
    assert printed.endswith("xxxxlast\n")
    assert "\n... 5934475 bytes left out ...\n" in printed
    assert "\0" not in printed


@clause("LAUNCH-9")
def test_a_process_that_prints_nothing_leaves_no_file(tmp_path: Path) -> None:
    run_one({"command": ["true"]}, tmp_path)

    assert list(tmp_path.iterdir()) == []


@clause("LAUNCH-9")
def test_the_oldest_output_makes_room(tmp_path: Path) -> None:
    async def scenario() -> None:
        launcher = ProcessLauncher(SystemClock(), directory=tmp_path, files_max=2)
        for name in ("one", "two", "three"):
            await begin(launcher, a_claim({"command": ["echo", name]}, name=name))
            await launcher.ended()

    asyncio.run(scenario())

    assert [path.read_text() for path in tmp_path.iterdir()] == ["three\n"]


@clause("LAUNCH-11")
def test_the_output_of_a_run_in_flight_makes_no_room(tmp_path: Path, fifo: Path) -> None:
    folder = tmp_path / "output"

    async def scenario() -> None:
        launcher = ProcessLauncher(SystemClock(), directory=folder, files_max=2)
        text = f'echo old; {READY}; read word < "$FIFO"; echo and alive'
        await begin(launcher, a_claim(shell_with_fifo(text, fifo), name="old"))
        assert heard(fifo) == "ready\n"
        for name in ("one", "two", "three"):
            await begin(launcher, a_claim({"command": ["echo", name]}, name=name))
            await launcher.ended()
        say(fifo, "go on")
        await launcher.ended()

    asyncio.run(scenario())

    assert "old\nand alive\n" in [path.read_text() for path in folder.iterdir()]


@clause("LAUNCH-9")
def test_the_next_worker_cuts_what_a_former_one_left(tmp_path: Path) -> None:
    left = tmp_path / "run.1.out"
    left.write_text("first" + "x" * 5000 + "last!")
    (tmp_path / "silent.1.out").touch()

    Output(tmp_path, bytes_max=10, files_max=100)

    assert left.read_text() == "first\n... 5000 bytes left out ...\nlast!"
    assert list(tmp_path.iterdir()) == [left]


@clause("LAUNCH-9")
def test_what_was_cut_is_not_cut_again(tmp_path: Path) -> None:
    left = tmp_path / "run.1.out"
    left.write_text("first" + "x" * 5000 + "last!")
    Output(tmp_path, bytes_max=10, files_max=100)
    once = left.read_text()

    Output(tmp_path, bytes_max=10, files_max=100)
    assert left.read_text() == once


@clause("LAUNCH-9")
def test_a_file_is_settled_when_no_process_has_it_any_more(tmp_path: Path) -> None:
    former = Output(tmp_path, bytes_max=10, files_max=100)
    path = former.path("run", 1)
    assert path is not None
    held = former.open(path)
    os.write(held, b"first" + b"x" * 5000)

    output = Output(tmp_path, bytes_max=10, files_max=100)
    output.look()
    os.write(held, b"last!")
    assert path.stat().st_size == 5010
    assert output.is_growing

    os.close(held)
    output.look()
    assert path.read_text() == "first\n... 5000 bytes left out ...\nlast!"
    assert not output.is_growing


@clause("LAUNCH-9")
def test_a_child_that_is_left_behind_keeps_the_file_of_a_silent_run(
    tmp_path: Path, fifo: Path
) -> None:
    folder = tmp_path / "output"
    text = f'(read word < "$FIFO"; echo late; {READY}; read word < "$FIFO") &'

    async def scenario() -> tuple[str, bool]:
        clock = TickingClock()
        launcher = ProcessLauncher(clock, directory=folder)
        await begin(launcher, a_claim(shell_with_fifo(text, fifo)))
        await launcher.ended()
        say(fifo, "go on")
        assert heard(fifo) == "ready\n"
        await clock.tick()
        (path,) = folder.iterdir()
        found = path.read_text(), launcher.output.is_growing
        say(fifo, "end")
        return found

    assert asyncio.run(scenario()) == ("late\n", True)
