"""The disk of the server is full, again and again, while three workers use it."""

from tests.clauses import clause
from tests.kill.fleet import FAILED, run_fleet
from tests.system.disk import SmallDisk

SEED, FAULTS, MEGABYTES = "disk-8", 6, 512


@clause("PG-8", "PG-9")
def test_a_disk_that_is_full_for_a_while_loses_nothing_and_doubles_nothing() -> None:
    with SmallDisk(MEGABYTES) as disk:
        outcome = run_fleet(SEED, FAULTS, disk=disk)

    print(
        f"\n{outcome.faults.total()} faults {dict(outcome.faults)}, {outcome.verdict.periods} "
        f"periods, {outcome.verdict.lines} commands, {outcome.events[FAILED]} calls that failed; "
        f"next run after a fault {outcome.recovered_ms} ms; {outcome.complaints}"
    )
    assert outcome.problems == []
    assert set(outcome.faults) == {"full", "kill", "freeze"}
    assert any("its disk is full" in complaint for complaint in outcome.complaints)
