"""Whether the service is well, and what it says about itself when it is not."""

import logging

import pytest

from gnomon.errors import IncompatibleStateError, StoreError
from tests.apps.service.http.asking import ask
from tests.apps.service.http.bare import bare_app
from tests.clauses import clause


@clause("HTTP-14")
def test_a_service_that_is_well_says_so_and_no_more() -> None:
    app = bare_app()

    assert ask(app, "GET", "/healthz").json == {"status": "ok"}
    assert ask(app, "GET", "/readyz").json == {"status": "ready"}


@clause("HTTP-3", "HTTP-14")
@pytest.mark.parametrize(
    "error",
    [
        StoreError("is gone", where="db-7.internal", transient=True),
        IncompatibleStateError("is newer", where="db-7.internal"),
    ],
)
def test_without_its_store_the_service_lives_and_is_not_ready(error: Exception) -> None:
    app = bare_app(store=error)

    answer = ask(app, "GET", "/readyz")

    assert (answer.status, answer.headers["retry-after"]) == (503, "2")
    assert "db-7" not in answer.text
    assert ask(app, "GET", "/healthz").status == 200


@clause("HTTP-4")
def test_a_bug_says_nothing_but_where_to_look_for_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)

    answer = ask(bare_app(store=ZeroDivisionError("secret of the house")), "GET", "/readyz")

    assert (answer.status, answer.json["title"]) == (500, "The service has an error")
    assert "secret" not in answer.text
    assert answer.headers["x-request-id"] in caplog.text
    assert "secret of the house" in caplog.text


@clause("HTTP-38")
@pytest.mark.parametrize(
    ("store", "ready"), [(None, 200), (StoreError("is gone", where="db", transient=True), 503)]
)
def test_how_the_service_is_can_be_asked_for_a_status_alone(
    store: Exception | None, ready: int
) -> None:
    app = bare_app(store=store)

    assert ask(app, "HEAD", "/healthz").status == 200
    assert ask(app, "HEAD", "/readyz").status == ready
