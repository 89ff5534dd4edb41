"""`gnomon operator import` and `gnomon krontab export`, as a person uses them."""

import json
from pathlib import Path

import pytest
import yaml

from gnomon.apps.krond.state import usual_sources
from tests.acceptance.command_line import gnomon
from tests.clauses import clause

CRONJOB = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: NAME}
spec:
  schedule: "SCHEDULE"
  timeZone: UTC
  startingDeadlineSeconds: 60
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: c, image: i}]
"""


def cronjob(name: str, schedule: str = "0 2 * * *") -> str:
    return CRONJOB.replace("NAME", name).replace("SCHEDULE", schedule)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.yaml"
    path.write_text(cronjob("one"))
    return path


@clause("CRONJOB-7")
def test_an_import_prints_what_kubectl_takes_and_says_what_changes(file: Path) -> None:
    done = gnomon("operator", "import", str(file))

    assert done.code == 0
    (kronjob,) = yaml.safe_load_all(done.out)
    assert (kronjob["kind"], kronjob["metadata"]["name"]) == ("KronJob", "one")
    assert kronjob["spec"]["policy"] == {"concurrency": "allow", "deadline": "1m"}
    assert f"note: {file}: one: " in done.err
    assert "fires until" in done.err


@clause("CRONJOB-6")
def test_one_that_cannot_be_taken_over_keeps_no_other(file: Path) -> None:
    deployment = "kind: Deployment\nmetadata: {name: web}\n"
    file.write_text("---\n".join([cronjob("bad", "@every 7m"), cronjob("good"), "", deployment]))

    done = gnomon("operator", "import", str(file))

    assert done.code == 1
    assert [one["metadata"]["name"] for one in yaml.safe_load_all(done.out)] == ["good"]
    assert f"error: {file}: bad: spec.schedule: counts from when the controller began" in done.err
    assert "Deployment is no CronJob, and is left out" in done.err


@clause("CRONJOB-7")
def test_a_note_names_the_namespace_too(file: Path) -> None:
    file.write_text(cronjob("one").replace("{name: one}", "{name: one, namespace: ops}"))

    done = gnomon("operator", "import", str(file))

    assert f"note: {file}: ops/one: " in done.err


@clause("CRONJOB-3")
def test_a_zone_that_is_none_is_an_error_of_the_option(file: Path) -> None:
    done = gnomon("operator", "import", str(file), "--zone", "Paris")

    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "error: --zone: must be a zone of the IANA database, got 'Paris'\n"
        "hint: write e.g. Europe/Berlin or UTC\n"
    )


@clause("CRONJOB-6")
def test_a_list_is_taken_item_by_item(file: Path) -> None:
    items = [yaml.safe_load(cronjob(name)) for name in ("one", "two")]
    file.write_text(json.dumps({"kind": "List", "items": items}))

    done = gnomon("operator", "import", "--json", str(file))

    answer = json.loads(done.out)
    assert [one["metadata"]["name"] for one in answer["kronjobs"]] == ["one", "two"]
    assert answer["errors"] == []


@clause("CRONJOB-3")
def test_what_is_no_yaml_is_said(file: Path) -> None:
    file.write_text("a: [")

    done = gnomon("operator", "import", str(file))

    assert done.code == 1
    assert "is no YAML" in done.err


@clause("CRONJOB-9")
def test_an_export_prints_kronjobs_of_krontab_files(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.write_text("0 2 * * * @policy(deadline=5m) name=a command=/bin/true\n")

    done = gnomon("krontab", "export", "--kubernetes", "--image", "tools:1", "--file", str(site))

    assert done.code == 0
    (kronjob,) = yaml.safe_load_all(done.out)
    assert kronjob["metadata"] == {"name": "a", "namespace": "default"}
    assert "note: programs and files are those of the image" in done.err


@clause("CRONJOB-9")
def test_without_krontab_files_on_this_machine_an_export_says_how_to_name_some() -> None:
    if (usual := usual_sources()).exists():
        pytest.skip("this machine has krontab files")

    done = gnomon("krontab", "export", "--kubernetes", "--image", "tools:1")

    assert done.code == 2
    assert done.err == (
        f"error: {usual}: No such file or directory\n"
        "hint: name a krontab file or a directory of them: --file PATH\n"
    )


@clause("CRONJOB-9")
def test_two_jobs_that_would_have_one_name_are_refused(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.write_text("@daily name=a/b command=/bin/true\n@daily name=a-b command=/bin/true\n")

    done = gnomon("krontab", "export", "--kubernetes", "--image", "tools:1", "--file", str(site))

    assert done.code == 1
    assert "a-b: name: gives a name that another job has" in done.err


@clause("CRONJOB-9")
@pytest.mark.parametrize(
    "arguments", [["export"], ["export", "--kubernetes"]], ids=["to nothing", "no image"]
)
def test_an_export_says_what_it_lacks(tmp_path: Path, arguments: list[str]) -> None:
    site = tmp_path / "site"
    site.write_text("@daily name=a command=/bin/true\n")

    done = gnomon("krontab", *arguments, "--file", str(site))

    assert done.code == 1
    assert "--image" in done.err
