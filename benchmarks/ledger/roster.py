"""
Who is measured: each engine with its adapter, what its environment holds, and what to know about
its figures.
"""

from benchmarks.harness.contender import Contender

__all__ = [
    "APSCHEDULER",
    "APSCHEDULER_INTERVAL",
    "APSCHEDULER_POSTGRES",
    "APSCHEDULER_POSTGRES_INTERVAL",
    "GNOMON",
    "GNOMON_POSTGRES",
    "HUEY",
    "PGQUEUER",
    "PGQUEUER_500",
    "PROCRASTINATE",
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
    "journal), `misfire_grace_time=None`, the cron expression and the zones of Gnomon's schedules. "
    "It writes no row about a run.",
)
APSCHEDULER_INTERVAL = Contender(
    name="apscheduler-interval",
    entry=f"{_ENGINES}.apscheduler:APSchedulerIntervalEngine",
    environment="apscheduler-sqlite",
    requirements=_APSCHEDULER,
    note="The same with an interval of an hour, which needs no calendar and no zone.",
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
APSCHEDULER_POSTGRES = Contender(
    name="apscheduler-postgres",
    entry=f"{_ENGINES}.apscheduler_postgres:APSchedulerPostgresEngine",
    environment="apscheduler-postgres",
    requirements=(*_APSCHEDULER, "psycopg[binary]"),
    note="APScheduler 3 with its SQLAlchemy job store on a server like that, through psycopg.",
)
APSCHEDULER_POSTGRES_INTERVAL = Contender(
    name="apscheduler-postgres-interval",
    entry=f"{_ENGINES}.apscheduler_postgres:APSchedulerPostgresIntervalEngine",
    environment="apscheduler-postgres",
    requirements=(*_APSCHEDULER, "psycopg[binary]"),
    note="The same with an interval of an hour.",
)
_APSCHEDULER_4 = Contender(
    name="apscheduler-4",
    entry=f"{_ENGINES}.apscheduler4:APScheduler4Engine",
    environment="apscheduler-4",
    requirements=("APScheduler", "SQLAlchemy", "asyncpg", "greenlet", "sniffio", "tzdata"),
    pins="constraints-apscheduler4.txt",
    note="The alpha of APScheduler 4, `AsyncScheduler`, SQLAlchemy data store through asyncpg, 200 "
    "due: schedules and jobs are claimed, jobs and results written.",
)
PROCRASTINATE = Contender(
    name="procrastinate",
    entry=f"{_ENGINES}.procrastinate:ProcrastinateEngine",
    environment="procrastinate",
    requirements=("procrastinate", "tzdata"),
    note="Each period deferred by `defer_periodic_job`, then run by its own worker, ten at a time; "
    "200 due.",
)
PGQUEUER = Contender(
    name="pgqueuer",
    entry=f"{_ENGINES}.pgqueuer:PgQueuerEngine",
    environment="pgqueuer",
    requirements=("pgqueuer[asyncpg]", "tzdata"),
    note="Dequeue, a coroutine that does nothing, and log, in batches of 10, as it comes; filling "
    "the queue is not counted, and there is no schedule to advance.",
)
PGQUEUER_500 = Contender(
    name="pgqueuer-500",
    entry=f"{_ENGINES}.pgqueuer:LargePgQueuerEngine",
    environment="pgqueuer",
    requirements=("pgqueuer[asyncpg]", "tzdata"),
    note="The same in batches of 500.",
)
_PGQUEUER_500_FILLED = Contender(
    name="pgqueuer-500-filled",
    entry=f"{_ENGINES}.pgqueuer:FilledPgQueuerEngine",
    environment="pgqueuer",
    requirements=("pgqueuer[asyncpg]", "tzdata"),
    note="In batches of 500, and the one statement that fills the queue is counted.",
)
_DBOS = Contender(
    name="dbos",
    entry=f"{_ENGINES}.dbos:DbosEngine",
    environment="dbos",
    requirements=("dbos", "psycopg[binary]", "tzdata"),
    note="A workflow that does nothing, started with an id of its own and waited for, 200 due.",
)
_CELERY_BEAT = Contender(
    name="celery-beat",
    entry=f"{_ENGINES}.celery_beat:CeleryBeatEngine",
    environment="celery",
    requirements=("celery", "tzdata"),
    note="Beat's own rate of sending, to a broker in memory: nothing is stored, claimed, recorded "
    "or run.",
)
ROSTER = (
    GNOMON,
    RAW,
    GNOMON_POSTGRES,
    RAW_POSTGRES,
    APSCHEDULER,
    APSCHEDULER_INTERVAL,
    _APSCHEDULER_WAL,
    HUEY,
    APSCHEDULER_POSTGRES,
    APSCHEDULER_POSTGRES_INTERVAL,
    _APSCHEDULER_4,
    PROCRASTINATE,
    PGQUEUER,
    PGQUEUER_500,
    _PGQUEUER_500_FILLED,
    _DBOS,
    _CELERY_BEAT,
)
