"""
How does the command line talk to a service? Over HTTP, with a token from a file or a variable.

Where the service is: `--url`, else `GNOMON_URL`, else the loopback address of `gnomon up`.
What to show it: the file that `--token-file` names, else `GNOMON_TOKEN`, else the file that
`GNOMON_TOKEN_FILE` names, else the one that `gnomon up` has left in `.gnomon`. A token is never an
argument, because everybody on a machine can read those. A problem that the service reports becomes
one line, with its hint.

Spec: CLIENT-1 to CLIENT-3.
"""

import contextlib
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from gnomon.cli.problem import RemoteError
from gnomon.errors import DefinitionError, MissingExtraError
from gnomon.shell.settings import environment

if TYPE_CHECKING:
    import httpx2

__all__ = ["DEFAULT_TOKEN", "DEFAULT_URL", "Client", "Place", "find_place", "part"]

DEFAULT_URL = "http://127.0.0.1:8080"
DEFAULT_TOKEN = Path(".gnomon/token")
TIMEOUT_SECONDS = 30
_TOKEN_BYTES_MAX = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a service is, and what to show it."""

    url: str
    token: str | None
    authority: str | None = None
    """The certificate authority of the service; None for those of the system."""
    certificate: tuple[str, str] | None = None
    """A client certificate and its key."""


class Client:
    """A client of a service; inside `connected` one connection is kept for many questions."""

    def __init__(self, place: Place) -> None:
        try:
            import httpx2
        except ImportError as error:
            raise MissingExtraError("talking to a service", extra="service") from error
        self._url = place.url
        self._failure = httpx2.HTTPError
        headers = {"authorization": f"Bearer {place.token}"} if place.token else {}
        if not place.url.startswith(("http://", "https://")):
            raise DefinitionError(
                "must be the address of a service",
                where="url",
                got=place.url,
                hint=f"write e.g. {DEFAULT_URL}",
            )
        self._kept: httpx2.Client | None = None
        self._open = partial(
            httpx2.Client, base_url=place.url, headers=headers, timeout=TIMEOUT_SECONDS,
            trust_env=False, verify=_context(place),
        )  # fmt: skip

    @contextlib.contextmanager
    def connected(self) -> Iterator[None]:
        """Ask all questions of a block on one connection."""
        with self._open() as self._kept:
            try:
                yield
            finally:
                self._kept = None

    def get(self, path: str, **query: object) -> dict[str, object]:
        """What the service answers; what is None is not asked."""
        return self._call("GET", path, query=query)

    def post(
        self, path: str, body: object = None, *, headers: Mapping[str, str] | None = None
    ) -> dict[str, object]:
        return self._call("POST", path, body=body, headers=headers)

    def post_text(self, path: str, text: str, **query: object) -> dict[str, object]:
        """Send JSON as it was written, so that the service reads what its author wrote."""
        headers = {"content-type": "application/json"}
        return self._call("POST", path, query=query, text=text, headers=headers)

    def delete(self, path: str, **query: object) -> dict[str, object]:
        return self._call("DELETE", path, query=query)

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        text: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, object]:
        params = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in (query or {}).items()
            if value is not None
        }
        try:
            with self._connection() as http:
                answer = http.request(
                    method, path, params=params, json=body, headers=dict(headers or {}),
                    content=None if text is None else text.encode(),
                )  # fmt: skip
            found = answer.json() if answer.content else {}
        except (self._failure, UnicodeError) as error:
            raise RemoteError(
                f"{self._url}: cannot be reached ({error})",
                hint="start one with: gnomon up",
                code=2,
            ) from None
        except ValueError:
            raise RemoteError(
                f"{self._url}: answers {answer.status_code}, and not as Gnomon does",
                hint="is this the address of the service?",
                code=2,
            ) from None
        if answer.is_error:
            raise _problem(self._url, answer.status_code, found)
        return found if isinstance(found, dict) else {"items": found}

    @contextlib.contextmanager
    def _connection(self) -> "Iterator[httpx2.Client]":
        if self._kept is not None:
            yield self._kept
            return
        with self._open() as http:
            yield http


def find_place(url: str | None, token_file: Path | None) -> Place:
    """The service that is meant, from the options and the environment."""
    names = environment()
    certificate, key = names.get("GNOMON_CLIENT_CERT"), names.get("GNOMON_CLIENT_KEY")
    return Place(
        url=(url or names.get("GNOMON_URL") or DEFAULT_URL).rstrip("/"),
        token=_token(names, token_file),
        authority=names.get("GNOMON_CA"),
        certificate=(certificate, key) if certificate and key else None,
    )


def part(text: str) -> str:
    """The text as one part of a path, whatever it contains."""
    return quote(text, safe="")


def _token(names: Mapping[str, str], token_file: Path | None) -> str | None:
    if token_file is None and names.get("GNOMON_TOKEN"):
        return names["GNOMON_TOKEN"].strip()
    named = token_file or (
        Path(names["GNOMON_TOKEN_FILE"]) if "GNOMON_TOKEN_FILE" in names else None
    )
    path = named or DEFAULT_TOKEN
    if named is None and not path.exists():
        return None
    with path.open("rb") as file:
        text = file.read(_TOKEN_BYTES_MAX).strip()
    if not text.isascii() or b"\n" in text or not text:
        raise DefinitionError("must hold one token", where="token-file", got=str(path))
    return text.decode("ascii")


def _context(place: Place) -> ssl.SSLContext | bool:
    if not place.url.startswith("https:"):
        return False
    context = ssl.create_default_context(cafile=place.authority)
    if place.certificate is not None:
        context.load_cert_chain(*place.certificate)
    return context


def _problem(url: str, status: int, found: object) -> RemoteError:
    problem = found if isinstance(found, dict) else {}
    detail = str(problem.get("detail") or problem.get("title") or f"answers {status}")
    code = 1 if status < 500 else 2
    errors = problem.get("errors")
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        first = {name: str(value) for name, value in errors[0].items()}
        line, got = f"{first.get('field')}: {first.get('reason')}", first.get("got")
        if got and ", got " not in line:
            line = f"{line}, got {got}"
        return RemoteError(line, hint=first.get("hint", ""), code=code)
    hint = ""
    if status == 401:
        hint = "set GNOMON_TOKEN, or name a file with --token-file"
    return RemoteError(f"{url}: {detail}" if code == 2 else detail, hint=hint, code=code)
