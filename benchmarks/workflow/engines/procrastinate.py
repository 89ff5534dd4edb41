"""
Procrastinate: COUNT tasks on PostgreSQL, one at a time; each is one durable step and not three.

`python -m benchmarks.workflow.engines.procrastinate COUNT URL`.
"""

import asyncio
import json
import sys
import time

from procrastinate import App, PsycopgConnector


async def main(count: int, url: str) -> None:
    app = App(connector=PsycopgConnector(conninfo=url))

    @app.task(name="handle")
    async def handle(number: int) -> None: ...

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await handle.batch_defer_async(*({"number": number} for number in range(count)))
        started = time.perf_counter()
        await app.run_worker_async(
            wait=False, concurrency=1, install_signal_handlers=False, delete_jobs="never"
        )
        print(json.dumps({"seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
