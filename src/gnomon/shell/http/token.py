"""
Is this token ours, for us, for now, and whose is it? Signed tokens (JWT), read with suspicion.

The algorithm belongs to the key and is never taken from the token (RFC 8725, 3.1): a token names
its key by `kid`, which is looked up and used for nothing else, and `jku`, `x5u` and `jwk` are not
read. `typ` must say that the token is meant for Gnomon, so that other tokens of the same issuer are
none here. `exp`, `iat`, `aud`, `iss` and `sub` must be there; a token lives for a quarter of an
hour at most. `now` is an argument, so time is compared here and not in the library.

Spec: AUTH-1 to AUTH-5.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from jwt.api_jws import PyJWS
from jwt.exceptions import PyJWTError

from gnomon.errors import DefinitionError
from gnomon.shell.http.principal import Principal, read_principal

__all__ = [
    "ALGORITHMS", "LEEWAY", "LIFETIME_MAX", "TOKEN_BYTES_MAX", "TYPE", "Claims", "Key",
    "TokenRefused", "verify_token",
]  # fmt: skip

ALGORITHMS = ("EdDSA", "ES256", "RS256", "HS256")
"""What a key may be used with; each key has exactly one."""
TYPE = "gnomon+jwt"
LEEWAY = 30
"""By how many seconds clocks may differ."""
LIFETIME_MAX = 900
"""How many seconds may lie between `iat` and `exp`."""
TOKEN_BYTES_MAX = 8_192

_JWS = PyJWS(algorithms=list(ALGORITHMS))


class TokenRefused(Exception):  # noqa: N818 -- not an error of ours
    """A token that is not accepted, with the reason in words that may be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key that tokens may be signed with, and the one algorithm it is for."""

    kid: str
    algorithm: str
    material: object
    """As the library prepared it for the algorithm; a wrong kind of key does not get this far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a token says about its bearer."""

    principal: Principal
    certificate: str | None
    """The SHA-256 of the client certificate that it is bound to (RFC 8705)."""


def verify_token(
    text: str, keys: Mapping[str, Key], *, issuer: str, audience: str, now: int
) -> Claims:
    """What the token says, once everything about it is as it must be."""
    if len(text) > TOKEN_BYTES_MAX:
        raise TokenRefused(f"it is longer than {TOKEN_BYTES_MAX} bytes")
    claims = _signed(text, _key_of(text, keys))
    _check_time(claims, now)
    if claims.get("iss") != issuer:
        raise TokenRefused("iss is not the issuer that this service trusts")
    if audience not in _texts(claims.get("aud")):
        raise TokenRefused("aud does not name this service")
    return Claims(principal=_principal(claims), certificate=_bound_to(claims))


def _key_of(text: str, keys: Mapping[str, Key]) -> Key:
    try:
        header: Mapping[str, object] = _JWS.get_unverified_header(text)
    except (PyJWTError, ValueError, RecursionError):
        raise TokenRefused("it is not a signed token") from None
    if header.get("typ") != TYPE:
        raise TokenRefused(f'its header must have "typ": "{TYPE}"')
    if "crit" in header or "b64" in header:
        raise TokenRefused("it asks for extensions that this service does not have")
    kid = header.get("kid")
    key = keys.get(kid) if isinstance(kid, str) else None
    if key is None:
        raise TokenRefused("kid names no key that this service knows")
    if header.get("alg") != key.algorithm:
        raise TokenRefused("alg is not the algorithm of its key")
    return key


def _signed(text: str, key: Key) -> Mapping[str, object]:
    try:
        payload = _JWS.decode(text, key=key.material, algorithms=[key.algorithm])  # type: ignore[arg-type]
        claims = json.loads(payload)
    except (PyJWTError, ValueError, TypeError, RecursionError):
        raise TokenRefused("its signature does not hold") from None
    if not isinstance(claims, dict):
        raise TokenRefused("it holds no claims")
    return claims


def _check_time(claims: Mapping[str, object], now: int) -> None:
    begins, ends = _second(claims, "iat"), _second(claims, "exp")
    if begins > now + LEEWAY or ("nbf" in claims and _second(claims, "nbf") > now + LEEWAY):
        raise TokenRefused("it is not valid yet")
    if ends <= now - LEEWAY:
        raise TokenRefused("it has expired")
    if not 0 < ends - begins <= LIFETIME_MAX:
        raise TokenRefused(f"exp must lie 1 to {LIFETIME_MAX} seconds after iat")


def _second(claims: Mapping[str, object], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        raise TokenRefused(f"{name} must be a number of seconds")
    return value


def _texts(value: object) -> list[str]:
    found = value if isinstance(value, list) else [value]
    return [one for one in found if isinstance(one, str)]


def _principal(claims: Mapping[str, object]) -> Principal:
    subject, scope = claims.get("sub"), claims.get("scope", "")
    user_id = claims.get("user_id", subject)
    if not (isinstance(subject, str) and isinstance(user_id, str) and isinstance(scope, str)):
        raise TokenRefused("sub, user_id and scope must be texts")
    try:
        return read_principal(subject=subject, user_id=user_id, scopes=scope.split(" "))
    except DefinitionError as error:
        raise TokenRefused(f"{error.where} {error.reason}") from None


def _bound_to(claims: Mapping[str, object]) -> str | None:
    if "cnf" not in claims:
        return None
    bound = claims["cnf"]
    thumbprint = bound.get("x5t#S256") if isinstance(bound, dict) else None
    if not isinstance(thumbprint, str):
        raise TokenRefused("cnf must hold x5t#S256, the only binding that this service knows")
    return thumbprint
