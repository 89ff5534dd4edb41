"""What goes to the log while a service or a worker runs, and what does not."""

import io
import json
import logging

from gnomon.shell.observe.log import LOGGER, log_lines
from tests.clauses import clause


@clause("CLI-21")
def test_a_pool_that_cannot_connect_writes_no_traceback_between_the_lines() -> None:
    pool, written = logging.getLogger("asyncpg.pool"), io.StringIO()
    with log_lines(logging.StreamHandler(written), as_json=True):
        pool.warning("Failed to restore the pool connection floor; retrying")
        LOGGER.info("the ledger answers again")

        assert not pool.isEnabledFor(logging.WARNING)

    assert [json.loads(line)["event"] for line in written.getvalue().splitlines()] == [
        "the ledger answers again"
    ]
    assert pool.isEnabledFor(logging.WARNING)
