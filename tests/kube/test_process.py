"""A program of the cluster ends with the tests, and not before."""

import subprocess
import threading
from pathlib import Path

import pytest

from tests.kube.process import Process


def test_a_program_outlives_the_thread_that_asked_for_it(tmp_path: Path) -> None:
    one = Process(["sleep", "60"], tmp_path / "log")
    thread = threading.Thread(target=one.start)
    thread.start()
    thread.join()
    try:
        assert one._process is not None
        with pytest.raises(subprocess.TimeoutExpired):
            one._process.wait(0.3)
    finally:
        one.kill()
    assert one.code == -9
