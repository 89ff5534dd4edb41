"""Crontabs taken over, for the tests about them."""

from gnomon.apps.krond.job import Job
from gnomon.importers.crontab import Imported, Source, import_crontab
from tests.apps.krond.krontab.reading import FILE, read
from tests.oracle.crontab_cases import USERS

__all__ = ["jobs", "taken_over"]


def taken_over(text: str, *, system: bool = False, zone: str = "UTC", user: str = "") -> Imported:
    source = Source(text=text, file=FILE, zone=zone, system=system, user=user, users=USERS)
    return import_crontab(source, set())


def jobs(text: str, *, system: bool = False, zone: str = "UTC") -> list[Job]:
    imported = taken_over(text, system=system, zone=zone)
    assert imported.problems == ()
    krontab = read(imported.text)
    assert krontab.problems == ()
    return list(krontab.jobs)
