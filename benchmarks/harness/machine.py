"""On what the figures were taken, so that a reader can judge them later."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Machine", "this_machine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    cpu: str
    cores: int
    system: str
    python: str
    load: float


def this_machine() -> Machine:
    """Read now; `load` is the one-minute load average, which tells whether the machine was busy."""
    return Machine(
        cpu=_cpu_model(),
        cores=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.machine()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
        load=round(os.getloadavg()[0], 2),
    )


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
