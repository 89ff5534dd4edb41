"""The digests of worlds as another process finds them, in which texts have other hashes."""

import os
import subprocess
import sys

__all__ = ["digests_in_a_process"]


def digests_in_a_process(script: str, hash_seed: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.split()
