"""
Which hosts may be called, and which addresses must not be?

A rule allows schemes, ports and hosts by name, and it allows addresses: by default those that the
whole internet can reach, and none of this machine, of its networks or of the cloud around it. An
address that carries another one inside (IPv4 in IPv6) is judged by what it carries.

Spec: OUT-1 to OUT-3.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import urlsplit

from gnomon.errors import DefinitionError

__all__ = ["PUBLIC", "Rule", "read_rule"]

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# As the registries of special addresses have them; Python's own list depends on its version.
_NOT_PUBLIC = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
_UNICAST = IPv6Network("2000::/3")
"""All of IPv6 that is given out; the rest has ways to IPv4 networks, and private ones."""
_NOT_PUBLIC_6 = tuple(
    IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What may be called."""

    hosts: tuple[str, ...] | None = None
    """Names in lower case, `*.example.org` for all below; None for every name."""
    schemes: tuple[str, ...] = ("https", "http")
    ports: tuple[int, ...] | None = None
    """None for every port."""
    networks: tuple[Network, ...] = ()
    """Networks that are allowed though they are not public."""

    def objection_to_url(self, url: str) -> str | None:
        """Why a URL may not be called, before anything is looked up; None when it may."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            return f"the URL cannot be read ({error})"
        if parts.scheme not in self.schemes:
            return f"the scheme {parts.scheme or 'of nothing'} is not allowed"
        if parts.username is not None or parts.password is not None:
            return "a user or password in a URL is not allowed"
        host = (parts.hostname or "").rstrip(".").lower()
        if not host or not self._names(host):
            return f"the host {host or 'of nothing'} is not allowed"
        if self.ports is not None and _port_of(parts.scheme, port) not in self.ports:
            return f"the port {_port_of(parts.scheme, port)} is not allowed"
        return None

    def objection_to_address(self, text: str) -> str | None:
        """Why an address may not be connected to; None when it may."""
        try:
            address = _inner(ipaddress.ip_address(text.partition("%")[0]))
        except ValueError:
            return f"{text} is no address"
        if any(address in network for network in self.networks):
            return None
        return None if _is_public(address) else f"the address {address} is not public"

    def _names(self, host: str) -> bool:
        if self.hosts is None:
            return True
        return any(
            host == one or (one.startswith("*.") and host.endswith(one[1:])) for one in self.hosts
        )


PUBLIC = Rule()
"""Every host, at addresses that the whole internet can reach."""


def read_rule(
    *, hosts: Sequence[str] | None = None, networks: Sequence[str] = (),
    schemes: Sequence[str] = ("https", "http"), ports: Sequence[int] | None = None,
    where: str = "outgoing",
) -> Rule:  # fmt: skip
    """A rule from what a person has configured."""
    for scheme in schemes:
        if scheme not in ("http", "https"):
            raise DefinitionError(
                "is no scheme that can be called", where=f"{where}.schemes", got=scheme,
                hint="use https or http",
            )  # fmt: skip
    return Rule(
        hosts=None if hosts is None else tuple(_read_host(one, where) for one in hosts),
        schemes=tuple(schemes),
        ports=None if ports is None else tuple(ports),
        networks=tuple(_read_network(one, where) for one in networks),
    )


def _read_host(text: str, where: str) -> str:
    host = text.strip().rstrip(".").lower()
    if not host or "/" in host or "*" in host.removeprefix("*."):
        raise DefinitionError(
            "must be a host name", where=f"{where}.hosts", got=text,
            hint="write e.g. example.org, or *.example.org for all below it",
        )  # fmt: skip
    return host


def _read_network(text: str, where: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise DefinitionError(
            f"is no network ({error})", where=f"{where}.networks", got=text,
            hint="write e.g. 10.0.0.0/8 or fd00::/8",
        ) from None  # fmt: skip


def _inner(address: Address) -> Address:
    """The address that traffic comes to in the end."""
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address):
        return address in _UNICAST and not any(address in network for network in _NOT_PUBLIC_6)
    return not any(address in network for network in _NOT_PUBLIC)


def _port_of(scheme: str, port: int | None) -> int:
    return port if port is not None else (443 if scheme == "https" else 80)
