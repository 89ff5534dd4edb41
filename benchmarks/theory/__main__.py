"""
`python -m benchmarks.theory [--quick] [--json PATH] [--report PATH]`

Progress goes to standard error, the tables to standard output, every figure to the JSON file. The
status is 0 whatever the figures say: time decides nothing here.
"""

import argparse
import json
import sys
from pathlib import Path
from time import monotonic

from rich.console import Console

from benchmarks.theory.report import print_report, render_markdown
from benchmarks.theory.run import run

_JSON = Path(".bench/theory.json")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.theory")
    parser.add_argument("--quick", action="store_true", help="half a minute, coarser figures")
    parser.add_argument("--json", type=Path, default=_JSON, metavar="PATH", help="every figure")
    parser.add_argument("--report", type=Path, metavar="PATH", help="the tables as Markdown")
    wishes = parser.parse_args()
    began = monotonic()

    def progress(text: str) -> None:
        print(f"[{monotonic() - began:4.0f} s] {text}", file=sys.stderr, flush=True)

    result = run(quick=wishes.quick, progress=progress)
    wishes.json.parent.mkdir(parents=True, exist_ok=True)
    wishes.json.write_text(json.dumps(result.to_json(), indent=1) + "\n", encoding="utf-8")
    if wishes.report is not None:
        wishes.report.write_text(render_markdown(result), encoding="utf-8")
    print_report(result, Console(width=None if sys.stdout.isatty() else 150))


if __name__ == "__main__":
    main()
