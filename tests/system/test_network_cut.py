"""A worker that reaches PostgreSQL through a cable is cut off past its leases, and comes back."""

from tests.clauses import clause
from tests.kill.fleet import run_fleet
from tests.system.network import Cable

SEED, FAULTS = "cable", 8


@clause("PG-8", "PG-1")
def test_a_worker_that_is_cut_off_loses_nothing_and_doubles_nothing() -> None:
    with Cable() as cable:
        outcome = run_fleet(SEED, FAULTS, network=cable)

    print(
        f"\n{outcome.faults.total()} faults {dict(outcome.faults)}, {outcome.verdict.periods} "
        f"periods, {outcome.verdict.lines} commands, {outcome.events['report refused']} stale "
        f"writes refused; next run after a fault {outcome.recovered_ms} ms, the cut worker's "
        f"own after the cable was mended {outcome.back_ms} ms"
    )
    assert outcome.problems == []
    assert set(outcome.faults) == {"cut", "kill", "freeze"}
    assert outcome.events["report refused"] + outcome.events["run lost"] > 0
