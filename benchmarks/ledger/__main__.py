"""
`python -m benchmarks.ledger [--quick] [--only AREA ...] [--engines NAME ...] [--json PATH]
[--report PATH]`

Progress goes to standard error, the tables to standard output, every figure to the JSON file. The
status is 0 whatever the figures say: time decides nothing here.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from rich.console import Console

from benchmarks.ledger.cells import Area
from benchmarks.ledger.report import print_report, render_markdown
from benchmarks.ledger.roster import GNOMON, ROSTER
from benchmarks.ledger.run import run

_JSON = Path(".bench/ledger.json")
_NAMES = [each.name for each in ROSTER]


def main() -> None:
    wishes = _arguments()
    began = monotonic()

    def progress(text: str) -> None:
        print(f"[{monotonic() - began:4.0f} s] {text}", file=sys.stderr, flush=True)

    areas = [area for area in Area if not wishes.only or area.value in wishes.only]
    names = {GNOMON.name, *(wishes.engines or _NAMES)}  # who all others are compared to
    contenders = [each for each in ROSTER if each.name in names]
    result = run(quick=wishes.quick, areas=areas, contenders=contenders, progress=progress)
    _write(wishes.json, json.dumps(result.to_json(), indent=1) + "\n", progress)
    if wishes.report is not None:
        _write(wishes.report, render_markdown(result), progress)
    print_report(result, Console(width=None if sys.stdout.isatty() else 150))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ledger",
        description="Gnomon's ledger beside its peers: fires, lateness, idle ticks, memory.",
    )
    parser.add_argument("--quick", action="store_true", help="about two minutes, coarser figures")
    parser.add_argument("--only", nargs="+", choices=[area.value for area in Area], metavar="AREA")
    parser.add_argument("--engines", nargs="+", choices=_NAMES, metavar="NAME")
    parser.add_argument("--json", type=Path, default=_JSON, metavar="PATH", help="every figure")
    parser.add_argument("--report", type=Path, metavar="PATH", help="the tables as Markdown")
    return parser.parse_args()


def _write(path: Path, text: str, progress: Callable[[str], None]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    progress(f"wrote {path}")


if __name__ == "__main__":
    main()
