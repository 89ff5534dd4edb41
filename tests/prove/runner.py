"""
How is the proof run: on all cores, with progress, and so that it can be resumed?

Each finished chunk is one line of a state file. `--resume` takes over the lines of an earlier run
if they were made by the same sources, the same zone data, the same seed and the same Python.
"""

import hashlib
import json
import platform
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

from tests.oracle.random_cases import SEED
from tests.oracle.transitions import tzdata_version
from tests.prove.chunk import (
    CRASH_CHUNK,
    FUZZ_CHUNK,
    KILLS_PER_WORLD,
    RANDOM_CHUNK,
    Chunk,
    ChunkResult,
    run,
)

__all__ = ["ROOT", "Run", "State", "revision", "run_all", "write_report"]

ROOT = Path(__file__).resolve().parents[2]
_EVIDENCE = ROOT / "docs" / "evidence"
_PROGRESS_EVERY_S = 5.0
_SHOWN_MAX = 20

_Mapping = Callable[[Callable[[Chunk], ChunkResult], Iterable[Chunk]], Iterator[ChunkResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How much of the proof is run, and where its reports go."""

    sample: int = 1
    """Every n-th chunk only."""
    resume: bool = False
    reports: Path | None = None
    state: Path = ROOT / ".prove"

    def report(self, name: str, *, whole: bool) -> Path | None:
        """The page to write; None when only a part was run and the caller named no folder."""
        folder = self.reports or (_EVIDENCE if whole and self.sample == 1 else None)
        return None if folder is None else folder / name


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


def run_all(chunks: list[Chunk], name: str, how: Run, *, workers: int, unit: str) -> State:
    """
    Run what is not yet done; `unit` says what cases are.

    A finding is printed when it comes. An interrupt loses only the chunks under way.
    """
    state = State(how.state / f"{name}.jsonl", resume=how.resume)
    todo = [chunk for chunk in chunks if chunk not in state.results]
    started = shown = saved = time.perf_counter()
    findings = 0
    with _mapping(workers) as each:
        for done, result in enumerate(each(run, todo), start=1):
            state.add(result)
            for line in result.differences[: max(_SHOWN_MAX - findings, 0)]:
                print(f"FOUND {line}", flush=True)
            findings += len(result.differences)
            now = time.perf_counter()
            if now - shown >= _PROGRESS_EVERY_S or done == len(todo):
                print(_progress(done, len(todo), now - started, unit, state), flush=True)
                state.add_wall(now - saved)
                shown = saved = now
    return state


def write_report(path: Path, found: dict[str, object], page: str) -> None:
    """`path` is the Markdown page; the JSON file beside it has the same stem."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".json").write_text(json.dumps(found, indent=2) + "\n")
    path.write_text(page)
    print(f"report: {path}")


def revision() -> str:
    """The commit the proof was made on; `+` if the tree held more than that."""
    head = _git("rev-parse", "HEAD")
    if not head:
        return "not in a repository with commits"
    return f"{head}+" if _git("status", "--porcelain", "--", "src", "tests") else head


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


@contextmanager
def _mapping(workers: int) -> Iterator[_Mapping]:
    """What runs chunks, in no order: other processes, or this one when one is enough."""
    if workers == 1:
        yield map
        return
    with Pool(workers, initializer=_leave_interrupts_to_the_parent) as pool:
        yield pool.imap_unordered


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _progress(done: int, total: int, elapsed: float, unit: str, state: State) -> str:
    rate = done / elapsed
    cases = sum(result.cases for result in state.results.values())
    findings = sum(result.differences_found for result in state.results.values())
    return (
        f"{done}/{total} chunks, {cases:,} {unit}, {rate:.1f} chunks/s, "
        f"{(total - done) / rate:.0f} s left, {findings} findings"
    )


def _key() -> str:
    """A fingerprint of everything that an answer depends on."""
    digest = hashlib.sha256()
    patterns = (
        "src/gnomon/**/*.py", "src/gnomon/**/*.sql", "tests/oracle/*.py", "tests/kill/*.py",
        "tests/prove/chunk.py",
    )  # fmt: skip
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    sizes = [RANDOM_CHUNK, FUZZ_CHUNK, CRASH_CHUNK, KILLS_PER_WORLD]
    parts = [tzdata_version(), platform.python_version(), SEED, *sizes]
    digest.update(json.dumps(parts).encode())
    return digest.hexdigest()
