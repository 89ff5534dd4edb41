"""
Who is measured: each engine with its adapter, what its environment holds, and what to know about
its figures.
"""

from benchmarks.harness.contender import Contender

__all__ = ["GNOMON", "GNOMON_DATETIME", "PEERS", "ROSTER"]

_ENGINES = "benchmarks.time_core.engines"

GNOMON = Contender(
    name="gnomon",
    entry=f"{_ENGINES}.gnomon:GnomonEngine",
    note="Integers (epoch seconds) in and out. Dialect standard, DST policy vixie.",
)
GNOMON_DATETIME = Contender(
    name="gnomon-datetime",
    entry=f"{_ENGINES}.gnomon:GnomonDatetimeEngine",
    note="Aware datetimes in the schedule's zone in, aware UTC datetimes out.",
)
PEERS = (
    Contender(
        name="cronsim",
        entry=f"{_ENGINES}.cronsim:CronSimEngine",
        environment="cronsim",
        requirements=("cronsim", "tzdata"),
        note="Aware datetimes. A parsed object has no public way to be asked about another "
        "instant, so a private attribute is set: a lower bound that favours it. In UTC it gets "
        "the constant of the standard library, for which it has a fast path.",
    ),
    Contender(
        name="croniter",
        entry=f"{_ENGINES}.croniter:CroniterEngine",
        environment="croniter",
        requirements=("croniter", "tzdata"),
        note="Aware datetimes; its float mode takes the same time.",
    ),
    Contender(
        name="croniter-rs-float",
        entry=f"{_ENGINES}.croniter_rs:CroniterRsFloatEngine",
        environment="croniter-rs",
        requirements=("croniter-rs", "tzdata"),
        note="Rust. Floats in and out. It drops the zone: it gets wall-clock seconds made "
        "beforehand and its answers are not moved back, so it does strictly less work.",
    ),
    Contender(
        name="croniter-rs",
        entry=f"{_ENGINES}.croniter_rs:CroniterRsDatetimeEngine",
        environment="croniter-rs",
        requirements=("croniter-rs", "tzdata"),
        note="Rust. Aware datetimes in, naive wall-clock datetimes out: it drops the zone.",
    ),
    Contender(
        name="apscheduler",
        entry=f"{_ENGINES}.apscheduler:APSchedulerEngine",
        environment="apscheduler",
        requirements=("APScheduler", "tzdata"),
        note="APScheduler 3, CronTrigger, aware datetimes. Weekdays by name. Joins the day "
        "fields by 'and', so it is not timed where both are restricted.",
    ),
    Contender(
        name="celery",
        entry=f"{_ENGINES}.celery:CeleryEngine",
        environment="celery",
        requirements=("celery", "tzdata"),
        note="crontab.remaining_delta, aware datetimes. Joins the day fields by 'and', so it is "
        "not timed where both are restricted.",
    ),
)
ROSTER = (GNOMON, GNOMON_DATETIME, *PEERS)
