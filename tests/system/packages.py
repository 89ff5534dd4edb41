"""Programs of the system that tests need: found, or installed by name; never done without."""

import shutil
import subprocess

__all__ = ["provide"]

_INSTALL = ["apt-get", "install", "--yes", "--no-install-recommends"]


def provide(program: str, package: str) -> str:
    """The path of a program, after installing its package where it is missing."""
    if found := shutil.which(program):
        return found
    for command in (["apt-get", "update"], [*_INSTALL, package]):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(
                f"{program} is missing, and `{' '.join(command)}` failed: {done.stderr.strip()}"
            )
    found = shutil.which(program)
    if found is None:
        raise RuntimeError(f"{program} is missing, though the package {package} is installed")
    return found
