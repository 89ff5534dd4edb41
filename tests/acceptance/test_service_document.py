"""
A real service, held to its OpenAPI document by schemathesis: what it answers is what it says.

The requests are the same on every run; SEED is part of every failure, with the request that failed.
Those that fit the document come first, then those that do not: the latter are refused.
"""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.acceptance.serving import HOURLY, Up, up
from tests.apps.service.http.asking import ask
from tests.apps.service.http.bare import bare_app
from tests.clauses import clause

SEED = 20261116
POSITIVE, NEGATIVE = 12, 8
"""Requests for each operation."""
TOO_LARGE = (413, 414, 431)
"""Statuses of a request that the service refuses before it reads what the request says."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
DOCUMENT = ask(bare_app(), "GET", "/openapi.json", token="acme-read").json
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS: dict[str, APIOperation] = {  # type: ignore[type-arg] # of whatever kind
    found.ok().label: found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)
}
KNOWN = {
    "schedule_id": "hourly", "workflow_id": "greeting", "key": "manual:hourly:known",
    "node_id": "greet",
}  # fmt: skip
"""Things that are there, so that not everything is answered with 404."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(tmp_path_factory.mktemp("service"), "--no-samples") as found:
        fields = [part for name, value in HOURLY.items() for part in ("--set", f"{name}={value}")]
        assert found.schedule("upsert", *fields).code == 0
        assert found.schedule("trigger", "hourly", "--key", "known").code == 0
        yield found


def examine(service: Up, operation: APIOperation, mode: GenerationMode, count: int) -> None:  # type: ignore[type-arg]
    """Send this many requests of an operation; each answer keeps what the document promises."""
    token = service.token_file.read_text().strip()

    @seed(SEED)
    @settings(
        max_examples=count, deadline=None, database=None, derandomize=False,
        phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
        print_blob=True,
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Case) -> None:  # type: ignore[type-arg]
        if mode is GenerationMode.POSITIVE:
            for name, value in KNOWN.items():
                if name in (case.path_parameters or {}) and len(str(case.query)) % 3:
                    case.path_parameters[name] = value
        if operation.path == "/events":
            case.query = {**(case.query or {}), "follow": "false"}  # or it would never end
        answer = case.call(
            base_url=service.url, headers={"Authorization": f"Bearer {token}"}, timeout=30
        )
        case.validate_response(answer, checks=CHECKS)
        if mode is GenerationMode.NEGATIVE and answer.status_code not in TOO_LARGE:
            case.validate_response(answer, checks=[negative_data_rejection])

    send()


@clause("HTTP-26")
@pytest.mark.parametrize("label", OPERATIONS)
def test_what_fits_the_document_is_answered_as_the_document_says(service: Up, label: str) -> None:
    examine(service, OPERATIONS[label], GenerationMode.POSITIVE, POSITIVE)


@clause("HTTP-26")
@pytest.mark.parametrize("label", OPERATIONS)
def test_what_does_not_fit_the_document_is_refused(service: Up, label: str) -> None:
    operation = OPERATIONS[label]
    if not (operation.body or operation.query or operation.path_parameters or operation.headers):
        return  # there is nothing that could be wrong
    examine(service, operation, GenerationMode.NEGATIVE, NEGATIVE)
