"""
A process that lives and dies again and again, and everything that was seen of it.

Each life ends by SIGKILL: at a point of its own, which its last line names, or from outside after a
number of lines. Some were stopped before, at a point, for longer than leases and periods are.
Nothing else waits for time to pass; the process is waited for, or its next line.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.kill.judge import Verdict

__all__ = ["PATIENCE_S", "ROOT", "Lives", "Outcome", "where_it_died"]

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120
"""Only a hang takes longer, and a hang is a failure."""

_SHOWN = 2_000  # characters of what a process said
_LAST_WORDS_S = 5


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What happened in a world."""

    seed: str
    kills: int = 0
    asked_again: int = 0
    """How often an executor was asked under a key it knew."""
    died: Counter[str] = field(default_factory=Counter)
    stopped: Counter[str] = field(default_factory=Counter)
    """Where lives were stopped and continued, before they died from outside."""
    verdict: Verdict = field(default_factory=Verdict)
    problems: list[str] = field(default_factory=list)

    def notes(self) -> dict[str, int]:
        """The figures by name."""
        verdict = self.verdict
        return {
            "executed": verdict.executed,
            "lines": verdict.lines,
            "unseen": verdict.unseen,
            "asked again": self.asked_again,
            **{f"outcome {name}": count for name, count in verdict.outcomes.items()},
            **{f"died {where}": count for where, count in self.died.items()},
            **{f"stopped {where}": count for where, count in self.stopped.items()},
        }


def where_it_died(lines: Sequence[str]) -> str:
    """
    The point that a process named before it killed itself.

    Another of its threads may have written a line between that one and the end.
    """
    last = next(line for line in reversed(lines) if line.startswith('{"event": "died"'))
    return str(json.loads(last)["at"])


class Lives:
    """Starts processes, and waits for their deaths."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    def die_at_a_point(self, number: int, module: str, *arguments: str) -> None:
        """One life that kills itself at a point."""
        process = self._start(module, str(number), *arguments)
        lines = self._wait(process)
        if self._expect(process, -signal.SIGKILL, f"point {number}", lines):
            self._outcome.died[where_it_died(lines)] += 1
            self._outcome.kills += 1

    def be_killed(self, lines: int, module: str, *arguments: str) -> None:
        """One life that is killed from outside, after so many lines."""
        process = self._start(module, *arguments)
        self._read(process, lines)
        process.kill()
        rest = self._wait(process)
        if self._expect(process, -signal.SIGKILL, f"line {lines}", rest):
            self._outcome.died["from outside"] += 1
            self._outcome.kills += 1

    def be_stopped(
        self, number: int, seconds: float, lines: int, module: str, *arguments: str
    ) -> None:
        """One life that stops itself at a point; so much later it goes on, and is killed then."""
        process = self._start(module, str(-number), *arguments)
        said = self._read_until(process, '{"event": "stopped"')
        if said:
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            time.sleep(seconds)
            process.send_signal(signal.SIGCONT)
            self._read(process, lines)
            self._outcome.stopped[str(json.loads(said)["at"])] += 1
        process.kill()
        rest = self._wait(process)
        if self._expect(process, -signal.SIGKILL, f"stopped at point {number}", rest) and said:
            self._outcome.died["from outside"] += 1
            self._outcome.kills += 1

    def _examine(self, when: str, *place: str) -> None:
        """Ask the doctor; what it finds is a problem."""
        done = subprocess.run(
            [sys.executable, "-m", "gnomon", "doctor", *place, "--json"],
            cwd=ROOT, check=False, capture_output=True, text=True, timeout=PATIENCE_S,
        )  # fmt: skip
        if done.returncode or json.loads(done.stdout)["findings"]:
            self._outcome.problems.append(f"the doctor, {when}: {done.stdout}{done.stderr}")

    def _start(self, *arguments: str) -> "subprocess.Popen[str]":
        return self._popen(arguments)

    def _popen(
        self, arguments: Sequence[str], *, keeps: Sequence[int] = ()
    ) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
            pass_fds=keeps,
        )  # fmt: skip

    def _read(self, process: "subprocess.Popen[str]", lines: int) -> None:
        assert process.stderr is not None
        for _ in range(lines):
            if not process.stderr.readline():
                return

    def _read_until(self, process: "subprocess.Popen[str]", word: str) -> str:
        """The line with this word in it; empty when the process has ended without one."""
        assert process.stderr is not None
        while (line := process.stderr.readline()) and word not in line:
            pass
        return line

    def _wait(self, process: "subprocess.Popen[str]") -> list[str]:
        """The lines up to the end; a process that hangs is killed, and that is a problem."""
        try:
            _, text = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGUSR1)  # who can, says what it waits for
            try:
                _, text = process.communicate(timeout=_LAST_WORDS_S)
            except subprocess.TimeoutExpired:
                process.kill()
                _, text = process.communicate()
            self._outcome.problems.append(f"hung for {PATIENCE_S} s: {text[-_SHOWN:]}")
        return text.splitlines()

    def _expect(
        self, process: "subprocess.Popen[str]", code: int, what: str, lines: list[str]
    ) -> bool:
        if process.returncode == code:
            return True
        last = "\n".join(lines)[-_SHOWN:]
        self._outcome.problems.append(f"{what}: ended with {process.returncode}: {last}")
        return False
