"""What does not get in, and what every answer carries."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.shell.http.limits import Limits
from gnomon.shell.http.problem import ProblemError
from gnomon.shell.http.strict_json import check_json
from tests.apps.service.http.asking import ask
from tests.apps.service.http.bare import bare_app
from tests.clauses import clause

JSON = {"content-type": "application/json"}
APP = bare_app()
BODY, TOKEN = "/schedules/pause-many", "acme-write"
"""Where a body is read, and from whom."""


@clause("HTTP-1")
@pytest.mark.parametrize(
    ("method", "path", "status", "kind", "detail"),
    [
        ("GET", "/nowhere", 404, "not-found", "this service has no such path"),
        ("GET", "/healthz/", 404, "not-found", "this service has no such path"),
        ("DELETE", "/metrics", 405, "method-not-allowed",
         "DELETE is not done here; allowed is GET"),
    ],
)  # fmt: skip
def test_a_path_or_a_method_that_is_not_there_is_a_problem(
    method: str, path: str, status: int, kind: str, detail: str
) -> None:
    answer = ask(APP, method, path)

    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json == {
        "type": f"urn:gnomon:problem:{kind}",
        "title": answer.json["title"],
        "status": status,
        "detail": detail,
        "instance": path,
    }


@clause("HTTP-1")
def test_a_method_that_is_not_allowed_says_which_are() -> None:
    assert ask(APP, "POST", "/metrics").headers["allow"] == "GET"


@clause("HTTP-1")
def test_a_path_comes_back_in_ascii_only() -> None:
    answer = ask(APP, "GET", "/%E2%80%AE<script>%00")

    assert answer.status == 404
    assert answer.text.isascii()


@clause("HTTP-5")
def test_a_body_that_is_announced_as_too_large_is_not_read() -> None:
    headers = JSON | {"content-length": "1048577"}

    async def never() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    assert ask(APP, "POST", BODY, token=TOKEN, headers=headers, content=never()).status == 413


@clause("HTTP-5")
def test_a_body_that_grows_too_large_is_cut_off() -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(1000):
            yield b" " * 65_536

    answer = ask(APP, "POST", BODY, token=TOKEN, headers=JSON, content=endless())

    assert (answer.status, answer.json["detail"]) == (413, "the body is longer than 1048576 bytes")


@clause("HTTP-6")
def test_headers_that_are_too_large_are_refused() -> None:
    assert ask(APP, "GET", "/healthz", headers={"x-long": "a" * 16_384}).status == 431


@clause("HTTP-6")
def test_an_address_that_is_too_long_is_refused() -> None:
    assert ask(APP, "GET", "/healthz?" + "a" * 4_096).status == 414


@clause("HTTP-6")
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "json"])
def test_a_body_that_is_not_json_is_refused(kind: str) -> None:
    answer = ask(APP, "POST", BODY, token=TOKEN, headers={"content-type": kind}, content=b"{}")

    assert answer.status == 415


@clause("HTTP-7")
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "the body is not JSON"),
        (b"{} {}", "the body is not JSON"),
        (b"\xff", "the body must be JSON in UTF-8"),
        (b"[" * 33 + b"]" * 33, "nested more than 32 deep"),
        (b"[" * 500_000, "nested more than 32 deep"),
        (b'{"a":' * 100_000, "nested more than 32 deep"),
        (b'{"a": 1, "a": 2}', 'the name "a" twice'),
        (b'[{"b": {"a": 1, "\\u0061": 2}}]', 'the name "a" twice'),
        (b"9223372036854775808", "beyond 64 bits"),
        (b"-9223372036854775809", "beyond 64 bits"),
        (b"9" * 100_000, "beyond 64 bits"),
        (b"1e999", "too large"),
        (b"NaN", "NaN is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b'"\\u0000"', "NUL"),
        (b'{"\\ud800": 1}', "half a character"),
        (b'["a", "\\udfff"]', "half a character"),
    ],
)
def test_json_that_parsers_read_differently_is_refused(body: bytes, reason: str) -> None:
    answer = ask(APP, "POST", BODY, token=TOKEN, headers=JSON, content=body)

    assert answer.status == 400
    assert reason in str(answer.json["detail"])


@clause("HTTP-7")
@pytest.mark.parametrize(
    "body",
    [b"{}", b'"[[[[\\"]]"', b"[" * 32 + b"]" * 32, b"-9223372036854775808", b'"\\ud83d\\ude00"'],
)
def test_json_that_everybody_reads_alike_comes_through(body: bytes) -> None:
    check_json(body)


@clause("HTTP-7")
@given(st.binary(max_size=200) | st.text(alphabet='[]{}",:0123456789.eE-\\ntrfu "', max_size=80))
def test_whatever_comes_is_json_or_refused(body: bytes | str) -> None:
    data = body if isinstance(body, bytes) else body.encode()
    try:
        check_json(data)
    except ProblemError as error:
        status = error.problem.status
    else:
        status = 200

    assert status in (200, 400)


@clause("HTTP-7")
def test_a_text_that_never_ends_is_refused_in_good_time() -> None:
    with pytest.raises(ProblemError):
        check_json(b'"' + b'\\"' * 500_000)


@clause("HTTP-8")
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost:8080", "", "[::1]", "127.0.0.2"]
)
def test_a_request_for_another_host_is_refused(host: str) -> None:
    assert ask(APP, "GET", "/healthz", headers={"host": host}).status == 421


@clause("HTTP-9")
def test_a_body_that_does_not_arrive_is_given_up() -> None:
    async def stuck() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    slow = bare_app(Limits(body_seconds=0))

    assert ask(slow, "POST", BODY, token=TOKEN, headers=JSON, content=stuck()).status == 408


@clause("HTTP-10")
@pytest.mark.parametrize("path", ["/healthz", "/nowhere", "/openapi.json"])
def test_no_answer_may_be_stored_framed_sniffed_or_run(path: str) -> None:
    headers = ask(APP, "GET", path).headers

    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "server" not in headers


@clause("HTTP-11")
def test_every_answer_has_a_number_of_its_own() -> None:
    paths = ["/healthz", "/healthz", "/nowhere", "/openapi.json"]

    numbers = [ask(APP, "GET", path).headers["x-request-id"] for path in paths]

    assert len(set(numbers)) == 4


@clause("AUTH-16")
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_caller_without_a_token_may_ask_whether_the_service_is_well(path: str) -> None:
    assert ask(APP, "GET", path).status == 200


@clause("AUTH-5")
@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer x", "Basic eDp4", "Token x", "x"])
def test_a_caller_that_is_not_known_is_told_how_to_introduce_itself(header: str) -> None:
    answer = ask(
        APP,
        "GET",
        "/openapi.json",
        headers={"authorization": header.encode("latin-1").decode("latin-1")},
    )

    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith('Bearer realm="gnomon"')


@clause("AUTH-7")
def test_a_scope_that_is_missing_is_named() -> None:
    answer = ask(APP, "GET", "/openapi.json", token="nothing")

    assert answer.status == 403
    assert answer.json["detail"] == "this takes the scope read, which the sender does not have"
