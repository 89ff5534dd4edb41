"""
How is the proof run: on all cores, with progress, and so that it can be resumed?

Each finished chunk is one line of a state file. `--resume` takes over the lines of an earlier run
if they were made by the same sources, the same zone data, the same seed and the same Python.
"""

import hashlib
import json
import platform
import signal
import time
from multiprocessing import Pool
from pathlib import Path

from tests.oracle.random_cases import SEED
from tests.oracle.transitions import tzdata_version
from tests.prove.chunk import CRASH_CHUNK, FUZZ_CHUNK, RANDOM_CHUNK, Chunk, ChunkResult, run

__all__ = ["ROOT", "State", "run_all"]

ROOT = Path(__file__).resolve().parents[2]
_PROGRESS_EVERY_S = 5.0


class State:
    """The results so far, in a file that grows by one line for each chunk."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        self._path = path
        self.results: dict[Chunk, ChunkResult] = {}
        self.wall_s = 0.0
        if not (resume and self._take_over()):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"key": _key()}))

    def add(self, result: ChunkResult) -> None:
        self.results[result.chunk] = result
        self._append({"result": result.as_json()})

    def add_wall(self, seconds: float) -> None:
        self.wall_s += seconds
        self._append({"wall_s": seconds})

    def _append(self, line: dict[str, object]) -> None:
        # The line break comes first, so that a line cut short by a kill spoils no other.
        with self._path.open("a") as file:
            file.write("\n" + json.dumps(line))

    def _take_over(self) -> bool:
        if not self._path.exists():
            return False
        header, *lines = self._path.read_text().splitlines() or [""]
        if header != json.dumps({"key": _key()}):
            print("the earlier run was made by other sources or data: starting again")
            return False
        for text in lines:
            self._take_over_line(text)
        print(f"resuming after {len(self.results)} chunks")
        return True

    def _take_over_line(self, text: str) -> None:
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            return  # cut short when the run was killed; that chunk runs again
        self.wall_s += line.get("wall_s", 0.0)
        if "result" in line:
            result = ChunkResult(**line["result"])
            self.results[result.chunk] = result


def run_all(chunks: list[Chunk], state: State, *, workers: int) -> None:
    """Run what is not yet done. An interrupt loses only the chunks under way."""
    todo = [chunk for chunk in chunks if chunk not in state.results]
    started = shown = saved = time.perf_counter()
    with Pool(workers, initializer=_leave_interrupts_to_the_parent) as pool:
        for done, result in enumerate(pool.imap_unordered(run, todo), start=1):
            state.add(result)
            now = time.perf_counter()
            if now - shown >= _PROGRESS_EVERY_S or done == len(todo) or result.differences:
                print(_progress(done, len(todo), now - started, state), flush=True)
                state.add_wall(now - saved)
                shown = saved = now


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _progress(done: int, total: int, elapsed: float, state: State) -> str:
    rate = done / elapsed
    answers = sum(result.answers for result in state.results.values())
    differences = sum(result.differences_found for result in state.results.values())
    return (
        f"{done}/{total} chunks, {answers:,} answers compared, {rate:.1f} chunks/s, "
        f"{(total - done) / rate:.0f} s left, {differences} differences"
    )


def _key() -> str:
    """A fingerprint of everything that an answer depends on."""
    digest = hashlib.sha256()
    patterns = ("src/gnomon/**/*.py", "src/gnomon/**/*.sql", "tests/oracle/*.py", "tests/kill/*.py")
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    sizes = [RANDOM_CHUNK, FUZZ_CHUNK, CRASH_CHUNK]
    parts = [tzdata_version(), platform.python_version(), SEED, *sizes]
    digest.update(json.dumps(parts).encode())
    return digest.hexdigest()
