"""The follower of a process fails where it would wait for what never comes."""

import subprocess
import sys

import pytest

from tests.acceptance.running import Running

_SKIPPED = '{"event": "run.skipped", "schedule": "hello", "key": "first"}'


def test_a_wait_for_the_end_of_a_run_that_was_skipped_fails_at_once() -> None:
    told = f"import sys; print('{_SKIPPED}', file=sys.stderr, flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", told], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        followed = Running(process)
        with pytest.raises(AssertionError, match=r"no run\.ended"):
            followed.until("run.ended", key="first")

        assert process.poll() is None
        assert followed.lines[0]["event"] == "run.skipped"
