"""The definition of the kind: complete, described, and of one mind with what reads a spec."""

from collections.abc import Iterator, Mapping

import yaml

from gnomon.apps.operator.crd import custom_resource_definition
from gnomon.apps.operator.definition import read_definition
from gnomon.cli.manifest_text import as_yaml
from gnomon.ports.kubernetes_object import at, mapping, text, things
from tests.acceptance.command_line import gnomon
from tests.apps.operator.lone_operator import POD, Cluster
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
    paths = {path.removesuffix('[?(@.type=="Ready")].status')[1:] for path in columns.values()}
    known = {*SPEC, *STATUS, "metadata.creationTimestamp"}
    assert paths - known == set()


@clause("OPERATOR-27")
def test_a_rule_names_a_field_that_is_there() -> None:
    for path, schema in {"spec": mapping(ROOT, "spec"), **SPEC}.items():
        for rule in things(schema, "x-kubernetes-validations"):
            assert f"{path}{text(rule, 'fieldPath')}" in SPEC


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
