"""A worker that measures nothing: it answers by the name of the cell. Run by `test_harness`."""

from benchmarks.harness.protocol import Answer, Greeting
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported, serve_standard_streams


def prepare(name: str) -> Job:
    if name == "unsupported":
        raise Unsupported("not offered here")
    if name == "broken":
        raise ValueError("broken on purpose")
    if name == "lost":
        raise SystemExit(3)

    def answers() -> list[Answer]:
        return [len(name), None]

    def run() -> None:
        print("a library that prints")

    return Job(run=run, operations=10, answers=answers, facts={"set-up seconds": 1.5})


if __name__ == "__main__":
    serve_standard_streams(greeting=Greeting(versions={"echo": "1.0"}), prepare=prepare)
