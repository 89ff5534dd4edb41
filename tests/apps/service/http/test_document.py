"""The OpenAPI document: complete, and the same as what the service does."""

import re

from gnomon.shell.executor.signature import Purpose, signed
from tests.apps.service.http.asking import ask
from tests.apps.service.http.bare import bare_app
from tests.apps.service.http.crypto import NOW
from tests.apps.service.http.service_stage import KEYS
from tests.clauses import clause
from tests.tidy.tree import ROOT

OPEN = {"healthz", "healthz_head", "readyz", "readyz_head", "hear_executor"}
"""Those that ask for no token; executors sign what they say."""


def operations() -> dict[str, dict[str, object]]:
    """Every operation of the document by its name."""
    document = ask(bare_app(), "GET", "/openapi.json", token="acme-read").json
    paths = document["paths"]
    assert isinstance(paths, dict)
    return {
        operation["operationId"]: operation
        for methods in paths.values()
        for operation in methods.values()
    }


@clause("HTTP-13")
def test_every_operation_lists_its_problems() -> None:
    for name, operation in operations().items():
        responses = operation["responses"]
        assert isinstance(responses, dict)
        wanted = {"400", "422", "500", "503"} | (set() if name in OPEN else {"401", "403"})
        assert wanted <= responses.keys(), name
        for status, response in responses.items():
            if int(status) >= 400:
                assert list(response["content"]) == ["application/problem+json"], (name, status)


@clause("HTTP-13", "AUTH-16")
def test_every_operation_but_the_open_ones_asks_who_is_there() -> None:
    found = operations()

    assert {name for name, operation in found.items() if "security" not in operation} == OPEN


@clause("HTTP-27")
def test_every_operation_refuses_a_parameter_that_it_does_not_list() -> None:
    app, signature = bare_app(keys=KEYS), signed(KEYS, Purpose.CALLBACK, b"", now_ms=NOW * 1000)
    paths = ask(app, "GET", "/openapi.json", token="acme-read").json["paths"]
    assert isinstance(paths, dict)
    for path, methods in paths.items():
        for method, operation in methods.items():
            listed = [
                one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"
            ]
            place = re.sub(r"{\w+}", "a", path)
            answer = ask(
                app, method.upper(), f"{place}?unheard=of", token="admin", headers=signature
            )

            assert answer.status == 422, (method, path)
            assert method == "head" or answer.json["errors"] == [
                {"field": "unheard", "reason": "is not a known parameter", "got": "'of'",
                 "hint": f"the parameters are {', '.join(listed)}" if listed
                 else "leave it out, there are none here"}
            ], (method, path)  # fmt: skip


@clause("HTTP-27", "AUTH-16")
def test_what_is_known_is_said_only_to_those_who_may_ask() -> None:
    assert ask(bare_app(), "GET", "/schedules?limt=5").status == 401
    assert ask(bare_app(), "GET", "/schedules?limt=5", token="nothing").status == 403


@clause("HTTP-13")
def test_every_path_of_the_document_stands_in_the_reference() -> None:
    document = ask(bare_app(), "GET", "/openapi.json", token="acme-read").json
    page = (ROOT / "docs" / "reference" / "http-api.md").read_text(encoding="utf-8")
    paths = document["paths"]
    assert isinstance(paths, dict)
    requests = [f"{method.upper()} {path}" for path, found in paths.items() for method in found]

    assert [one for one in requests if f"`{one}" not in page] == []
