"""The file of access: taken as a whole, refused with what to write, and kept private."""

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from gnomon.errors import DefinitionError
from gnomon.shell.http.access_file import read_access
from gnomon.shell.http.authentication import Authenticator, Certificate, access_from_file
from gnomon.shell.http.principal import Principal, Scope
from gnomon.shell.http.token import TokenRefused
from tests.apps.service.http.crypto import (
    NOW,
    SECRET,
    claims,
    pem,
    private_key,
    public_pem,
    sign,
    write_access,
)  # fmt: skip
from tests.clauses import clause
from tests.shell.steered_clock import SteeredClock

CI = {
    "sha256": sha256(b"a-token").hexdigest(), "subject": "ci", "user_id": "acme",
    "scopes": ["write"],
}  # fmt: skip
CLIENT = {"san": "deployer.example", "subject": "deployer", "user_id": "acme", "scopes": ["write"]}
LINE = Certificate.of(b"certificate", ("deployer.example",))


def door(path: Path) -> Authenticator:
    return Authenticator(access_from_file(path), SteeredClock(NOW * 1000))


@clause("AUTH-6")
def test_a_static_token_is_known_by_its_hash(tmp_path: Path) -> None:
    path = write_access(tmp_path, tokens=[CI])

    found = door(path).identify("a-token", None)

    assert found == Principal(
        subject="ci", tenant="acme", scopes=frozenset({Scope.READ, Scope.WRITE})
    )
    assert "a-token" not in path.read_text()


@clause("AUTH-6")
@pytest.mark.parametrize("text", ["", "a-toke", "a-tokenx", CI["sha256"], "A-TOKEN", "\udcff"])
def test_any_other_text_is_no_static_token(tmp_path: Path, text: str) -> None:
    with pytest.raises(TokenRefused):
        door(write_access(tmp_path, tokens=[CI], keys=[])).identify(text, None)


@clause("AUTH-10")
@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"issuers": []}, "file.issuers"),
        ({"issuer": None}, "file.issuer"),
        ({"audience": 7}, "file.audience"),
        ({"keys": {}}, "file.keys"),
        ({"keys": ["main"]}, "keys[0]"),
        ({"keys": [{"algorithm": "EdDSA", "key_file": "main.pem"}]}, "keys[0].kid"),
        ({"keys": [{"kid": "a", "algorithm": "none", "key_file": "main.pem"}]},
         "keys[0].algorithm"),
        ({"keys": [{"kid": "a", "algorithm": "EdDSA", "secret_file": "main.pem"}]},
         "keys[0].key_file"),
        ({"keys": [{"kid": "a", "algorithm": "EdDSA", "key_file": "main.pem"}] * 2}, "keys"),
        ({"tokens": [CI | {"sha256": "a-token"}]}, "tokens[0].sha256"),
        ({"tokens": [CI | {"scopes": ["root"]}]}, "tokens[0].scopes"),
        ({"tokens": [CI | {"scopes": "write"}]}, "tokens[0].scopes"),
        ({"tokens": [CI | {"user_id": "*"}]}, "user_id"),
        ({"tokens": [CI | {"token": "a-token"}]}, "tokens[0].token"),
        ({"clients": [CLIENT, CLIENT]}, "clients"),
        ({"clients": [CLIENT | {"san": ""}]}, "clients[0].san"),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_named(tmp_path: Path, changes: dict[str, object], where: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        read_access(write_access(tmp_path, **changes))

    assert refused.value.where == where


@clause("AUTH-10")
@pytest.mark.parametrize("text", ["", "[]", "{", "7", "[" * 100_000, '{"issuer": "a", }'])
def test_a_file_that_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "access.json"
    path.write_text(text)
    path.chmod(0o600)

    with pytest.raises(DefinitionError):
        read_access(path)


@clause("AUTH-10")
@pytest.mark.parametrize("name", ["access.json", "secret.txt"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620])
def test_what_others_can_read_is_no_secret(tmp_path: Path, name: str, mode: int) -> None:
    path = write_access(tmp_path)
    (tmp_path / name).chmod(mode)

    with pytest.raises(DefinitionError, match="owner only"):
        read_access(path)


@clause("AUTH-11")
@pytest.mark.parametrize(
    ("algorithm", "content", "reason"),
    [
        ("EdDSA", public_pem("RS256"), "must hold a key for EdDSA"),
        ("RS256", public_pem("EdDSA"), "must hold a key for RS256"),
        ("ES256", b"nothing", "must hold a key for ES256"),
        ("EdDSA", pem("EdDSA"), "must hold a public key"),
        ("RS256", pem("RS256"), "must hold a public key"),
    ],
)
def test_a_key_must_fit_its_algorithm(
    tmp_path: Path, algorithm: str, content: bytes, reason: str
) -> None:
    (tmp_path / "odd.pem").write_bytes(content)

    with pytest.raises(DefinitionError, match=reason):
        read_access(
            write_access(
                tmp_path, keys=[{"kid": "a", "algorithm": algorithm, "key_file": "odd.pem"}]
            )
        )


@clause("AUTH-11")
@pytest.mark.parametrize("content", [b"short", SECRET[:31], public_pem("RS256"), b" " * 40])
def test_a_secret_must_be_long_and_no_public_key(tmp_path: Path, content: bytes) -> None:
    secret = tmp_path / "other.txt"
    secret.write_bytes(content)
    secret.chmod(0o600)
    keys = [{"kid": "a", "algorithm": "HS256", "secret_file": "other.txt"}]

    with pytest.raises(DefinitionError, match="must h"):
        read_access(write_access(tmp_path, keys=keys))


@clause("AUTH-12")
def test_a_key_is_exchanged_without_a_restart(tmp_path: Path) -> None:
    path = write_access(tmp_path)
    authenticator = door(path)
    stranger = sign(claims(), key=private_key("EdDSA:next"), headers={"kid": "next"})
    with pytest.raises(TokenRefused):
        authenticator.identify(stranger, None)

    (tmp_path / "next.pem").write_bytes(public_pem("EdDSA:next"))
    write_access(tmp_path, keys=[{"kid": "next", "algorithm": "EdDSA", "key_file": "next.pem"}])

    assert authenticator.identify(stranger, None) is not None
    with pytest.raises(TokenRefused):
        authenticator.identify(sign(claims()), None)


@clause("AUTH-12")
@pytest.mark.parametrize("content", ["{", json.dumps({"keys": [7]})])
def test_a_file_that_has_become_wrong_changes_nothing(tmp_path: Path, content: str) -> None:
    path = write_access(tmp_path)
    authenticator = door(path)

    path.write_text(content)

    assert authenticator.identify(sign(claims()), None) is not None


@clause("AUTH-12")
def test_a_file_that_is_gone_changes_nothing(tmp_path: Path) -> None:
    path = write_access(tmp_path)
    authenticator = door(path)

    os.unlink(path)

    assert authenticator.identify(sign(claims()), None) is not None


@clause("AUTH-13")
def test_a_client_is_known_by_the_name_in_its_certificate(tmp_path: Path) -> None:
    found = door(write_access(tmp_path, clients=[CLIENT])).identify(None, LINE)

    assert found is not None
    assert (found.subject, found.tenant) == ("deployer", "acme")


@clause("AUTH-13")
@pytest.mark.parametrize("names", [(), ("other.example",), ("deployer.example.evil",), ("*",)])
def test_a_certificate_with_another_name_belongs_to_no_client(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    with pytest.raises(TokenRefused):
        door(write_access(tmp_path, clients=[CLIENT])).identify(None, LINE._replace(names=names))


@clause("AUTH-14")
def test_a_token_beside_a_certificate_has_the_same_subject(tmp_path: Path) -> None:
    authenticator = door(write_access(tmp_path, clients=[CLIENT]))

    assert authenticator.identify(sign(claims()), LINE) is not None
    with pytest.raises(TokenRefused, match="another subject"):
        authenticator.identify(sign(claims(sub="somebody")), LINE)


@clause("AUTH-14")
def test_a_token_that_is_bound_to_a_certificate_needs_it(tmp_path: Path) -> None:
    authenticator = door(write_access(tmp_path, clients=[CLIENT]))
    bound = sign(claims(cnf={"x5t#S256": LINE.thumbprint}))

    assert authenticator.identify(bound, LINE) is not None
    for line in (None, Certificate.of(b"another", ("deployer.example",))):
        with pytest.raises(TokenRefused, match="bound to another"):
            authenticator.identify(bound, line)


@clause("AUTH-14")
@pytest.mark.parametrize("cnf", [{}, {"jkt": "x"}, "x", None, {"x5t#S256": 5}, []])
def test_a_binding_that_is_not_understood_is_refused(tmp_path: Path, cnf: object) -> None:
    payload = claims() | {"cnf": cnf}

    with pytest.raises(TokenRefused, match="cnf"):
        door(write_access(tmp_path)).identify(sign(payload), LINE)
