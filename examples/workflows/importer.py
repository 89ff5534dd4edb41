"""
A file drop: rows of CSV files are imported into a SQLite table, each file once.

Files lie in the folder `drop`; the table `rows` is in `imported.sqlite3`. The import of a file and
the key of its mutation are written in one transaction, so that the database itself can say whether
the file was imported.
"""

import csv
import sqlite3
from pathlib import Path

from gnomon.errors import LogicError
from gnomon.workflow import Call, Context, Finding, Prepared, Workflow, applied, not_applied

importer = Workflow("importer", title="CSV files to SQLite")


@importer.producer(interval="5s", publishes=["files"])
def look(ctx: Context, state: object) -> None:
    for file in sorted(Path("drop").glob("*.csv")):
        ctx.publish("files", file.name, inputs=[ctx.input("drop", "file", file.name)])


load = importer.consumer("load", subscribes=["files"])


@load.prepare
def choose(ctx: Context, state: object) -> object:
    for one in ctx.peek("files", limit=1):
        return {
            "reservations": [{"topic": "files", "ids": [one.id]}], "data": one.id,
            "ui": {"title": f"Import {one.id}"},
        }  # fmt: skip
    return {}


@load.mutate
def mutate(ctx: Context, prepared: Prepared) -> None:
    ctx.mutate("insert", prepared.data, title=prepared.title)


@importer.tool("insert")
def insert(call: Call) -> int:
    with Path("drop", str(call.params)).open(newline="") as file:
        rows = list(csv.reader(file))
    if any(len(row) != 2 for row in rows):
        raise LogicError(f"{call.params}: every row must have two columns")
    with _database() as database:
        database.execute("INSERT INTO imports VALUES (?, ?)", (call.key, len(rows)))
        database.executemany("INSERT INTO rows VALUES (?, ?)", rows)
    return len(rows)


@insert.reconcile
def was_inserted(call: Call) -> Finding:
    with _database() as database:
        found = database.execute("SELECT rows FROM imports WHERE key = ?", (call.key,)).fetchone()
    return applied(found[0]) if found else not_applied()


def _database() -> sqlite3.Connection:
    database = sqlite3.connect("imported.sqlite3")
    database.execute("CREATE TABLE IF NOT EXISTS imports (key TEXT PRIMARY KEY, rows INTEGER)")
    database.execute("CREATE TABLE IF NOT EXISTS rows (name TEXT, value TEXT)")
    return database
