"""`gnomon up` as a process of its own, on a port that was free; nothing waits for a time."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.acceptance.command_line import Done, gnomon
from tests.acceptance.running import Running

__all__ = ["HOURLY", "Up", "up"]

HOURLY = {
    "workflow_id": "report", "version": 1, "user_id": "acme", "schedule_id": "hourly",
    "cron_expr": "0 * * * *", "timezone": "UTC",
}  # fmt: skip


class Up(Running):
    """A service that is up, or has ended."""

    def __init__(self, process: "subprocess.Popen[str]", folder: Path) -> None:
        super().__init__(process)
        assert process.stdout is not None
        self.folder = folder
        self.token_file = folder / ".gnomon" / "token"
        self.welcome = [process.stdout.readline().rstrip() for _ in range(4)]
        self.url = self.welcome[0].split()[4].rstrip("/")

    def ask(self, *arguments: str) -> Done:
        """`gnomon ...` against this service."""
        return gnomon(*arguments, "--url", self.url, "--token-file", str(self.token_file))

    def schedule(self, *arguments: str) -> Done:
        """`gnomon schedule ...` against this service."""
        return self.ask("schedule", *arguments)


@contextmanager
def up(folder: Path, *options: str, environment: Mapping[str, str] | None = None) -> Iterator[Up]:
    """`gnomon up --json-log`; killed at the end if it is still there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gnomon", "up", "--port", "0", "--json-log", *options],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | dict(environment or {}),
    )  # fmt: skip
    try:
        yield Up(process, folder)
    finally:
        process.kill()
        process.communicate()
