"""What a file says once for all its jobs, and that it means what each job could have said."""

from collections.abc import Mapping
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gnomon.apps.krond.krontab import render_line
from gnomon.apps.krond.krontab.edit import add_job, convert, format_file, parse_job, remove_job
from tests.apps.krond.krontab.reading import FILE, problems, read
from tests.apps.krond.krontab.test_render import FIELDS, MODIFIERS, SCHEDULES, WORDS
from tests.clauses import clause

YAML = f"{FILE}.yaml"
POLICY = {
    "concurrency": st.sampled_from(["allow", "forbid", "replace"]),
    "deadline": st.sampled_from(["0s", "90s", "26h"]),
    "suspend": st.sampled_from(["true", "false"]),
}
WHEN = {name: texts for name, texts in MODIFIERS.items() if name != "policy"} | {
    "dialect": st.sampled_from(["standard", "vixie", "posix"])
}
HOW = {name: texts for name, texts in FIELDS.items() if name not in ("ping", "description")} | {
    "shell": st.sampled_from(["true", "false", "/bin/bash"])
}
NOTHING = st.just("")


class Said(NamedTuple):
    """What a line says beside schedule, name and command; an empty text stands against one."""

    when: Mapping[str, str] = {}
    policy: Mapping[str, str] = {}
    how: Mapping[str, str] = {}
    env: Mapping[str, str] = {}
    clears: bool = False

    def words(self) -> list[str]:
        words = [f"@{name}({text})" for name, text in self.when.items()]
        if self.policy:
            words.append(f"@policy({','.join(map('='.join, self.policy.items()))})")
        words += [f"{name}={_in_quotes(text)}" for name, text in self.how.items()]
        words += ["env="] if self.clears else []
        return words + [f"env={name}={_in_quotes(text)}" for name, text in self.env.items()]

    def at_boot(self) -> "Said":
        """What of it can be said of a boot."""
        return self._replace(when={key: one for key, one in self.when.items() if key == "tz"})

    def under(self, defaults: "Said") -> "Said":
        """The same, written out: the rule of the reference, in three lines."""
        when = {**defaults.when, **self.when}
        how = {**defaults.how, **self.how}
        return Said(
            {name: text for name, text in when.items() if text},
            {**defaults.policy, **self.policy},
            {name: text for name, text in how.items() if text},
            {**({} if self.clears else defaults.env), **self.env},
        )


def _in_quotes(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def said(usual: Said | None = None) -> st.SearchStrategy[Said]:
    """What a line may say: the defaults, or a job under them, which may take some of them away."""
    against = Said() if usual is None else usual

    def texts(
        known: Mapping[str, st.SearchStrategy[str]], others: Mapping[str, str]
    ) -> st.SearchStrategy[dict[str, str]]:
        wider = {name: one | NOTHING if name in others else one for name, one in known.items()}
        return st.fixed_dictionaries({}, optional=wider)

    return st.builds(
        Said, texts(WHEN, against.when), texts(POLICY, {}), texts(HOW, against.how),
        st.dictionaries(st.sampled_from(["A", "B_1", "path"]), WORDS),
        st.booleans() if against.env else st.just(False),
    )  # fmt: skip


@st.composite
def files(draw: st.DrawFn) -> tuple[str, str]:
    """A file with defaults, and one that has everything on each line."""
    usual = draw(said())
    jobs = draw(st.lists(st.tuples(SCHEDULES, said(usual)), min_size=1, max_size=3))
    short, long = [" ".join(["@defaults", *usual.words()])], []
    for number, (schedule, own) in enumerate(jobs):
        rest = f"name=job-{number} command=x"
        is_usual = own.under(usual).when.get("dialect", "standard") == "standard"
        time = schedule if is_usual or schedule == "@reboot" else "0 2 * * *"
        if time == "@reboot":
            own = own.at_boot()
        modifiers, fields = _parted(own.words())
        short.append(" ".join([time, *modifiers, rest, *fields]))
        whole = own.under(usual)
        whole = whole.at_boot() if time == "@reboot" else whole
        modifiers, fields = _parted(whole.words())
        long.append(" ".join([time, *modifiers, rest, *fields]))
    return "\n".join(short), "\n".join(long)


def _parted(words: list[str]) -> tuple[list[str], list[str]]:
    return (
        [word for word in words if word.startswith("@")],
        [word for word in words if not word.startswith("@")],
    )


@clause("KRONTAB-48", "KRONTAB-49", "KRONTAB-51")
@given(files())
@example(
    ("@defaults @dst(vixie)\n0 2 * * * @dialect(posix) name=a command=b",
     "0 2 * * * @dialect(posix) @dst(vixie) name=a command=b")
)  # fmt: skip
def test_defaults_mean_what_each_line_could_have_said(both: tuple[str, str]) -> None:
    short, long = map(read, both)

    assert short.problems == long.problems == ()
    assert short.jobs == long.jobs


@clause("KRONTAB-50")
@given(files())
@example(("@defaults @dst(vixie)\n0 2 * * * @dialect(posix) name=a command=b", ""))
@example(("@defaults env=A=1 mail=root\n0 2 * * * name=a command=b env= env=B=2 mail=", ""))
def test_a_formatted_file_has_the_same_defaults_and_jobs(both: tuple[str, str]) -> None:
    krontab = read(both[0])

    formatted = format_file(krontab)
    in_yaml = convert(krontab, to_yaml=True)
    back = convert(read(in_yaml, file=YAML), to_yaml=False)

    assert read(formatted).jobs == krontab.jobs
    assert format_file(read(formatted)) == formatted == back
    assert formatted.startswith("@defaults")
    assert read(in_yaml, file=YAML).problems == ()
    assert format_file(read(in_yaml, file=YAML)) == in_yaml


@clause("KRONTAB-48")
def test_a_file_says_once_what_holds_for_all_its_jobs() -> None:
    text = (
        "# for the site\n"
        "@defaults @tz(Europe/Paris) @policy(concurrency=allow,deadline=10m) user=backup "
        "mail=ops@example.org env=LANG=C env=MODE=prod\n"
        "0 2 * * * name=a command=/bin/a\n"
        "0 3 * * * @tz(UTC) @policy(deadline=1h) name=b command=/bin/b user= env=MODE=test\n"
    )
    written_out = (
        "0 2 * * * @tz(Europe/Paris) @policy(concurrency=allow,deadline=10m) name=a "
        "command=/bin/a user=backup mail=ops@example.org env=LANG=C env=MODE=prod",
        "0 3 * * * @policy(concurrency=allow,deadline=1h) name=b "
        "command=/bin/b mail=ops@example.org env=LANG=C env=MODE=test",
    )

    krontab = read(text)

    assert krontab.problems == ()
    assert tuple(render_line(job) for job in krontab.jobs) == written_out


@clause("KRONTAB-48")
def test_yaml_says_it_as_a_mapping_wherever_that_stands() -> None:
    text = """
jobs:
  - name: a
    schedule: 0 2 * * *
    command: /bin/a
    policy: {deadline: 1h}
    env: {B: two}
    mail: []
defaults:
  tz: Europe/Paris
  policy: {concurrency: allow, deadline: 10m}
  env: {A: "1", B: "2"}
  mail: [ops@example.org]
"""
    (job,) = read(text, file=YAML).jobs

    assert render_line(job) == (
        "0 2 * * * @tz(Europe/Paris) @policy(concurrency=allow,deadline=1h) name=a "
        "command=/bin/a env=A=1 env=B=two"
    )


@clause("KRONTAB-5", "KRONTAB-48")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "@defaults @tz(Mars/Olympus) umask=9\n0 2 * * * name=a command=b mail=\n"
            "0 3 * * * name=c command=d",
            ["1:15: @tz: must be a zone of the IANA database, got 'Mars/Olympus'",
             "1:35: umask: must be three octal digits, got '9'",
             "2:33: mail: is no address, got ''"],
        ),
        (
            "0 2 * * * name=a command=b\n@defaults @tz(UTC)",
            ["2:1: defaults: stand behind a job, got '@defaults'"],
        ),
        (
            "@defaults @tz(UTC)\n\n@defaults",
            ["3:1: defaults: stand here for the second time, got '@defaults'"],
        ),
        (
            "@defaults name=a ping=https://example.org/a command=b description=c",
            ["1:16: name: belongs to one job, and not to all, got 'a'",
             "1:23: ping: belongs to one job, and not to all, got 'https://example.org/a'",
             "1:53: command: belongs to one job, and not to all, got 'b'",
             "1:67: description: belongs to one job, and not to all, got 'c'"],
        ),
        ("@defaults 0 2 * * *", ["1:11: word: stands alone, got '0'"]),
        ("@default @tz(UTC)\n", ["1:1: schedule: is not a known macro, got '@default'",
                                 "1:1: name: is missing", "1:1: command: is missing"]),
        (
            "@defaults user=www\n0 2 * * * @policy(,) name=a command=b user=",
            [f"2:{at}: @policy: must be key=value, got ''" for at in (19, 20)],
        ),
    ],
)  # fmt: skip
def test_a_mistake_in_defaults_is_shown_once_where_it_is(text: str, found: list[str]) -> None:
    assert problems(text) == found


@clause("KRONTAB-5", "KRONTAB-48")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("defaults: [a]\njobs: []", ["1:11: defaults: must be a mapping"]),
        ("defaults: {zone: UTC}\njobs: []", ["1:12: defaults: has an unknown key, got 'zone'"]),
        (
            "defaults:\n  schedule: 0 2 * * *\n  user: a b\njobs: []",
            ["2:13: schedule: belongs to one job, and not to all, got '0 2 * * *'",
             "3:9: user: is no name of an account, got 'a b'"],
        ),
    ],
)  # fmt: skip
def test_a_mistake_in_defaults_of_yaml_is_shown_where_it_is(text: str, found: list[str]) -> None:
    assert problems(text, file=YAML) == found


@clause("KRONTAB-49")
def test_an_empty_value_is_a_mistake_where_no_default_is_to_be_taken_away() -> None:
    assert problems("@defaults user=www\n0 2 * * * name=a command=b mail= env=") == [
        "2:33: mail: is no address, got ''",
        "2:38: env: must be NAME=value, got ''",
    ]


@clause("KRONTAB-50", "KRONTAB-25")
def test_an_added_job_is_under_the_defaults_of_its_file() -> None:
    text = "@defaults @tz(Europe/Paris) mail=root\n0 2 * * * name=a command=/bin/a\n"
    line = "0 3 * * * name=b command=/bin/b mail="

    added = add_job(read(text), line, replace=False)
    replaced = add_job(read(text), "0 4 * * * @tz(UTC) name=a command=b", replace=True)

    assert added == f"{text}{line}\n"
    assert parse_job(line, read(text)).schedule.decider.zone == "Europe/Paris"
    assert remove_job(read(added), "b") == text
    assert (
        replaced == "@defaults @tz(Europe/Paris) mail=root\n0 4 * * * @tz(UTC) name=a command=b\n"
    )


@clause("KRONTAB-50", "KRONTAB-25")
def test_an_added_job_of_yaml_leaves_out_what_the_file_says() -> None:
    text = "defaults: {tz: Europe/Paris}  # here\njobs:\n  - name: a\n"
    text += "    schedule: 0 2 * * *\n    command: /bin/a\n"

    added = add_job(read(text, file=YAML), "0 3 * * * name=b command=/bin/b", replace=False)

    assert added == text + '  - name: b\n    schedule: "0 3 * * *"\n    command: /bin/b\n'
    assert [job.schedule.decider.zone for job in read(added, file=YAML).jobs] == 2 * [
        "Europe/Paris"
    ]


@clause("KRONTAB-50")
def test_defaults_that_say_nothing_stay() -> None:
    text = "@defaults   @tz(UTC)\n0 2 * * * name=a command=/bin/a\n"

    assert format_file(read(text)) == "@defaults\n0 2 * * * name=a command=/bin/a\n"
    assert convert(read(text), to_yaml=True).startswith("defaults: {}\njobs:\n")
    assert read(convert(read(text), to_yaml=True), file=YAML).problems == ()
