"""The definition of the kind: complete, described, and of one mind with what reads a spec."""

import re
from collections.abc import Iterator, Mapping

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gnomon.apps.operator.crd import custom_resource_definition
from gnomon.apps.operator.definition import read_definition
from gnomon.cli.kronjob_view import as_yaml
from gnomon.core.civil.duration import parse_duration
from gnomon.errors import DefinitionError
from gnomon.ports.kubernetes_object import at, mapping, text, things
from tests.acceptance.command_line import gnomon
from tests.apps.operator.lone_operator import POD, Cluster
from tests.apps.operator.wrong_specs import NOT_A_DURATION
from tests.clauses import clause

CRD = custom_resource_definition()
(VERSION,) = things(CRD, "spec", "versions")
ROOT = mapping(VERSION, "schema", "openAPIV3Schema", "properties")


def fields(schema: object, path: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    items = mapping(schema, "items") or mapping(schema)
    for name, inner in mapping(items, "properties").items():
        assert isinstance(inner, Mapping)
        yield f"{path}.{name}", inner
        yield from fields(inner, f"{path}.{name}")


SPEC, STATUS = dict(fields(ROOT["spec"], "spec")), dict(fields(ROOT["status"], "status"))


@clause("OPERATOR-28")
def test_every_field_has_a_description() -> None:
    assert [path for path, one in (SPEC | STATUS).items() if not text(one, "description")] == []


@clause("OPERATOR-28")
def test_a_field_with_a_default_says_what_is_taken_when_it_is_left_out() -> None:
    told = {path: one for path, one in SPEC.items() if one.get("default") not in (None, {}, "")}

    assert "spec.timezone" in told
    assert [
        path for path, one in told.items()
        if one["default"] is not False
        and not re.search(f"{one['default']}.* when left out|0s for the", text(one, "description"))
    ] == []  # fmt: skip


@clause("OPERATOR-28")
def test_every_field_that_a_status_can_have_is_named() -> None:
    cluster = Cluster(window={"duration": "4m"}, seed="daily")
    cluster.until("2026-03-01T00:12:00Z")
    cluster.edit(schedule="*/7 * * * *")
    cluster.until("2026-03-01T00:12:10Z")

    written = set(_paths(cluster.status(), "status"))

    timing = {path for path in written if path.startswith("status.definition.")}
    assert written - timing - set(STATUS) == set()


@clause("OPERATOR-27")
def test_nothing_that_the_operator_writes_into_a_status_is_pruned() -> None:
    objects = {"status": ROOT["status"], **STATUS}

    assert [
        path
        for path, one in objects.items()
        if "properties" in (mapping(one, "items") or mapping(one))
        and at(mapping(one, "items") or one, "x-kubernetes-preserve-unknown-fields") is not True
    ] == []


@clause("OPERATOR-27", "OPERATOR-3")
def test_the_defaults_of_the_schema_are_those_of_the_operator() -> None:
    template = {"spec": {"template": {"spec": POD}}}
    least = {"schedule": "0 2 * * *", "jobTemplate": template}

    filled = _filled(ROOT["spec"], least)

    assert filled["policy"] == {"concurrency": "forbid", "deadline": "1m", "suspend": False}
    assert read_definition("prod/report", filled) == read_definition("prod/report", least)


@clause("OPERATOR-29")
def test_the_columns_show_what_comes_next_and_what_became_of_the_last() -> None:
    columns = {text(one, "name"): text(one, "jsonPath") for one in
               things(VERSION, "additionalPrinterColumns")}  # fmt: skip

    assert columns["Next"] == ".status.next.chosen"
    assert columns["Outcome"] == ".status.last.outcome"
    assert columns["Result"] == ".status.last.result"
    ready = '.status.conditions[?(@.type=="Ready")]'
    assert (columns["Ready"], columns["State"]) == (f"{ready}.status", f"{ready}.reason")
    paths = {path.partition("[")[0][1:] for path in columns.values()}
    known = {*SPEC, *STATUS, "metadata.creationTimestamp"}
    assert paths - known == set()


@clause("OPERATOR-27")
def test_a_rule_names_a_field_that_is_there() -> None:
    for path, schema in {"spec": mapping(ROOT, "spec"), **SPEC}.items():
        for rule in things(schema, "x-kubernetes-validations"):
            assert f"{path}{text(rule, 'fieldPath')}" in SPEC


def rules_of(path: str) -> list[Mapping[str, object]]:
    return [mapping(one) for one in things(SPEC[path], "x-kubernetes-validations")]


@clause("OPERATOR-27")
def test_what_a_rule_refuses_it_says_in_words_with_what_to_write() -> None:
    texts = [text(rule, "message") for path in SPEC for rule in rules_of(path)]

    assert len(texts) > 20
    assert [
        one for one in texts if not re.fullmatch(r"(must|is) .+[;,] (or )?(write|leave) .+", one)
    ] == []
    assert [path for path, one in SPEC.items() if "pattern" in one] == []


@clause("OPERATOR-27", "TIME-4")
@pytest.mark.parametrize("path", ["spec.window.duration", "spec.policy.deadline",
                                  "spec.distribution.sigma"])  # fmt: skip
@given(written=st.text("0159.+-nuµμmshd ", max_size=9))
def test_the_form_of_a_duration_is_the_same_for_the_schema_and_the_operator(
    path: str, written: str
) -> None:
    form = text(rules_of(path)[0], "rule").removeprefix("self.matches('").removesuffix("')")

    try:
        parse_duration(written)
    except DefinitionError as error:
        is_one = error.reason != NOT_A_DURATION
    else:
        is_one = True

    assert bool(re.fullmatch(form, written)) == is_one


@clause("OPERATOR-27")
@pytest.mark.parametrize("path", ["schedule", "constraints.only"])
@given(data=st.data())
def test_the_schema_refuses_no_text_that_the_operator_takes(path: str, data: st.DataObject) -> None:
    field, _, inner = path.partition(".")
    words = {
        "schedule": ["@daily", "@HOURLY", "*", "0", "*/5", "mon-fri", "LW", " ", "\t", "1,2"],
        "constraints": ["hours=9-17", "dow=mon", "date=2026-12-25", "hours", "=", ";", " ", "1"],
    }[field]
    written = "".join(data.draw(st.lists(st.sampled_from(words), max_size=13)))
    form = text(rules_of(f"spec.{path}")[0], "rule").removeprefix("self.matches('")

    try:
        read_definition("prod/report", {
            "schedule": "0 2 * * *", "jobTemplate": {"spec": {"template": {"spec": POD}}},
            field: {inner: written} if inner else written,
        })  # fmt: skip
    except DefinitionError:
        return

    assert re.fullmatch(form.removesuffix("')"), written)


@clause("OPERATOR-27")
def test_the_command_prints_it_as_yaml() -> None:
    done = gnomon("operator", "crd")

    assert (done.code, done.err) == (0, "")
    assert yaml.safe_load(done.out) == CRD


@clause("OPERATOR-27")
def test_what_is_printed_reads_back_as_it_was() -> None:
    odd = {
        "no": "yes",
        "a b": ["x: y", {"on": [], "c": {}}],
        "n": 1.5,
        "t": "line\nline",
        "z": None,
    }

    assert yaml.safe_load(as_yaml(odd)) == odd


def _paths(value: object, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield f"{path}.{name}"
            yield from _paths(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from _paths(inner, path)


def _filled(schema: object, value: Mapping[str, object]) -> dict[str, object]:
    """What a server makes of an object: defaults where nothing was written."""
    filled = dict(value)
    for name, inner in mapping(schema, "properties").items():
        if name not in filled and "default" in mapping(inner):
            filled[name] = at(inner, "default")
        if isinstance(found := filled.get(name), Mapping):
            filled[name] = _filled(inner, found)
    return filled
