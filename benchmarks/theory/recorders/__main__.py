"""`python -m benchmarks.theory.recorders`: record other schedulers into examples/traces."""

import os
import subprocess
import sys

from benchmarks.harness.contender import ROOT
from benchmarks.harness.environment import Unavailable, provide_environment

_SCENARIOS = ("crash", "outage", "gap", "fold")


def main() -> int:
    environment = provide_environment(
        "apscheduler-sqlite",
        ("APScheduler", "SQLAlchemy", "tzdata"),
        constraints=ROOT / "benchmarks" / "constraints.txt",
        under=ROOT / ".bench" / "venvs",
        progress=print,
    )
    if isinstance(environment, Unavailable):
        print(environment.reason, file=sys.stderr)
        return 2
    for scenario in _SCENARIOS:
        path = ROOT / "examples" / "traces" / f"apscheduler-{scenario}.jsonl"
        command = [str(environment.python), "-m", "benchmarks.theory.recorders.apscheduler"]
        variables = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONTZPATH": "", "TZ": "UTC"}
        subprocess.run([*command, scenario, str(path)], cwd=ROOT, env=variables, check=True)
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
