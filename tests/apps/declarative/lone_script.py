"""A script as a user would write it: python -m ... STORE."""

import asyncio
import sys

import gnomon

tasks = gnomon.collect()


@tasks("* * * * *", retry_delay="5m")
async def tick() -> None:
    print("ticks", flush=True)
    await asyncio.sleep(0.05)
    print("ticked", flush=True)


if __name__ == "__main__":
    gnomon.run(tasks, gnomon.Scheduler(sys.argv[1], zone="UTC"))
    print("bye", flush=True)
