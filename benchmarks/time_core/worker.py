"""
The process of one engine: `python -m benchmarks.time_core.worker MODULE:FACTORY quick|full`.

Run by the interpreter of the engine's own environment, which has the measured library and nothing
of Gnomon.
"""

import sys
from importlib import import_module

from benchmarks.harness.protocol import Greeting
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import serve_standard_streams, versions_of
from benchmarks.time_core.cells import FULL, QUICK, cells_of
from benchmarks.time_core.engine import Engine
from benchmarks.time_core.jobs import prepare


def main(entry: str, extent: str) -> None:
    module, _, factory = entry.partition(":")
    engine: Engine[object, object] = getattr(import_module(module), factory)()
    settings = QUICK if extent == "quick" else FULL
    cells = {cell.name: cell for cell in cells_of(settings)}

    def prepare_named(name: str) -> Job:
        return prepare(engine, cells[name], settings)

    greeting = Greeting(versions=versions_of((*engine.distributions, "tzdata")))
    serve_standard_streams(greeting=greeting, prepare=prepare_named)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
