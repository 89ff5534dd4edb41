"""
Who is measured: each engine with its adapter, what its environment holds, and what to know about
its figures.
"""

from benchmarks.harness.contender import Contender

__all__ = [
    "APSCHEDULER",
    "GNOMON",
    "GNOMON_POSTGRES",
    "HUEY",
    "RAW",
    "RAW_POSTGRES",
    "ROSTER",
]

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
GNOMON_POSTGRES = Contender(
    name="gnomon-postgres",
    entry=f"{_ENGINES}.gnomon_postgres:GnomonPostgresEngine",
    note="`Runtime` and the PostgreSQL ledger through asyncpg on a Unix socket, with a server of "
    "its own (18, `fsync` on, a gigabyte of shared buffers, vacuumed between passes). An idle tick "
    "is wall-clock time.",
)
RAW_POSTGRES = Contender(
    name="asyncpg",
    entry=f"{_ENGINES}.raw_postgres:RawPostgresEngine",
    note="The bare statements in one batch of 1,000 with UNNEST through asyncpg, on a server like "
    "that: a limit, not a scheduler.",
)
ROSTER = (GNOMON, RAW, GNOMON_POSTGRES, RAW_POSTGRES, APSCHEDULER, _APSCHEDULER_WAL, HUEY)
