"""
DBOS: COUNT durable workflows of three steps each, one after the other, as it comes.

`python -m benchmarks.workflow.engines.dbos COUNT STORE`, where STORE is a file or a URL.
"""

import json
import sys
import time

from dbos import DBOS, DBOSConfig


def main(count: int, store: str) -> None:
    url = store if "://" in store else f"sqlite:///{store}"
    config: DBOSConfig = {"name": "bench", "system_database_url": url, "log_level": "ERROR"}
    DBOS(config=config)

    @DBOS.step()
    def prepare(number: int) -> int:
        return number

    @DBOS.step()
    def mutate(number: int) -> None: ...

    @DBOS.step()
    def conclude(number: int) -> None: ...

    @DBOS.workflow()
    def handle(number: int) -> None:
        prepared = prepare(number)
        mutate(prepared)
        conclude(prepared)

    DBOS.launch()
    handle(-1)
    started = time.perf_counter()
    for number in range(count):
        handle(number)
    print(json.dumps({"seconds": time.perf_counter() - started}))
    DBOS.destroy()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
