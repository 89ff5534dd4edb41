"""The reference page of the service names everything there is."""

from dataclasses import fields
from pathlib import Path

from gnomon.apps.service.feedback import FeedbackResult
from gnomon.apps.service.schedule_input import ScheduleInput
from gnomon.apps.service.settings import NAMES, Settings
from gnomon.core.ledger.lifecycle import Status
from tests.clauses import clause

PAGE = Path("docs/reference/service.md").read_text(encoding="utf-8")


@clause("SERVICE-1")
def test_the_page_lists_every_field_of_a_schedule() -> None:
    assert [one.name for one in fields(ScheduleInput) if f"`{one.name}`" not in PAGE] == []


@clause("SERVICE-6")
def test_the_page_lists_every_setting_with_its_default() -> None:
    settings = Settings()
    rows = {
        cells[1].strip(" `"): cells[2].strip(" `")
        for line in PAGE.splitlines()
        if len(cells := line.split("|")) == 5
    }

    expected = {name: str(getattr(settings, key) or "all") for name, key in NAMES.items()}
    expected["DEFAULT_JITTER_MS"] = "0"
    expected["ZONES"] = "all"
    expected["SCHEDULES_PER_USER"] = "0"
    assert {name: rows[name] for name in expected} == expected


@clause("SERVICE-18", "SERVICE-19")
def test_the_page_names_every_status_and_every_answer() -> None:
    assert [word for word in (*Status, *FeedbackResult) if f"`{word}`" not in PAGE] == []
