"""Keys, tokens and certificates that the tests make for themselves."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

__all__ = [
    "AUDIENCE", "ISSUER", "NOW", "SECRET", "claims", "pem", "private_key", "public_pem", "sign",
    "write_access",
]  # fmt: skip

ISSUER, AUDIENCE = "https://deploy.example", "gnomon"
NOW = 1_800_000_000
SECRET = b"0123456789abcdef0123456789abcdef-secret"

PrivateKey = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@cache
def private_key(kind: str) -> PrivateKey:
    """A key of this algorithm; another one for each name after a colon."""
    match kind.partition(":")[0]:
        case "EdDSA":
            return ed25519.Ed25519PrivateKey.generate()
        case "ES256":
            return ec.generate_private_key(ec.SECP256R1())
        case _:
            return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem(kind: str) -> bytes:
    return private_key(kind).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def public_pem(kind: str) -> bytes:
    return (
        private_key(kind)
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


def claims(**changes: object) -> dict[str, object]:
    """The claims of a good token; a change to None leaves a claim out."""
    found: dict[str, object] = {
        "iss": ISSUER, "aud": AUDIENCE, "sub": "deployer", "user_id": "acme",
        "iat": NOW, "exp": NOW + 600, "scope": "read write",
    }  # fmt: skip
    found |= changes
    return {name: value for name, value in found.items() if value is not None}


def sign(
    payload: Mapping[str, object],
    *,
    key: object = None,
    algorithm: str = "EdDSA",
    headers: Mapping[str, object] | None = None,
) -> str:
    """A token; without a key, with the one that `write_access` makes known as `main`."""
    found = {"typ": "gnomon+jwt", "kid": "main", **(headers or {})}
    return jwt.encode(
        dict(payload),
        key if key is not None else private_key("EdDSA"),  # type: ignore[arg-type]
        algorithm=algorithm,
        headers={name: value for name, value in found.items() if value is not None},
    )


def write_access(folder: Path, **changes: object) -> Path:
    """A file of access: `main` is an EdDSA key, `rsa` an RS256 key, `secret` one of HS256."""
    (folder / "main.pem").write_bytes(public_pem("EdDSA"))
    (folder / "rsa.pem").write_bytes(public_pem("RS256"))
    secret = folder / "secret.txt"
    secret.write_bytes(SECRET)
    secret.chmod(0o600)
    table: dict[str, object] = {
        "issuer": ISSUER,
        "audience": AUDIENCE,
        "keys": [
            {"kid": "main", "algorithm": "EdDSA", "key_file": "main.pem"},
            {"kid": "rsa", "algorithm": "RS256", "key_file": "rsa.pem"},
            {"kid": "secret", "algorithm": "HS256", "secret_file": "secret.txt"},
        ],
    } | changes
    path = folder / "access.json"
    path.write_text(json.dumps(table))
    path.chmod(0o600)
    return path
