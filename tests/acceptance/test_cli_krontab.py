"""`gnomon krontab`: files checked, explained, changed and taken over, as a person does it."""

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from gnomon import recompute
from tests.acceptance.command_line import gnomon, gnomon_process
from tests.clauses import clause

NAME_REASON = "must be 1 to 100 lower-case letters, digits, hyphens and slashes"
SITE = """\
# nightly
0 2 * * * @tz(Europe/Paris) @win(after,4h) @only(hours=2-5) @policy(deadline=10m) @seed(stable,salt=%H) name=backup command="/bin/true --full" env=TOKEN=secret
# hourly
0 * * * * name=report command=/bin/true
"""  # noqa: E501


@pytest.fixture
def site(tmp_path: Path) -> Path:
    file = tmp_path / "site"
    file.write_text(SITE)
    return file


@clause("KRONTAB-31")
def test_a_file_without_errors_is_fine(site: Path) -> None:
    done = gnomon("krontab", "lint", str(site))

    assert (done.code, done.out, done.err) == (0, f"OK: {site} (2 jobs)\n", "")


@clause("KRONTAB-31")
def test_every_error_is_shown_with_a_caret(site: Path) -> None:
    site.write_text(f"{SITE}0 2 * * * @win(after,2x) name=c command=/bin/true umask=9\n")

    done = gnomon("krontab", "lint", "--file", str(site))

    assert done.code == 1
    assert done.lines == [
        f"error: {site}:5:22: @win: must be a duration, got '2x'",
        "  0 2 * * * @win(after,2x) name=c command=/bin/true umask=9",
        "                       ^",
        "hint: write e.g. 90s, 15m, 1h30m or 500ms",
        f"error: {site}:5:57: umask: must be three octal digits, got '9'",
        "  0 2 * * * @win(after,2x) name=c command=/bin/true umask=9",
        "                                                          ^",
        "hint: write e.g. 0027",
    ]


@clause("KRONTAB-31")
def test_warnings_are_no_errors_unless_one_is_strict(site: Path) -> None:
    site.write_text("0 2 * * * name=a command=/no/such/program\n")

    assert gnomon("krontab", "lint", str(site)).code == 0
    done = gnomon("krontab", "lint", "--strict", str(site))
    assert done.code == 1
    assert done.lines[0].startswith(f"warning: {site}:1:26: command: is no program")
    assert done.lines[-1] == f"OK: {site} (1 job, 1 warning)"


@clause("KRONTAB-31")
def test_lint_as_json_has_the_parts_of_each_problem(site: Path, tmp_path: Path) -> None:
    (tmp_path / "zoo").write_text("0 2 * * * name=A command=/bin/true\n")

    done = gnomon("krontab", "lint", "--json", str(tmp_path))

    assert done.code == 1
    assert done.json == {
        "valid": False,
        "files": [
            {"file": str(site), "valid": True, "jobs": 2, "errors": [], "warnings": []},
            {
                "file": f"{tmp_path}/zoo",
                "valid": False,
                "jobs": 0,
                "errors": [
                    {
                        "line": 1,
                        "column": 16,
                        "severity": "error",
                        "where": "name",
                        "reason": NAME_REASON,
                        "got": "A",
                        "hint": "write e.g. nightly-backup or db/vacuum",
                    }
                ],
                "warnings": [],
            },
        ],
    }


@clause("KRONTAB-21", "KRONTAB-31")
def test_a_file_that_does_not_count_is_named(site: Path) -> None:
    for name in ("jobs.cron", "site~", ".hidden", "README.md", "site.bak"):
        (site.parent / name).write_text("nonsense")

    done = gnomon("krontab", "lint", str(site.parent))

    assert done.code == 0
    assert done.lines[0] == f"OK: {site} (2 jobs)"
    assert done.lines[1] == (
        f"warning: {site.parent}/jobs.cron:1:1: file: does not count, because of its name, "
        "got 'jobs.cron'"
    )
    assert len(done.lines) == 3


@clause("KRONTAB-33")
def test_what_is_explained_can_be_read_aloud(site: Path) -> None:
    site.write_text(
        "0 2 * * * name=a command=true env=TOKEN=hush1 "
        "webhook=https://u:hush2@e.org:8443/hush3?k=hush4 "
        "ping=https://hush5@hc.example/hush6\n"
    )

    done = gnomon("krontab", "explain", "a", "--file", str(site))

    assert "https://e.org:8443/... on" in done.out
    assert "pings         https://hc.example/...\n" in done.out
    assert "hush" not in done.out


@clause("KRONTAB-34")
def test_the_json_of_all_jobs_is_a_list_also_when_there_is_one(site: Path) -> None:
    site.write_text("0 2 * * * name=a command=/bin/true\n")

    done = gnomon("krontab", "next", "--file", str(site), "--json")

    assert done.json.keys() == {"anchor", "jobs"}


@clause("KRONTAB-31")
def test_a_file_that_is_not_there_is_a_failure_of_the_system(tmp_path: Path) -> None:
    done = gnomon("krontab", "lint", str(tmp_path / "missing"))

    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: {tmp_path}/missing: No such file or directory\n"


@clause("KRONTAB-32")
def test_the_next_periods_of_all_jobs_come_in_their_order(site: Path) -> None:
    done = gnomon("krontab", "next", "--file", str(site))

    assert done.code == 0
    assert done.lines[1].startswith("1  report  2026-03-28 13:00:00 +00:00  Sat")
    assert done.lines[2].startswith("2  backup  2026-03-29 0")
    assert len(done.lines) == 3


@clause("KRONTAB-32")
def test_a_period_whose_second_lies_ahead_is_next_though_its_time_has_passed(site: Path) -> None:
    # On 10 March the window is open from 01:00 to 05:00 UTC.
    chosen = _decision(site, "2026-03-10T00:59:59Z")["chosenTime"]
    assert isinstance(chosen, str)

    before = _decision(site, f"{datetime.fromisoformat(chosen) - timedelta(seconds=1):%FT%TZ}")
    after = _decision(site, chosen)

    assert before["periodId"] == "2026-03-10T01:00:00Z"
    assert after["periodId"] == "2026-03-11T01:00:00Z"


def _decision(site: Path, at: str) -> dict[str, object]:
    done = gnomon("krontab", "next", "backup", "--file", str(site), "--at", at, "--json")
    decisions = done.json["decisions"]
    assert isinstance(decisions, list)
    found = decisions[0]
    assert isinstance(found, dict)
    return found


@clause("KRONTAB-33")
def test_a_job_is_explained_in_words(site: Path) -> None:
    done = gnomon("krontab", "explain", "backup", "--file", str(site))

    assert done.code == 0
    assert done.lines[0] == "backup: At 02:00 every day"
    for words in (
        f"identity      {site}:backup",
        "zone          Europe/Paris (tzdata ",
        "window        one second from the nominal time until 4h after it; each is as likely",
        "only          during the hours 2-5",
        "late          allowed up to 10m after the chosen second, then missed",
        "while active  forbid: the period is skipped",
        "executes      /bin/true --full",
        "env           TOKEN",
        "Period 2026-03-29T01:00:00Z",
        "moved: 02:00 does not exist",
    ):
        assert words in done.out
    assert "secret" not in done.out


@clause("KRONTAB-33")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("@win(around,1h) @dist(skewLate,shape=3) @seed(daily,salt=x)",
         ["from 30m before the nominal time until 30m after it; late ones are likelier (shape 3)",
          "daily: all periods of a day share one draw; salt x"]),
        ("@win(before,90s) @dist(normal,mu=start,sigma=5s) @seed(weekly)",
         ["from 1m30s before the nominal time until it; those near the start are likelier (sig",
          "weekly: all periods of a week share one draw"]),
        ("@win(after,1h) @dist(exponential,dir=late)", ["late ones are far likelier (lambda 1)"]),
        ("@win(after,1h) @dist(skewEarly)", ["early ones are likelier (shape 2)"]),
        ("@win(around,1h) @dist(normal)", ["those near the middle or the nominal time are"]),
        ("@avoid(dow=sat,sun;dates=2026-12-24..2026-12-31;months=8;dom=1;between=09:00-10:00)",
         ["never         on sun,sat or on the days 1 of the month or in aug or between 09:00-10:00"
          " or on 2026-12-24..2026-12-31"]),
        ("@policy(concurrency=allow)", ["allow: it is started beside the run that is active"]),
        ("@policy(concurrency=replace)", ["replace: the active run is ended first (TERM"]),
        ("@policy(suspend=true)", ["suspended     yes: nothing is triggered", "suspended"]),
        ("@only(hours=3)", ["unschedulable: the constraints allow no candidate"]),
    ],
)  # fmt: skip
def test_each_modifier_has_its_words(site: Path, line: str, words: list[str]) -> None:
    site.write_text(f"0 2 * * * {line} name=a command=/bin/true\n")

    done = gnomon("krontab", "explain", "a", "--file", str(site))

    assert done.code == 0
    assert [one for one in words if one not in done.out] == []


@clause("KRONTAB-33")
def test_what_is_executed_has_its_words(site: Path) -> None:
    site.write_text(
        '0 2 * * * name=a command="a | b" shell=true user=nobody group=adm cwd=/tmp umask=27 '
        "timeout=5m stdout=file:/tmp/x mail=root webhook=https://e.org/h ping=https://e.org/p "
        'notify=always description="For nobody"\n'
    )

    done = gnomon("krontab", "explain", "a", "--file", str(site))

    for words in (
        "executes      a | b (read by /bin/sh)",
        "as            nobody, group adm",
        "in            /tmp",
        "umask         0027",
        "time-out      5m, then TERM, after 10s KILL",
        "stdout        file:/tmp/x",
        "tells         root, https://e.org/... on failure, missed, skipped, success, unschedulable",
        "pings         https://e.org/...",
        "for           For nobody",
    ):
        assert words in done.out


@clause("KRONTAB-34")
def test_the_period_of_a_time_is_the_newest_whose_window_has_opened(site: Path) -> None:
    done = gnomon(
        "krontab", "explain", "backup", "--file", str(site), "--at", "2026-03-10T14:00:00Z",
        "--json",
    )  # fmt: skip

    assert done.json["job"] == "backup"
    assert done.json["periodId"] == "2026-03-10T01:00:00Z"
    assert done.json["mode"] == "after"
    assert recompute(done.json).to_json()["chosenTime"] == done.json["chosenTime"]


@clause("KRONTAB-34")
def test_with_a_time_the_answer_does_not_depend_on_the_clock(site: Path) -> None:
    asked = ("krontab", "explain", "backup", "--file", str(site), "--at", "2026-03-10T14:00:00Z")

    assert gnomon(*asked).out == gnomon_process(*asked).out


@clause("KRONTAB-35")
def test_a_job_is_asked_for_by_its_name_or_by_its_identity(site: Path, tmp_path: Path) -> None:
    (tmp_path / "zoo").write_text("0 2 * * * name=report command=/bin/true\n")

    unknown = gnomon("krontab", "next", "nobody", "--file", str(site))
    twice = gnomon("krontab", "next", "report", "--file", str(tmp_path))
    exact = gnomon("krontab", "next", f"{site}:report", "--file", str(tmp_path))

    assert (unknown.code, unknown.err) == (
        1, "error: job: is no job, got 'nobody'\nhint: there is backup, report\n"
    )  # fmt: skip
    assert twice.code == 1
    assert f"write one of {site}:report, {tmp_path}/zoo:report" in twice.err
    assert exact.code == 0


@clause("KRONTAB-35")
def test_a_file_with_errors_answers_nothing(site: Path) -> None:
    site.write_text("0 2 * * * name=A command=/bin/true\n")

    done = gnomon("krontab", "next", "--file", str(site))

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {site}:1:16: name: must be")


@clause("KRONTAB-25", "KRONTAB-27")
def test_jobs_come_and_go_and_the_mode_stays(site: Path) -> None:
    site.chmod(0o640)

    added = gnomon("krontab", "add", "0 5 * * * name=c command=/bin/true", "--file", str(site))
    text = site.read_text()
    removed = gnomon("krontab", "remove", "c", "--file", str(site))

    assert (added.code, removed.code) == (0, 0)
    assert text == f"{SITE}0 5 * * * name=c command=/bin/true\n"
    assert site.read_text() == SITE
    assert site.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in site.parent.iterdir()] == ["site"]


@clause("KRONTAB-25")
def test_a_new_file_is_made(tmp_path: Path) -> None:
    file = tmp_path / "new.yaml"

    done = gnomon("krontab", "add", "@daily name=c command=/bin/true", "--file", str(file))

    assert done.code == 0
    assert file.read_text() == (
        'jobs:\n  - name: c\n    schedule: "@daily"\n    command: /bin/true\n'
    )
    assert gnomon("krontab", "lint", str(file)).code == 0


@clause("KRONTAB-36")
@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "61 5 * * * name=c command=/bin/true"),
        ("add", "0 5 * * * name=backup command=/bin/true"),
        ("remove", "nobody"),
    ],
)
def test_what_is_refused_changes_nothing(site: Path, arguments: tuple[str, ...]) -> None:
    done = gnomon("krontab", *arguments, "--file", str(site))

    assert done.code == 1
    assert done.err.startswith("error: ")
    assert site.read_text() == SITE


@clause("KRONTAB-36")
def test_a_file_with_errors_is_not_changed(site: Path) -> None:
    bad = f"{SITE}nonsense\n"
    site.write_text(bad)

    for arguments in (
        ("add", "0 5 * * * name=c command=/bin/true", "--file", str(site)),
        ("remove", "backup", "--file", str(site)),
        ("format", "--write", str(site)),
    ):
        assert gnomon("krontab", *arguments).code == 1
    assert site.read_text() == bad


@clause("KRONTAB-36")
def test_a_place_that_cannot_be_written_is_a_failure_of_the_system(tmp_path: Path) -> None:
    line = "0 5 * * * name=c command=/bin/true"

    done = gnomon("krontab", "add", line, "--file", str(tmp_path / "no" / "file"))

    assert (done.code, done.err) == (2, f"error: {tmp_path}/no: No such file or directory\n")


@clause("KRONTAB-26")
def test_a_file_is_formatted_when_told_to(site: Path) -> None:
    site.write_text("# top\n0  5 * * * name=c   command=/bin/true\n")
    tidy = "# top\n0 5 * * * name=c command=/bin/true\n"

    assert gnomon("krontab", "format", "--check", str(site)).code == 1
    assert gnomon("krontab", "format", str(site)).out == tidy
    assert gnomon("krontab", "format", "--write", str(site)).out == ""
    assert site.read_text() == tidy
    assert gnomon("krontab", "format", "--check", str(site)).code == 0
    assert gnomon("krontab", "format", "--to", "yaml", str(site)).lines[0] == "jobs:"
    assert gnomon("krontab", "format", "--to", "toml", str(site)).code == 1


@clause("KRONTAB-27")
def test_a_link_is_followed_and_what_it_leads_to_is_changed(site: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    os.symlink(site, link)

    gnomon("krontab", "remove", "report", "--file", str(link))

    assert link.is_symlink()
    assert "report" not in site.read_text()
