"""
The process of one engine: `python -m benchmarks.theory.worker MODULE:FACTORY quick|full`.

Run by the interpreter of the engine's own environment, which has the measured library and, but for
Gnomon itself, nothing of Gnomon.
"""

import sys
from importlib import import_module

from benchmarks.harness.protocol import Greeting
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import serve_standard_streams, versions_of
from benchmarks.theory.cells import FULL, QUICK, cells_of
from benchmarks.theory.engine import Engine


def main(entry: str, extent: str) -> None:
    module, _, factory = entry.partition(":")
    engine: Engine = getattr(import_module(module), factory)()
    cells = {cell.name: cell for cell in cells_of(QUICK if extent == "quick" else FULL)}

    def prepare_named(name: str) -> Job:
        return engine.job(cells[name])

    greeting = Greeting(versions=versions_of(engine.distributions))
    serve_standard_streams(greeting=greeting, prepare=prepare_named)


if __name__ == "__main__":
    main(*sys.argv[1:])
