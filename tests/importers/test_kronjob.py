"""Jobs of krontab files become KronJobs."""

import pytest

from gnomon.apps.krond.job import Job
from gnomon.apps.krond.krontab import read_krontab
from gnomon.errors import DefinitionError
from gnomon.importers.kronjob import ExportedJob, export_job
from tests.clauses import clause
from tests.importers.test_cronjob import NOW


def job(line: str) -> Job:
    krontab = read_krontab(line + "\n", file="/etc/krond.d/site")
    assert not krontab.errors, krontab.errors
    return krontab.jobs[0]


def export(line: str) -> ExportedJob:
    return export_job(job(line), namespace="ops", image="tools:1", now=NOW)


@clause("CRONJOB-8")
def test_timing_policy_command_and_variables_are_kept() -> None:
    exported = export(
        "0 2 * * * @tz(Europe/Paris) @win(after,4h) @dist(normal,mu=mid,sigma=10m)"
        " @seed(daily,salt=x) @only(hours=2-5) @policy(concurrency=replace,deadline=10m)"
        ' name=db/backup command="/bin/backup --all" cwd=/srv timeout=90s user=1000'
        ' env=A=b description="nightly"'
    )

    assert exported.manifest == {
        "apiVersion": "gnomon.dev/v1alpha1", "kind": "KronJob",
        "metadata": {
            "name": "db-backup", "namespace": "ops",
            "annotations": {"kubernetes.io/description": "nightly"},
        },
        "spec": {
            "schedule": "0 2 * * *", "timezone": "Europe/Paris",
            "window": {"mode": "after", "duration": "4h"},
            "distribution": {"name": "normal", "mu": "mid", "sigma": "10m"},
            "seed": "daily", "salt": "x", "constraints": {"only": "hours=2-5"},
            "policy": {"concurrency": "replace", "deadline": "10m"},
            "jobTemplate": {
                "spec": {
                    "backoffLimit": 0,
                    "activeDeadlineSeconds": 90,
                    "template": {
                        "spec": {
                            "restartPolicy": "Never",
                            "securityContext": {"runAsUser": 1000},
                            "containers": [
                                {
                                    "name": "job", "image": "tools:1",
                                    "command": ["/bin/backup", "--all"], "workingDir": "/srv",
                                    "env": [{"name": "A", "value": "b"}],
                                }
                            ],
                        }
                    },
                }
            },
        },
    }  # fmt: skip
    assert [one.field for one in exported.differences] == ["name", "timeout"]


@clause("CRONJOB-8")
def test_what_a_pod_cannot_keep_is_said() -> None:
    exported = export(
        "@daily @policy(suspend=true) name=a command=/bin/true user=www"
        " umask=0027 stdout=file:/var/log/a"
        " grace=30s mail=a@example.org"
    )

    assert [one.field for one in exported.differences] == [
        "deadline", "user", "umask", "stdout", "notify",
    ]  # fmt: skip
    spec = exported.manifest["spec"]
    assert isinstance(spec, dict)
    assert spec["policy"] == {"concurrency": "forbid", "deadline": "1m", "suspend": True}


@clause("CRONJOB-8")
def test_an_expression_of_another_dialect_must_mean_the_same() -> None:
    same = export("0 2 * * * @dialect(vixie) @policy(deadline=1m) name=a command=/bin/true")
    assert same.manifest["kind"] == "KronJob"

    with pytest.raises(DefinitionError) as caught:
        export("0 0 */2 * mon @dialect(vixie) name=a command=/bin/true")

    assert caught.value.where == "a: schedule"
    assert "runs of two years go" in str(caught.value)


@clause("CRONJOB-8")
@pytest.mark.parametrize(
    ("line", "image", "where"),
    [
        ("@daily name=a command=/bin/true", "", "image"),
        ("@reboot name=a command=/bin/true", "i", "schedule"),
        (f"@daily name={'a' * 64} command=/bin/true", "i", "name"),
    ],
)
def test_what_cannot_be_a_kronjob_is_refused(line: str, image: str, where: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        export_job(job(line), namespace="ops", image=image, now=NOW)

    assert caught.value.where == where


@clause("CRONJOB-10")
def test_a_job_at_boot_is_refused_with_what_to_write() -> None:
    with pytest.raises(DefinitionError, match=r"schedule: runs at boot.*write a DaemonSet"):
        export("@reboot name=a command=/bin/true")
