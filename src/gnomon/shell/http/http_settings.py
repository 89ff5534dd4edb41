"""
Where does the service listen, and with which certificates? From options, else the environment.

An option goes before the variable of the same name with `GNOMON_` in front. The address is the
loopback one unless something else is said; to be reached from elsewhere without TLS takes a word of
its own, because a token that anybody on the way can read protects nothing.

Spec: HTTP-12.
"""

from pathlib import Path

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from gnomon.errors import DefinitionError
from gnomon.shell.http.listening import is_loopback
from gnomon.shell.http.tls import TlsFiles

__all__ = ["HttpSettings", "read_http_settings"]

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


class HttpSettings(BaseSettings):
    """What a server needs to know."""

    model_config = SettingsConfigDict(env_prefix="GNOMON_", extra="ignore", frozen=True)

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    insecure: bool = False
    """Whether others may reach it without TLS; for behind a proxy that has it."""
    hosts: str = ""
    """Further names under which it is asked, separated by commas."""
    access: Path | None = None
    """The file of access."""
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    tls_client_authority: Path | None = None
    metrics_open: bool = False
    """Whether `/metrics` may be read by anybody who can reach it."""

    @property
    def tls(self) -> TlsFiles | None:
        if self.tls_certificate is None or self.tls_key is None:
            return None
        return TlsFiles(
            certificate=self.tls_certificate,
            key=self.tls_key,
            client_authority=self.tls_client_authority,
        )

    @property
    def host_names(self) -> frozenset[str]:
        """The names that requests may have in `Host`."""
        own = f"[{self.host}]" if ":" in self.host else self.host
        more = [name.strip() for name in self.hosts.split(",") if name.strip()]
        loopback = _LOOPBACK_NAMES if is_loopback(self.host) else ()
        return frozenset([own, *loopback, *more])

    def check(self, *, loopback_only: bool) -> None:
        """Refuse what would not be safe, or not work."""
        if loopback_only and not is_loopback(self.host):
            raise DefinitionError(
                "must be a loopback address here", where="host", got=self.host,
                hint="use gnomon api and gnomon worker to be reached from elsewhere",
            )  # fmt: skip
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise DefinitionError(
                "must be given together", where="tls_certificate and tls_key",
                got=str(self.tls_certificate or self.tls_key), hint="name both files",
            )  # fmt: skip
        if self.tls_client_authority is not None and self.tls is None:
            raise DefinitionError(
                "needs tls_certificate and tls_key", where="tls_client_authority",
                got=str(self.tls_client_authority), hint="name them too",
            )  # fmt: skip
        if not is_loopback(self.host) and self.tls is None and not self.insecure:
            raise DefinitionError(
                "can be reached from elsewhere, and the line is not protected", where="host",
                got=self.host,
                hint="add --tls-certificate and --tls-key, or --insecure behind a proxy with TLS",
            )  # fmt: skip


def read_http_settings(
    *, loopback_only: bool = False, **options: str | int | Path | None
) -> HttpSettings:
    """The settings; options that are None are left to the environment."""
    given = {name: value for name, value in options.items() if value is not None}
    try:
        found = HttpSettings(**given)  # type: ignore[arg-type] # pydantic checks each
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise DefinitionError(
            first["msg"].removeprefix("Input "), where=name, got=first["input"],
            hint=f"change --{name.replace('_', '-')} or GNOMON_{name.upper()}",
        ) from None  # fmt: skip
    found.check(loopback_only=loopback_only)
    return found
