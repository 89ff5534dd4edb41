"""
Whom does the service know? One JSON file: keys of tokens, static tokens, client certificates.

    {"issuer": "https://deploy.example", "audience": "gnomon",
     "keys":    [{"kid": "2026-11", "algorithm": "EdDSA", "key_file": "deploy.pem"}],
     "tokens":  [{"sha256": "9f86...", "subject": "ci", "user_id": "acme", "scopes": ["write"]}],
     "clients": [{"san": "spiffe://prod/deployer", "subject": "deployer", "user_id": "*",
                  "scopes": ["admin"]}]}

Two keys may be live at once, so that one can be replaced while tokens of the other are still out.
A static token stands here as its hash only. The file is refused as a whole when anything in it is
wrong, and when it or a secret it names can be read by others.

Spec: AUTH-6, AUTH-10, AUTH-11.
"""

import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.algorithms import get_default_algorithms
from jwt.exceptions import PyJWTError

from gnomon.errors import DefinitionError
from gnomon.shell.http.principal import Principal, read_principal
from gnomon.shell.http.token import ALGORITHMS, Key

__all__ = ["Access", "StaticToken", "read_access"]

BYTES_MAX = 1_000_000
SECRET_BYTES_MIN = 32
RSA_BITS_MIN = 2048
Value = TypeVar("Value")
_TABLES = ("keys", "tokens", "clients")
_EXAMPLE = (
    '{"issuer": "...", "audience": "gnomon", "keys": [...], "tokens": [...], "clients": [...]}'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticToken:
    """A token without an end, for one machine: known by its hash."""

    sha256: str
    principal: Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Everybody whom the service knows."""

    issuer: str = ""
    audience: str = ""
    keys: Mapping[str, Key] = field(default_factory=dict)
    tokens: tuple[StaticToken, ...] = ()
    clients: Mapping[str, Principal] = field(default_factory=dict)
    """Client certificates by the name that stands in them (subjectAltName)."""


def read_access(path: Path) -> Access:
    """The whole file, or an error that says what to write."""
    _check_private(path)
    table = _table(_parse(_content(path)), where="file", known=("issuer", "audience", *_TABLES))
    keys = [
        _key(one, where=f"keys[{number}]", folder=path.parent)
        for number, one in enumerate(_list(table, "keys"))
    ]
    clients = [
        _client(one, where=f"clients[{number}]")
        for number, one in enumerate(_list(table, "clients"))
    ]
    return Access(
        issuer=_text(table, "issuer", where="file") if keys else "",
        audience=_text(table, "audience", where="file") if keys else "",
        keys=_unique([(key.kid, key) for key in keys], where="keys"),
        tokens=tuple(
            _token(one, where=f"tokens[{number}]")
            for number, one in enumerate(_list(table, "tokens"))
        ),
        clients=_unique(clients, where="clients"),
    )


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        raise DefinitionError(f"must have at most {BYTES_MAX} bytes", where="file", got=len(data))
    return data


def _parse(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DefinitionError(
            f"must be JSON ({error})", where="file", got=data[:40], hint=f"write {_EXAMPLE}"
        ) from None


def _check_private(path: Path) -> None:
    mode = path.stat().st_mode
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise DefinitionError(
            "must be readable by its owner only", where=str(path), got=oct(stat.S_IMODE(mode)),
            hint=f"run: chmod 600 {path}",
        )  # fmt: skip


def _key(item: object, *, where: str, folder: Path) -> Key:
    table = _table(item, where=where, known=("kid", "algorithm", "key_file", "secret_file"))
    kid, name = _text(table, "kid", where=where), _text(table, "algorithm", where=where)
    if name not in ALGORITHMS:
        raise DefinitionError(
            f"must be one of {', '.join(ALGORITHMS)}", where=f"{where}.algorithm", got=name
        )
    secret = name == "HS256"
    entry = "secret_file" if secret else "key_file"
    path = folder / _text(table, entry, where=where)
    if secret:
        _check_private(path)
    return Key(kid=kid, algorithm=name, material=_material(path, name, where=f"{where}.{entry}"))


def _material(path: Path, algorithm: str, *, where: str) -> object:
    data = _content(path)
    if algorithm == "HS256":
        data = data.strip()
        if len(data) < SECRET_BYTES_MIN:
            raise DefinitionError(
                f"must have at least {SECRET_BYTES_MIN} random bytes", where=where, got=len(data),
                hint="run: openssl rand -hex 32",
            )  # fmt: skip
    try:
        key: object = get_default_algorithms()[algorithm].prepare_key(data)
    except (PyJWTError, ValueError, TypeError) as error:
        raise DefinitionError(
            f"must hold a key for {algorithm} ({error})", where=where, got=str(path)
        ) from None
    if hasattr(key, "private_bytes"):
        raise DefinitionError(
            "must hold a public key", where=where, got=str(path),
            hint="run: openssl pkey -in KEY -pubout, and keep the private key to the issuer",
        )  # fmt: skip
    if isinstance(key, RSAPublicKey) and key.key_size < RSA_BITS_MIN:
        raise DefinitionError(
            f"must have at least {RSA_BITS_MIN} bits", where=where, got=key.key_size
        )
    return key


def _token(item: object, *, where: str) -> StaticToken:
    table = _table(item, where=where, known=("sha256", "subject", "user_id", "scopes"))
    digest = _text(table, "sha256", where=where)
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise DefinitionError(
            "must be 64 lower-case hexadecimal digits", where=f"{where}.sha256", got=digest,
            hint="run: printf %s TOKEN | sha256sum",
        )  # fmt: skip
    return StaticToken(sha256=digest, principal=_known(table, where=where))


def _client(item: object, *, where: str) -> tuple[str, Principal]:
    table = _table(item, where=where, known=("san", "subject", "user_id", "scopes"))
    return _text(table, "san", where=where), _known(table, where=where)


def _known(table: Mapping[str, object], *, where: str) -> Principal:
    scopes = _list(table, "scopes", where=where)
    for scope in scopes:
        if scope not in ("read", "write", "admin"):
            raise DefinitionError(
                "must be read, write or admin", where=f"{where}.scopes", got=scope
            )
    return read_principal(
        subject=_text(table, "subject", where=where),
        user_id=_text(table, "user_id", where=where),
        scopes=map(str, scopes),
    )


def _table(item: object, *, where: str, known: tuple[str, ...]) -> dict[str, object]:
    if not isinstance(item, dict):
        raise DefinitionError("must be an object", where=where, got=item, hint=f"write {_EXAMPLE}")
    for name in item:
        if name not in known:
            raise DefinitionError(
                "is not known", where=f"{where}.{name}", got=name, hint=f"write {', '.join(known)}"
            )
    return item


def _list(table: Mapping[str, object], name: str, *, where: str = "file") -> list[object]:
    found = table.get(name, [])
    if not isinstance(found, list):
        raise DefinitionError("must be a list", where=f"{where}.{name}", got=found)
    return found


def _text(table: Mapping[str, object], name: str, *, where: str) -> str:
    found = table.get(name)
    if not isinstance(found, str) or not found:
        raise DefinitionError("must be a text", where=f"{where}.{name}", got=found)
    return found


def _unique(pairs: list[tuple[str, Value]], *, where: str) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, value in pairs:
        if name in found:
            raise DefinitionError("must not be used twice", where=where, got=name)
        found[name] = value
    return found
