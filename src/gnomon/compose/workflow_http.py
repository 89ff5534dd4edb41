"""
`gnomon workflow run --http ADDRESS`: the workflows of a host over HTTP, beside its work.

Without a file of access the address must be a loopback one, and the token is made once and kept
beside the store, for its owner only.

Spec: WHTTP-6, UP-7.
"""

import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from gnomon.apps.workflow.host import Host
from gnomon.apps.workflow.http.app import Parts, create_app
from gnomon.compose.token_file import ensure_token, loopback_access
from gnomon.errors import DefinitionError
from gnomon.ports import Clock
from gnomon.shell.http.authentication import AccessSource, Authenticator, access_from_file
from gnomon.shell.http.http_settings import HttpSettings, read_http_settings
from gnomon.shell.http.limits import Limits
from gnomon.shell.http.listening import bind, is_loopback, read_address, url_of
from gnomon.shell.http.server import serving
from gnomon.shell.http.tls import server_context
from gnomon.shell.store.database import MEMORY
from gnomon.shell.store.workflow_opening import is_shared

__all__ = ["prepare_http"]


def prepare_http(
    address: str, access: Path | None, store: str, clock: Clock
) -> Callable[[Host], AbstractAsyncContextManager[None]]:
    """Check all of it and take the port; what then serves a host for as long as a block lasts."""
    settings = _settings(address, access)
    tls = None if settings.tls is None else server_context(settings.tls)
    listener = bind(settings.host, settings.port)
    try:
        source, token = _access(settings, store)  # may make a token: only with the port in hand
    except BaseException:
        listener.close()
        raise
    url = url_of(settings.host, listener, scheme="http" if tls is None else "https")

    @contextlib.asynccontextmanager
    async def serving_http(running: Host) -> AsyncIterator[None]:
        parts = Parts(
            host=running, authenticator=Authenticator(source, clock), clock=clock,
            hosts=settings.host_names, metrics_open=settings.metrics_open,
        )  # fmt: skip
        async with serving(create_app(parts), listener, tls=tls, limits=Limits()):
            sys.stdout.write(_welcome(url, token))
            sys.stdout.flush()
            yield

    return serving_http


def _settings(address: str, access: Path | None) -> HttpSettings:
    """Where to listen, from a text such as `127.0.0.1:8081`, and who may ask."""
    host, port = read_address(address, where="http", example="127.0.0.1:8081")
    return read_http_settings(host=host, port=port, access=access)


def _access(settings: HttpSettings, store: str) -> tuple[AccessSource, Path | None]:
    """Who may ask, and the file that has the token, where one was made."""
    if settings.access is not None:
        return access_from_file(settings.access), None
    if not is_loopback(settings.host) or is_shared(store) or store == MEMORY:
        raise DefinitionError(
            "must be given, or the host would refuse all requests", where="access", got=None,
            hint="write --access FILE; docs/howto/run-the-service.md shows what stands in it",
        )  # fmt: skip
    token = Path(f"{store}.token")
    access = loopback_access(ensure_token(token))
    return (lambda: access), token


def _welcome(url: str, token: Path | None) -> str:
    shown = "TOKEN" if token is None else f"$(cat {token})"
    line = f'curl -sH "Authorization: Bearer {shown}" {url}/workflows'
    return f"Workflows at {url}/workflows; see them with:\n  {line}\n"
