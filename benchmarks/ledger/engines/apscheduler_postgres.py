"""
APScheduler 3 with its SQLAlchemy job store on PostgreSQL, through psycopg; the rest as on SQLite.
"""

from datetime import datetime
from pathlib import Path

import psycopg  # type: ignore[import-not-found]
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from benchmarks.ledger.cells import Cell
from benchmarks.ledger.engines.apscheduler import APSchedulerEngine, by_interval, scheduler_on
from benchmarks.ledger.engines.postgres_server import PostgresServer

__all__ = ["APSchedulerPostgresEngine", "APSchedulerPostgresIntervalEngine"]


class APSchedulerPostgresEngine(APSchedulerEngine):
    distributions = ("APScheduler", "SQLAlchemy", "psycopg")

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._server = PostgresServer()
        self._url = ""

    def _scheduler(self, cell: Cell) -> AsyncIOScheduler:
        self._url = self._server.database()
        address = self._url.replace("postgresql://", "postgresql+psycopg://", 1)
        return scheduler_on(SQLAlchemyJobStore(url=address))

    def _fill(self, scheduler: AsyncIOScheduler, cell: Cell, at: datetime) -> None:
        with psycopg.connect(self._url) as connection, connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO apscheduler_jobs VALUES (%s, %s, %s)",
                self._job_rows(scheduler, cell, at),
            )
        self._server.vacuum(self._url)


class APSchedulerPostgresIntervalEngine(APSchedulerPostgresEngine):
    trigger = staticmethod(by_interval)
