"""`gnomon dag` against a real service: deploying, looking, removing, as text and as JSON."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.serving import Up, up
from tests.clauses import clause

TRIGGER = {"type": "schedule_based", "cron_expr": "0 3 * * *", "timezone": "UTC"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(tmp_path_factory.mktemp("service"), "--no-samples") as found:
        yield found


def write(folder: Path, name: str, **more: object) -> str:
    file = folder / f"{name}.json"
    nodes = [{"id": "a", "type": "command", "command": ["true"]}]
    dag = {"workflow_id": name, "version": 1, "nodes": nodes, "triggers": [TRIGGER]}
    file.write_text(json.dumps(dag | more))
    return str(file)


@clause("CLIENT-11")
def test_dags_are_deployed_from_files_and_shown(service: Up, tmp_path: Path) -> None:
    files = [write(tmp_path, "deployed-a"), write(tmp_path, "deployed-b", triggers=[])]
    done = service.ask("dag", "deploy", *files, "--user", "acme")
    again = service.ask("dag", "deploy", *files, "--user", "acme", "--json").json["items"]
    shown = service.ask("dag", "show", "deployed-a", "--user", "acme")
    found = service.ask("dag", "show", "deployed-a", "--user", "acme", "--json").json
    listed = service.ask("dag", "list", "--user", "acme")

    assert (done.code, done.err) == (0, "")
    assert [line.split()[:3] for line in done.lines[1:]] == [
        ["deployed-a", "1", "deployed"], ["deployed-b", "1", "deployed"],
    ]  # fmt: skip
    assert "deployed-a.main." in done.lines[1]
    assert isinstance(again, list)
    assert [one["created"] for one in again] == [False, False]
    assert '"command": [' in shown.out
    assert isinstance(found["dag"], dict)
    assert found["dag"]["triggers"] == [TRIGGER]
    assert [line.split()[:3] for line in listed.lines] == [
        ["dag", "version", "user"], ["deployed-a", "1", "acme"], ["deployed-b", "1", "acme"],
    ]  # fmt: skip


@clause("CLIENT-11")
def test_whose_dag_it_is_must_be_said_by_who_acts_for_everybody(
    service: Up, tmp_path: Path
) -> None:
    file = write(tmp_path, "whose")
    deployed = service.ask("dag", "deploy", file)
    shown = service.ask("dag", "show", "whose")
    removed = service.ask("dag", "remove", "whose")
    said = "user_id: must be given, because the sender acts for every user, got None"
    hint = "hint: name the user with --user ID"

    assert deployed.err.splitlines() == [f"error: {file}: {said}", hint]
    assert shown.err.splitlines() == removed.err.splitlines() == [f"error: {said}", hint]


@clause("CLIENT-11")
def test_a_dag_that_is_wrong_is_refused_with_its_file_and_place(
    service: Up, tmp_path: Path
) -> None:
    good, file = write(tmp_path, "fine"), write(tmp_path, "wrong", nodes=[{"id": "a"}])
    done = service.ask("dag", "deploy", good, file, "--user", "acme")

    assert done.code == 1
    assert done.err.startswith(f"error: {file}: nodes[0].type: ")


@clause("CLIENT-11")
def test_a_dag_is_removed_with_its_schedules_when_that_is_meant(
    service: Up, tmp_path: Path
) -> None:
    service.ask("dag", "deploy", write(tmp_path, "removed"), "--user", "acme")
    tried = service.ask("dag", "remove", "removed", "--user", "acme")
    there = service.ask("dag", "show", "removed", "--user", "acme")
    done = service.ask("dag", "remove", "removed", "--user", "acme", "--yes", "--json").json
    gone = service.ask("dag", "show", "removed", "--user", "acme")

    assert tried.lines[:2] == [
        "would remove removed of acme; add --yes to do it", "schedules that start it",
    ]  # fmt: skip
    assert there.code == 0
    assert (done["versions"], done["deleted"]) == (1, [tried.lines[2].strip()])
    assert gone.err == "error: workflow_id: is not known, got 'removed'\n"
    assert service.schedule("list", "--dag", "removed").out == "no schedules\n"
    assert service.ask("dag", "list", "--user", "nobody").out == "no DAGs\n"


@clause("CLIENT-11")
def test_a_version_that_triggers_start_is_not_removed(service: Up, tmp_path: Path) -> None:
    service.ask("dag", "deploy", write(tmp_path, "versions"), "--user", "acme")
    refused = service.ask("dag", "remove", "versions", "--version", "1", "--user", "acme", "--yes")
    service.ask("dag", "deploy", write(tmp_path, "versions", version=2), "--user", "acme")
    tried = service.ask("dag", "remove", "versions", "--version", "1", "--user", "acme", "--json")
    done = service.ask("dag", "remove", "versions", "--version", "1", "--user", "acme", "--yes")

    assert "is the version that its triggers start: versions.main." in refused.err
    assert tried.json["schedules"] == []
    assert done.code == 0
    assert service.ask("dag", "show", "versions", "--user", "acme", "--json").json["version"] == 2
