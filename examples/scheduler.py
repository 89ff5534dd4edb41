"""
A scheduler as a script: python examples/scheduler.py, and stop it with Ctrl-C.

Kill it instead, with kill -9, while `slow` is at work, and start it again: `slow` is told that it
was interrupted. What it knows is in gnomon.sqlite3, in the directory where it was started.
"""

import asyncio
import logging

import gnomon

tasks = gnomon.collect()


@tasks("* * * * *")
async def slow(context: gnomon.RunContext) -> None:
    print(f"{context.task}: {context.reason}, for {context.period}", flush=True)
    await asyncio.sleep(5)
    print(f"{context.task}: done", flush=True)


@tasks("0,10,20,30,40,50 * * * *", retry_delay="20s")
def flaky(context: gnomon.RunContext) -> None:
    if context.attempt < 3:
        raise RuntimeError(f"attempt {context.attempt} fails")
    print(f"{context.task}: attempt {context.attempt} succeeds", flush=True)


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    gnomon.run(tasks)
