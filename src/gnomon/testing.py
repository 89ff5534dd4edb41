"""
Test your own schedules: the real scheduler, on virtual time.

    def test_the_backup_runs_once_after_an_outage() -> None:
        async def scenario() -> None:
            async with gnomon.testing.world(start="2026-03-01T01:50:00Z") as world:
                await world.scheduler().initialize(REGISTRATIONS)
                await world.advance(minutes=5)
                await world.crash()
                await world.advance(hours=2)
                await world.scheduler().initialize(REGISTRATIONS)
                await world.advance(minutes=1)
                assert len(world.starts("backup")) == 1

        gnomon.testing.run(scenario())

Hours pass in milliseconds, and always in the same way. Nothing here decides when something runs.

Spec: TESTING-1 to TESTING-4.
"""

from gnomon.simulation.declarative.stage import Happening, World, run, world

__all__ = ["Happening", "World", "run", "world"]
