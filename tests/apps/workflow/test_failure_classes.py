"""Which class has an exception that is none of Gnomon's: outages pass, mistakes stay."""

import ftplib
import http.client
import imaplib
import io
import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from email.message import Message
from types import ModuleType
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import httpx
import httpx2
import pytest

from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.failure import Fault, classify, fault_of
from gnomon.errors import AuthError, LogicError, TransientError
from tests.clauses import clause


def answered(status: int) -> HTTPError:
    return HTTPError("http://localhost/", status, "said so", Message(), None)


def raised(act: Callable[[], object]) -> BaseException:
    """What an act really raises."""
    try:
        act()
    except Exception as error:
        return error
    raise AssertionError("it raised nothing")


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port at which nothing listens, for as long as the test lasts."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@clause("FAIL-16")
@pytest.mark.parametrize(
    "ask",
    [
        lambda port: urlopen(f"http://127.0.0.1:{port}/"),
        lambda port: httpx.get(f"http://127.0.0.1:{port}/"),
        lambda port: httpx2.get(f"http://127.0.0.1:{port}/"),
        lambda port: socket.create_connection(("127.0.0.1", port)),
        lambda port: urlopen("http://no-such-host.invalid/"),
        lambda port: httpx.get("http://no-such-host.invalid/"),
    ],
)
def test_a_server_that_is_away_is_transient(ask: Callable[[int], object], closed_port: int) -> None:
    assert fault_of(raised(lambda: ask(closed_port)), {}) is Fault.TRANSIENT


@clause("FAIL-16")
@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (400, Fault.LOGIC), (401, Fault.AUTH), (403, Fault.PERMISSION), (404, Fault.LOGIC),
        (407, Fault.AUTH), (408, Fault.TRANSIENT), (409, Fault.LOGIC), (422, Fault.LOGIC),
        (425, Fault.TRANSIENT), (429, Fault.TRANSIENT), (500, Fault.TRANSIENT),
        (501, Fault.LOGIC), (502, Fault.TRANSIENT), (503, Fault.TRANSIENT),
        (504, Fault.TRANSIENT), (599, Fault.TRANSIENT),
    ],
)  # fmt: skip
def test_an_answer_has_the_class_of_its_status(status: int, fault: Fault) -> None:
    url = "http://localhost/"
    of_httpx = httpx.Response(status, request=httpx.Request("GET", url)).raise_for_status
    of_httpx2 = httpx2.Response(status, request=httpx2.Request("GET", url)).raise_for_status

    assert fault_of(answered(status), {}) is fault
    assert fault_of(raised(of_httpx), {}) is fault
    assert fault_of(raised(of_httpx2), {}) is fault


@clause("FAIL-16")
@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (OSError(28, "No space left on device"), Fault.TRANSIENT),
        (ssl.SSLError("handshake"), Fault.TRANSIENT),
        (ssl.SSLCertVerificationError("expired"), Fault.TRANSIENT),
        (URLError(ConnectionRefusedError()), Fault.TRANSIENT),
        (URLError("unknown url type: htp"), Fault.LOGIC),
        (http.client.IncompleteRead(b""), Fault.TRANSIENT),
        (http.client.RemoteDisconnected("gone"), Fault.TRANSIENT),
        (http.client.InvalidURL("no"), Fault.LOGIC),
        (ftplib.error_temp("421 Too many connections"), Fault.TRANSIENT),
        (ftplib.error_perm("550 No such file"), None),
        (imaplib.IMAP4.abort("socket error: EOF"), Fault.TRANSIENT),
        (imaplib.IMAP4.error("BAD command"), None),
        (httpx.UnsupportedProtocol("htp"), Fault.LOGIC),
        (httpx2.UnsupportedProtocol("htp"), Fault.LOGIC),
        (httpx2.ReadTimeout("slow"), Fault.TRANSIENT),
        (httpx2.InvalidURL("no"), None),
        (httpx.ReadTimeout("slow"), Fault.TRANSIENT),
        (httpx.InvalidURL("no"), None),
        (FileNotFoundError("orders.csv"), Fault.LOGIC),
        (IsADirectoryError("orders"), Fault.LOGIC),
        (PermissionError("orders.csv"), Fault.PERMISSION),
        (io.UnsupportedOperation("write"), Fault.LOGIC),
        (ValueError("503"), None),
        (ExceptionGroup("two", [ConnectionResetError(), TimeoutError()]), Fault.TRANSIENT),
        (ExceptionGroup("two", [ConnectionResetError(), KeyError("a")]), None),
    ],
)
def test_what_passes_by_itself_is_told_from_mistakes(
    error: BaseException, fault: Fault | None
) -> None:
    assert fault_of(error, {}) is fault


def of_client(module: str, name: str, *bases: type[Exception], **facts: object) -> Exception:
    """An exception as a client that is not installed here defines it."""
    made = type(name, bases or (Exception,), {"__module__": module} | facts)
    error = made("oh")
    assert isinstance(error, Exception)
    return error


@clause("FAIL-16")
@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (of_client("requests.exceptions", "ConnectionError", OSError), Fault.TRANSIENT),
        (of_client("requests.exceptions", "ReadTimeout", OSError), Fault.TRANSIENT),
        (of_client("requests.exceptions", "MissingSchema", OSError, ValueError), Fault.LOGIC),
        (
            of_client(
                "requests.exceptions", "HTTPError", OSError,
                response=type("Response", (), {"status_code": 503})(),
            ),
            Fault.TRANSIENT,
        ),
        (
            of_client(
                "requests.exceptions", "HTTPError", OSError,
                response=type("Response", (), {"status_code": 401})(),
            ),
            Fault.AUTH,
        ),
        (of_client("aiohttp.client_exceptions", "ClientConnectionError"), Fault.TRANSIENT),
        (of_client("aiohttp.client_exceptions", "ClientResponseError", status=429),
         Fault.TRANSIENT),
        (of_client("botocore.exceptions", "ClientError",
                   response={"ResponseMetadata": {"HTTPStatusCode": 503}}), Fault.TRANSIENT),
        (of_client("redis.exceptions", "ConnectionError"), Fault.TRANSIENT),
        (of_client("elsewhere", "ConnectionError"), None),
    ],
)  # fmt: skip
def test_clients_are_known_by_the_names_of_their_classes(
    error: Exception, fault: Fault | None
) -> None:
    assert fault_of(error, {}) is fault


class ThrottledError(Exception):
    """Of a client that Gnomon has never heard of."""


class ThrottledForGoodError(ThrottledError):
    pass


@clause("FAIL-17")
def test_an_author_says_what_other_exceptions_mean_and_the_nearest_class_decides() -> None:
    orders = Workflow("orders")
    orders.treat(ThrottledError, KeyError, as_=TransientError)
    orders.treat(ThrottledForGoodError, as_=AuthError)
    orders.treat(ConnectionError, as_=LogicError)
    found = [
        classify(error, by_tool=False, treated=orders.treated).fault
        for error in (
            ThrottledError(), ThrottledForGoodError(), KeyError("a"), ConnectionResetError(),
            ValueError(),
        )
    ]  # fmt: skip

    assert found == [Fault.TRANSIENT, Fault.AUTH, Fault.TRANSIENT, Fault.LOGIC, Fault.LOGIC]


@clause("FAIL-18")
def test_the_end_of_a_traceback_is_kept_without_the_frames_of_the_host() -> None:
    module = ModuleType("failing")
    exec(
        compile("def down(n):\n    return 1 // n if n == 0 else down(n - 1)\n", "own.py", "exec"),
        module.__dict__,
    )

    shallow = classify(raised(lambda: module.down(0)), by_tool=False).traceback
    deep = classify(
        raised(lambda: module.down(sys.getrecursionlimit() // 3)), by_tool=False
    ).traceback

    assert 'File "own.py", line 2, in down' in shallow
    assert shallow.endswith("ZeroDivisionError: integer division or modulo by zero\n")
    assert "apps/workflow/" not in shallow.replace("tests/apps/workflow/", "")
    assert len(deep) <= 4_000
    assert deep.endswith("ZeroDivisionError: integer division or modulo by zero\n")
