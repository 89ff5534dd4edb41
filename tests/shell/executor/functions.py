"""Functions for python nodes of tests."""

import asyncio
import threading
from pathlib import Path

from gnomon.shell.executor.node import NodeContext

__all__ = ["Held", "add_line", "fail", "in_thread", "leave", "never", "shout",
    "stop_iterating", "tell", "wait_and_add", "write_params",
]  # fmt: skip


class Held:
    """Lets a function wait until a test lets it go on."""

    go = threading.Event()


def add_line(path: str, text: str = "ran") -> int:
    with Path(path).open("a") as file:
        file.write(f"{text}\n")
    return len(text)


async def tell(path: str, context: NodeContext) -> None:
    context.log(f"try {context.attempt} of {context.node_id}")
    add_line(path, f"{context.key} {context.scheduled_for}")


def write_params(path: str, context: NodeContext) -> None:
    add_line(path, str(context.params))


def wait_and_add(path: str) -> None:
    Held.go.wait()
    add_line(path)


def in_thread() -> str:
    return threading.current_thread().name


def fail(message: str = "no") -> None:
    raise ValueError(message)


def stop_iterating() -> None:
    raise StopIteration("end")


def shout(context: NodeContext) -> None:
    for number in range(10_000):
        context.log(f"line {number}")


def leave() -> None:
    raise SystemExit(3)


async def never() -> None:
    await asyncio.Event().wait()


NOT_CALLABLE = 5
