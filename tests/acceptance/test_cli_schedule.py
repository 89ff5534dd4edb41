"""`gnomon schedule` against a real service: every command, as text and as JSON."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command_line import gnomon, gnomon_process
from tests.acceptance.serving import HOURLY, Up, up
from tests.clauses import clause


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(tmp_path_factory.mktemp("service"), "--no-samples") as found:
        yield found


def register(service: Up, name: str, *options: str) -> None:
    done = service.schedule(
        "upsert", "--id", name, "--dag", "report", "--dag-version", "1", "--user", "acme",
        "--cron", "0 3 * * *", *options,
    )  # fmt: skip
    assert done.code == 0, done.err


@clause("CLIENT-4", "CLIENT-5")
def test_a_schedule_is_registered_and_shown(service: Up) -> None:
    register(
        service, "nightly", "--zone", "Europe/Berlin", "--overlap", "queue", "--set",
        "max_duration=90s", "--set", "launches_max=5",
    )  # fmt: skip
    shown = service.schedule("show", "nightly")
    found = service.schedule("show", "nightly", "--count", "2", "--json").json
    preview = found["preview"]

    assert "overlap_policy  queue" in shown.out
    assert "next runs\n  2" in shown.out
    assert (found["timezone"], found["launches_max"], found["max_duration"]) == (
        "Europe/Berlin", 5, "1m30s",
    )  # fmt: skip
    assert isinstance(preview, list)
    assert len(preview) == 2


@clause("CLIENT-5")
@pytest.mark.parametrize("name", ["schedule.json", "schedule.toml"])
def test_a_definition_comes_from_a_file_and_options_go_before_it(
    service: Up, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    if name.endswith("json"):
        file.write_text(json.dumps(HOURLY | {"jitter_ms": 5}))
    else:
        lines = [f"{key} = {json.dumps(value)}" for key, value in HOURLY.items()]
        file.write_text("\n".join([*lines, "start_at = 2027-01-01T00:00:00Z"]))
    done = service.schedule("upsert", "--file", str(file), "--cron", "30 * * * *", "--json")
    found = service.schedule("show", "hourly", "--json").json

    assert done.json["schedule_id"] == "hourly"
    assert found["cron_expr"] == "30 * * * *"


@clause("CLIENT-6")
def test_a_list_can_be_filtered(service: Up) -> None:
    register(service, "listed-a")
    register(service, "listed-b")
    service.schedule("pause", "listed-b")
    shown = service.schedule("list", "--text", "listed-")
    paused = service.schedule("list", "--text", "listed-", "--paused", "--json").json["items"]
    limited = service.schedule("list", "--text", "listed-", "--limit", "1", "--json").json["items"]

    assert shown.lines[0].split() == ["schedule", "when", "zone", "next", "run", "state"]
    assert [line.split()[-1] for line in shown.lines[1:]] == ["active", "paused"]
    assert isinstance(paused, list)
    assert [one["schedule_id"] for one in paused] == ["listed-b"]
    assert isinstance(limited, list)
    assert [one["schedule_id"] for one in limited] == ["listed-a"]
    assert service.schedule("list", "--text", "nothing-like-it").out == "no schedules\n"


@clause("CLIENT-6")
def test_a_change_is_shown_before_it_is_made(service: Up) -> None:
    register(service, "compared")
    options = ("--id", "compared", "--dag", "report", "--dag-version", "1", "--user",
               "acme", "--cron", "0 4 * * *")  # fmt: skip
    done = service.schedule("diff", *options)

    assert "runs that would go" in done.out
    assert "runs that would come" in done.out
    assert service.schedule("show", "compared", "--json").json["cron_expr"] == "0 3 * * *"


@clause("CLIENT-5", "SERVICE-9")
def test_a_value_is_a_number_only_where_the_field_is_one(service: Up) -> None:
    options = ("--id", "typed", "--dag", "report", "--dag-version", "1", "--user",
               "acme", "--cron", "0 4 * * *")  # fmt: skip
    done = service.schedule("upsert", *options, "--set", "salt=5", "--set", "jitter_ms=5")
    found = service.schedule("show", "typed", "--json").json
    number = service.schedule("upsert", *options, "--set", "start_at=1772366400")
    words = service.schedule("upsert", *options, "--set", "jitter_ms=few", "--set", "salt=null")

    assert done.code == 0
    assert (found["salt"], found["jitter_ms"]) == ("5", 5)
    assert number.err.splitlines()[1] == "hint: write e.g. 2026-03-01T00:00:00Z or with +02:00"
    assert "jitter_ms: must be a whole number, got 'few'" in words.err


@clause("SERVICE-64", "CLIENT-6")
def test_runs_are_given_parameters(service: Up) -> None:
    register(service, "given", "--set", 'params={"region": "north"}')
    shown = service.schedule("show", "given")
    run = service.schedule("trigger", "given", "--params", '{"days": 7}', "--json").json
    wrong = service.schedule("trigger", "given", "--params", "{days: 7}")
    listed = service.schedule("trigger", "given", "--params", "[1]")

    assert 'params          {"region": "north"}' in shown.out
    assert run["params"] == {"region": "north", "days": 7}
    assert wrong.err.startswith("error: params: must be JSON")
    assert listed.err.startswith("error: params: must be an object")


@clause("SERVICE-41")
def test_a_paused_schedule_shows_no_runs_that_its_pause_keeps_from_happening(service: Up) -> None:
    register(service, "quiet")
    service.schedule("pause", "quiet", "--until", "2099-01-01T12:00:00Z")
    until = service.schedule("show", "quiet")
    paused = service.schedule("pause", "quiet")
    shown = service.schedule("show", "quiet")
    resumed = service.schedule("resume", "quiet")

    assert "next runs\n  2099-01-02T03:00:00Z\n" in until.out
    said = "no next run while it is paused; gnomon schedule resume quiet lets it go on"
    assert paused.lines[-1] == shown.lines[-1] == said
    assert "next runs\n  2" in resumed.out


@clause("CLIENT-8")
def test_a_file_of_more_than_a_megabyte_is_imported(service: Up, tmp_path: Path) -> None:
    one = HOURLY | {"only": "dow=mon-fri", "schedule_id": "large"}
    file = tmp_path / "large.json"
    file.write_text(json.dumps([one]) + " " * 1_500_000)
    done = service.schedule("import", str(file), "--yes")
    file.write_text(json.dumps([one]) + " " * 64_000_000)
    refused = service.schedule("import", str(file))

    assert (done.code, done.lines[1].split()) == (0, ["large", "changed"])
    assert "must have at most 64000000 bytes" in refused.err


@clause("CLI-44")
def test_the_ledger_of_a_service_is_found_where_it_is(
    service: Up, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    register(service, "examined")
    folder = service.token_file.parent
    monkeypatch.chdir(folder.parent)
    here = gnomon("doctor")
    named = gnomon("doctor", str(folder))
    history = gnomon("history", str(folder), "examined", "--json")
    monkeypatch.chdir(tmp_path)
    nothing = gnomon("doctor")

    assert (here.code, "The ledger is in good order." in here.out) == (0, True)
    assert ".gnomon/service.sqlite3" in here.out
    assert (named.code, history.code) == (0, 0)
    assert (nothing.code, "the directory of a service" in nothing.err) == (1, True)


@clause("CLIENT-10")
def test_what_the_service_warns_of_stands_beside_the_answer(service: Up, tmp_path: Path) -> None:
    options = ("--id", "warned", "--dag", "report", "--dag-version", "1", "--user",
               "acme", "--cron", "0 4 * * *")  # fmt: skip
    said = "acme has no DAG report, so its runs fail until one is deployed"
    file = tmp_path / "one.json"
    file.write_text(json.dumps([HOURLY | {"schedule_id": "warned"}]))
    compared = service.schedule("diff", *options)
    done = service.schedule("upsert", *options)

    assert (compared.err, "warnings" in compared.out) == (f"warning: {said}\n", False)
    assert (done.err, "warnings" in done.out) == (f"warning: {said}\n", False)
    assert service.schedule("upsert", *options, "--json").json["warnings"] == [said]
    assert service.schedule("import", str(file)).err == f"warning: warned: {said}\n"


@clause("CLIENT-6")
def test_a_run_by_hand_is_seen_and_explained(service: Up) -> None:
    register(service, "by-hand")
    first = service.schedule("trigger", "by-hand", "--key", "one", "--json").json
    again = service.schedule("trigger", "by-hand", "--key", "one", "--json").json
    runs = service.schedule("runs", "by-hand")
    skipped = service.schedule("skip-next", "by-hand", "--json").json
    why = service.schedule("explain", "by-hand", str(skipped["run_at"]))

    assert first["idempotency_key"] == again["idempotency_key"] == "manual:by-hand:one"
    assert len(runs.lines) == 2
    assert why.lines[0] == "It lies ahead, and a caller asked to leave it out."


@clause("CLIENT-7")
def test_what_concerns_many_is_done_only_when_it_is_meant(service: Up) -> None:
    register(service, "many-a")
    register(service, "many-b")
    tried = service.schedule("pause", "--text", "many-")
    none = service.schedule("list", "--text", "many-", "--paused")
    done = service.schedule("pause", "--text", "many-", "--yes", "--reason", "incident")
    resumed = service.schedule("resume", "--text", "many-", "--yes", "--json").json
    nothing = service.schedule("pause")

    assert tried.lines == ["would be paused; add --yes to do it:", "  many-a", "  many-b"]
    assert none.out == "no schedules\n"
    assert done.lines[0] == "paused:"
    assert resumed["schedule_ids"] == ["many-a", "many-b"]
    assert (nothing.code, "name a schedule, or a filter" in nothing.err) == (1, True)


@clause("CLIENT-7")
def test_a_backfill_is_counted_before_it_is_run(service: Up) -> None:
    register(service, "backfilled")
    times = ("--from", "2026-01-01T00:00:00Z", "--to", "2026-01-03T00:00:00Z")
    tried = service.schedule("backfill", "backfilled", *times)
    done = service.schedule("backfill", "backfilled", *times, "--yes", "--json").json

    assert tried.lines[-1] == "add --yes to run them"
    assert (done["count"], done["new"]) == (2, 2)


@clause("CLIENT-6")
def test_a_schedule_is_deleted(service: Up) -> None:
    register(service, "deleted")
    assert service.schedule("delete", "deleted").out == "deleted\n"
    gone = service.schedule("show", "deleted")

    assert (gone.code, gone.out) == (1, "")
    assert gone.err == "error: schedule_id: is not known, got 'deleted'\n"


@clause("CLIENT-6")
def test_a_run_that_is_over_is_not_killed(service: Up) -> None:
    done = service.schedule("kill", "manual:nothing:here")

    assert (done.code, done.err) == (1, "error: key: is not known, got 'manual:nothing:here'\n")


@clause("CLIENT-8")
def test_a_file_is_checked_as_a_whole_before_anything_is_written(
    service: Up, tmp_path: Path
) -> None:
    good = {"workflow_id": "w", "version": 1, "user_id": "acme", "schedule_id": "imported-a",
            "cron_expr": "0 3 * * *"}  # fmt: skip
    file = tmp_path / "all.json"
    file.write_text(json.dumps([good, good | {"schedule_id": "imported-b", "timezone": "Mars"}]))
    refused = service.schedule("import", str(file), "--yes")
    assert refused.code == 1
    assert "all.json: schedule number 2: timezone: " in refused.err
    assert service.schedule("list", "--text", "imported-").out == "no schedules\n"

    file.write_text(json.dumps([good, good | {"schedule_id": "imported-b"}]))
    tried = service.schedule("import", str(file))
    done = service.schedule("import", str(file), "--yes")
    again = service.schedule("import", str(file), "--yes", "--json").json["items"]
    assert tried.lines[-1] == "add --yes to write them"
    assert [line.split() for line in done.lines[1:]] == [
        ["imported-a", "changed"], ["imported-b", "changed"],
    ]  # fmt: skip
    assert isinstance(again, list)
    assert [one["changed"] for one in again] == [False, False]


@clause("CLIENT-3")
def test_a_problem_is_one_line_with_its_hint(service: Up) -> None:
    done = service.schedule(
        "upsert", "--dag", "w", "--dag-version", "1", "--user", "acme", "--cron",
        "61 * * * *",
    )  # fmt: skip

    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        "error: cron_expr: has a minute field that must lie between 0 and 59, got 61",
        "hint: write 0 to 59",
    ]


@clause("CLIENT-2", "CLIENT-3")
def test_a_wrong_token_is_refused_with_what_to_do(service: Up, tmp_path: Path) -> None:
    wrong = tmp_path / "token"
    wrong.write_text("gnomon_" + "x" * 43)
    done = gnomon("schedule", "list", "--url", service.url, "--token-file", str(wrong))

    assert done.code == 1
    assert done.err.splitlines()[0].startswith("error: the token is refused: ")
    assert "GNOMON_TOKEN" in done.err


@clause("CLIENT-1", "CLIENT-2")
def test_the_address_and_the_token_can_stand_in_the_environment(
    service: Up, tmp_path: Path
) -> None:
    token = service.token_file.read_text().strip()
    by_value = gnomon_process(
        "schedule", "list", environment={"GNOMON_URL": service.url, "GNOMON_TOKEN": token}
    )
    by_file = gnomon_process(
        "schedule", "list", "--url", service.url,
        environment={"GNOMON_TOKEN_FILE": str(service.token_file), "GNOMON_URL": "http://[::1]:1"},
    )  # fmt: skip

    assert (by_value.code, by_file.code) == (0, 0)


@clause("CLIENT-2")
@pytest.mark.parametrize("text", ["", "two\nlines", "\u00fc"])
def test_a_file_that_holds_no_token_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    done = gnomon("schedule", "list", "--token-file", str(file))

    assert (done.code, "must hold one token" in done.err) == (1, True)


@clause("CLIENT-3")
def test_a_service_that_is_not_there_says_how_to_start_one() -> None:
    done = gnomon("schedule", "list", "--url", "http://127.0.0.1:9")

    assert done.code == 2
    assert done.err.splitlines()[1] == "hint: start one with: gnomon up"


@clause("CLIENT-3")
@pytest.mark.parametrize("url", ["", "127.0.0.1:8080", "ftp://x", "http://[", "http:///x"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    done = gnomon("schedule", "list", "--url", url or "x")

    assert done.code in (1, 2)
    assert done.err.startswith("error: ")
    assert "bug" not in done.err


@clause("CLIENT-5")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", "{"), ("x.json", "[]"), ("x.json", "5"), ("x.toml", "x = "),
        ("x.json", json.dumps([HOURLY, HOURLY])), ("x.json", "\udcff"),
    ],
)  # fmt: skip
def test_a_file_that_holds_no_definition_is_refused(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    done = gnomon("schedule", "upsert", "--file", str(file))

    assert done.code == 1
    assert "must " in done.err


@clause("CLIENT-5")
def test_a_field_without_a_value_is_refused() -> None:
    done = gnomon("schedule", "upsert", "--set", "jitter_ms")

    assert (done.code, "set: must be NAME=VALUE" in done.err) == (1, True)
