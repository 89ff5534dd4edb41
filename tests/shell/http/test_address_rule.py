"""Which hosts and addresses may be called."""

import pytest

from gnomon.errors import DefinitionError
from gnomon.shell.http.address_rule import PUBLIC, Rule, read_rule
from tests.clauses import clause


@clause("OUT-1")
@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a?b",
        "http://example.org:8080",
        "https://203.0.113.9",
        "http://[2606::1]",
    ],
)
def test_an_ordinary_url_may_be_called(url: str) -> None:
    assert PUBLIC.objection_to_url(url) is None


@clause("OUT-1")
@pytest.mark.parametrize(
    ("url", "objection"),
    [
        ("ftp://example.org", "the scheme ftp is not allowed"),
        ("file:///etc/passwd", "the scheme file is not allowed"),
        ("example.org", "the scheme of nothing is not allowed"),
        ("http://", "the host of nothing is not allowed"),
        ("http://anna@example.org", "a user or password in a URL is not allowed"),
        ("http://example.org:99999", "the URL cannot be read (Port out of range 0-65535)"),
        ("http://[::1", "the URL cannot be read (Invalid IPv6 URL)"),
    ],
)
def test_an_odd_url_may_not_be_called(url: str, objection: str) -> None:
    assert PUBLIC.objection_to_url(url) == objection


@clause("OUT-1")
def test_hosts_schemes_and_ports_can_be_listed() -> None:
    rule = read_rule(hosts=["Example.org", "*.example.net"], schemes=["https"], ports=[443])

    assert rule.objection_to_url("https://EXAMPLE.org./x") is None
    assert rule.objection_to_url("https://a.b.example.net") is None
    assert rule.objection_to_url("https://example.net") == "the host example.net is not allowed"
    assert rule.objection_to_url("https://badexample.org") is not None
    assert rule.objection_to_url("https://example.org.evil.com") is not None
    assert rule.objection_to_url("http://example.org") == "the scheme http is not allowed"
    assert rule.objection_to_url("https://example.org:22") == "the port 22 is not allowed"
    assert Rule(ports=(80,)).objection_to_url("http://example.org") is None


@clause("OUT-1")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"hosts": ["https://a/"]}, "outgoing.hosts: must be a host name, got 'https://a/'"),
        ({"hosts": ["a.*"]}, "outgoing.hosts: must be a host name"),
        ({"networks": ["10.0.0.1/8"]}, "outgoing.networks: is no network"),
        ({"schemes": ["ftp"]}, "outgoing.schemes: is no scheme that can be called"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(fields: dict[str, list[str]], message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_rule(**fields)  # type: ignore[arg-type] # the names are those of the table above

    assert str(caught.value).startswith(message)


@clause("OUT-2")
@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1"])
def test_a_public_address_may_be_connected_to(address: str) -> None:
    assert PUBLIC.objection_to_address(address) is None


@clause("OUT-2")
@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.10", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "192.0.0.8", "198.18.0.1", "224.0.0.1", "240.0.0.1",
        "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "2001:db8::1",
        "2002:7f00:1::", "2002:a9fe:a9fe::", "64:ff9b::a9fe:a9fe", "not-an-address", "",
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_may_not_be_connected_to(address: str) -> None:
    assert PUBLIC.objection_to_address(address) is not None


@clause("OUT-2")
def test_a_private_network_can_be_allowed() -> None:
    rule = read_rule(networks=["10.1.0.0/16"])

    assert rule.objection_to_address("10.1.2.3") is None
    assert rule.objection_to_address("::ffff:10.1.2.3") is None
    assert rule.objection_to_address("10.2.0.1") == "the address 10.2.0.1 is not public"
