"""A process that owns a store until it is killed or told to stop: python -m ... STORE."""

import asyncio
import sys
from datetime import timedelta

import gnomon


async def main(store: str) -> None:
    async def never_ending() -> None:
        print("running", flush=True)
        await asyncio.Event().wait()

    scheduler = gnomon.Scheduler(store, zone="UTC")
    await scheduler.initialize([("a", "* * * * *", never_ending, timedelta(0))])
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
