"""What `import gnomon` gives, and what it costs."""

import importlib
import subprocess
import sys

import pytest

import gnomon
from tests.clauses import clause

SURFACE = [
    "Chosen",
    "Decider",
    "Decision",
    "DefinitionError",
    "GnomonError",
    "Recurrence",
    "RunContext",
    "Scheduler",
    "SchedulerTelemetry",
    "Unschedulable",
    "background",
    "collect",
    "cron",
    "decide",
    "every",
    "once",
    "recompute",
    "run",
    "tzdata_version",
    "with_timeout",
]
SURFACE_MAX = 30

EXTRAS = [
    "asyncpg", "celery", "cryptography", "fastapi", "httpx2", "jinja2", "jwt", "kopf", "numpy",
    "pydantic", "pydantic_settings", "starlette", "uvicorn",
]  # fmt: skip
COMMAND_LINE = ["click", "gnomon.cli", "prometheus_client", "rich", "tzlocal"]


@clause("API-1")
def test_the_public_names_are_these_and_no_others() -> None:
    assert sorted(gnomon.__all__) == SURFACE


@clause("API-1")
def test_the_public_names_are_few() -> None:
    assert len(gnomon.__all__) <= SURFACE_MAX


@clause("API-1")
@pytest.mark.parametrize("name", SURFACE)
def test_a_public_name_can_be_imported(name: str) -> None:
    assert hasattr(importlib.import_module("gnomon"), name)


@clause("API-2")
def test_importing_gnomon_loads_no_extra_and_no_command_line() -> None:
    code = "import sys, gnomon; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )

    assert set(loaded.stdout.split()).isdisjoint(EXTRAS + COMMAND_LINE)
