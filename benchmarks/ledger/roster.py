"""
Who is measured: each engine with its adapter, what its environment holds, and what to know about
its figures.
"""

from benchmarks.harness.contender import Contender

__all__ = ["APSCHEDULER", "GNOMON", "HUEY", "RAW", "ROSTER"]

_ENGINES = "benchmarks.ledger.engines"
_APSCHEDULER = ("APScheduler", "SQLAlchemy", "tzdata")

GNOMON = Contender(
    name="gnomon",
    entry=f"{_ENGINES}.gnomon:GnomonEngine",
    note="`Runtime`, the SQLite ledger on its own thread (WAL, `synchronous=FULL`), the function "
    "launcher and a coroutine that does nothing; log level WARNING.",
)
RAW = Contender(
    name="sqlite3",
    entry=f"{_ENGINES}.raw_sqlite:RawSqliteEngine",
    note="The bare statements in one batch of 1,000, WAL, `synchronous=FULL`: a limit, not a "
    "scheduler. No definitions, cron, versions, fencing, leases or callbacks.",
)
APSCHEDULER = Contender(
    name="apscheduler",
    entry=f"{_ENGINES}.apscheduler:APSchedulerEngine",
    environment="apscheduler-sqlite",
    requirements=_APSCHEDULER,
    note="APScheduler 3, `AsyncIOScheduler`, SQLAlchemy job store on SQLite as it comes (rollback "
    "journal), `misfire_grace_time=None`, an interval trigger. It writes no row about a run.",
)
_APSCHEDULER_WAL = Contender(
    name="apscheduler-wal",
    entry=f"{_ENGINES}.apscheduler:APSchedulerWalEngine",
    environment="apscheduler-sqlite",
    requirements=_APSCHEDULER,
    note="The same on a file in WAL mode, which it does not set by itself.",
)
HUEY = Contender(
    name="huey",
    entry=f"{_ENGINES}.huey:HueyEngine",
    environment="huey",
    requirements=("huey", "tzdata"),
    note="`SqliteHuey` (WAL, `synchronous=FULL`), tasks with an instant, driven by one thread "
    "without the second of polling that its consumer adds. Nothing is advanced or recorded.",
)
ROSTER = (GNOMON, RAW, APSCHEDULER, _APSCHEDULER_WAL, HUEY)
