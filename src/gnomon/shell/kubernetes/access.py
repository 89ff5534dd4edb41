"""
Where is the API server, and who are we to it?

Inside a pod the account of the pod says it, elsewhere a kubeconfig file does, in every form that
kubernetes_asyncio reads: certificates, tokens, files of tokens, commands that print tokens, OIDC.
Credentials change while a process runs, so what is loaded here is loaded again now and then: an
`Access` is a value, and says by comparison whether the connections have to be made anew.
"""

import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from gnomon.errors import DefinitionError, MissingExtraError

try:
    import aiohttp  # noqa: F401
    from kubernetes_asyncio.client.configuration import Configuration
    from kubernetes_asyncio.config.incluster_config import (
        SERVICE_CERT_FILENAME,
        SERVICE_HOST_ENV_NAME,
        SERVICE_TOKEN_FILENAME,
        InClusterConfigLoader,
    )
    from kubernetes_asyncio.config.kube_config import load_kube_config
except ImportError as error:
    raise MissingExtraError("Kubernetes", extra="kubernetes") from error

__all__ = ["Access", "Link", "Load", "kubeconfig_access", "load_of", "pod_access"]

_DEFAULT_FILE = "~/.kube/config"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What a connection is made with; when it changes, connections are made anew."""

    host: str
    authority: str | None
    certificate: str | None
    key: str | None
    changed: tuple[int, ...]
    """When those files were last written."""
    verify: bool
    server_name: str | None
    proxy: str | None

    def tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.authority)
        if self.certificate is not None:
            context.load_cert_chain(self.certificate, keyfile=self.key)
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A server, and what is shown to it with each request."""

    link: Link
    authorization: str
    """The head of that name; empty where a certificate says who we are."""
    namespace: str
    """The one that the configuration names, or `default`."""


Load = Callable[[], Awaitable[Access]]


class _Configured(Protocol):
    """What is read of a configuration of kubernetes_asyncio."""

    host: str
    ssl_ca_cert: str | None
    cert_file: str | None
    key_file: str | None
    verify_ssl: bool
    tls_server_name: str | None
    proxy: str | None
    api_key: dict[str, str]


def load_of(
    environment: Mapping[str, str], *, kubeconfig: str | None = None, context: str | None = None
) -> Load:
    """
    How access is loaded, now and later again.

    From the file that is named; else, in a pod, as the account of the pod; else as kubectl does.
    """
    if kubeconfig is None and context is None and environment.get(SERVICE_HOST_ENV_NAME):
        return lambda: pod_access(environment)
    paths = kubeconfig or environment.get("KUBECONFIG") or _DEFAULT_FILE
    return lambda: kubeconfig_access(paths, context=context)


async def kubeconfig_access(paths: str, *, context: str | None = None) -> Access:
    """Access by a kubeconfig file, or by several, joined by colons."""
    if not _is_there(paths):
        raise DefinitionError(
            "there is no such file", where="kubeconfig", got=paths,
            hint="name one with KUBECONFIG, or run inside a pod",
        )  # fmt: skip
    configured = Configuration()
    try:
        loader = await load_kube_config(
            config_file=paths, context=context, client_configuration=configured
        )
        named = loader.current_context or {}
    except Exception as error:  # whatever a file or a command of strangers does wrong
        reason = f"it gives no access: {str(error) or type(error).__name__}"
        raise DefinitionError(
            reason, where="kubeconfig", got=f"{paths}, context {context or 'current'}",
            hint="see what `kubectl cluster-info` says with the same file",
        ) from error  # fmt: skip
    namespace = str(named.get("context", {}).get("namespace") or "default")
    return _access(cast(_Configured, configured), namespace)


async def pod_access(
    environment: Mapping[str, str],
    *,
    token: str = SERVICE_TOKEN_FILENAME,
    authority: str = SERVICE_CERT_FILENAME,
) -> Access:
    """Access as the account of the pod in which this process runs."""
    configured = Configuration()
    try:
        InClusterConfigLoader(
            token_filename=token,
            cert_filename=authority,
            try_refresh_token=False,
            environ=dict(environment),
        ).load_and_set(configured)
        namespace = _namespace_beside(token)
    except Exception as error:
        raise DefinitionError(
            f"the account of this pod gives no access: {error}", where="service account", got=token,
            hint="leave automountServiceAccountToken on, or name a kubeconfig file",
        ) from error  # fmt: skip
    return _access(cast(_Configured, configured), namespace)


def _access(configured: _Configured, namespace: str) -> Access:
    files = (configured.ssl_ca_cert, configured.cert_file, configured.key_file)
    link = Link(
        host=configured.host.rstrip("/"),
        authority=configured.ssl_ca_cert,
        certificate=configured.cert_file,
        key=configured.key_file,
        changed=tuple(Path(one).stat().st_mtime_ns if one else 0 for one in files),
        verify=bool(configured.verify_ssl),
        server_name=configured.tls_server_name,
        proxy=configured.proxy or _proxy_of_environment(configured.host),
    )
    authorization = " ".join(configured.api_key.get("BearerToken", "").split())
    return Access(link=link, authorization=authorization, namespace=namespace)


def _is_there(paths: str) -> bool:
    return any(Path(one).expanduser().is_file() for one in paths.split(":") if one)


def _namespace_beside(token: str) -> str:
    path = Path(token).with_name("namespace")
    return path.read_text().strip() if path.is_file() else "default"


def _proxy_of_environment(host: str) -> str | None:
    parts = urlsplit(host)
    if parts.hostname is None or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)
