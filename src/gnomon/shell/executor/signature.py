"""
Was this message signed with our secret, just now, and for this purpose?

A message is signed with HMAC-SHA256 over the purpose, the id of the key, the second it was signed
and the body. So only a sender with the secret can make one, no sender can use it later than the
window allows, and a request cannot be handed back as a callback. Two keys may be valid at once, so
that an operator can change them without a pause.

Spec: SIGN-1 to SIGN-3.
"""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from gnomon.errors import DefinitionError

__all__ = ["KEY_ID_HEADER", "SECRET_MIN", "SIGNATURE_HEADER", "TIMESTAMP_HEADER", "WINDOW_S",
           "Keyring", "Purpose", "objection_to", "objection_to_head", "signed"]  # fmt: skip

KEY_ID_HEADER = "Gnomon-Key-Id"
TIMESTAMP_HEADER = "Gnomon-Timestamp"
SIGNATURE_HEADER = "Gnomon-Signature"
WINDOW_S = 300
"""How far the clocks of both sides may be apart, the way included."""
SECRET_MIN = 32
"""Bytes of a secret."""

_SECOND = re.compile(r"[0-9]{1,12}", re.ASCII)
_KEY_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


class Purpose(StrEnum):
    """What a message is for."""

    RUN = "run"
    KILL = "kill"
    CALLBACK = "callback"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyring:
    """Secrets by their ids; the current one signs, all of them are accepted."""

    current: str
    secrets: Mapping[str, bytes]

    def __post_init__(self) -> None:
        if self.current not in self.secrets:
            raise DefinitionError(
                "is not among the keys", where="executor.key_id", got=self.current,
                hint="name one that has a secret",
            )  # fmt: skip
        for name, secret in self.secrets.items():
            if not _KEY_ID.fullmatch(name):
                raise DefinitionError(
                    "must be 1 to 64 letters, digits, dots, underscores or hyphens",
                    where="executor.key_id", got=name, hint="write e.g. 2026-03",
                )  # fmt: skip
            if len(secret) < SECRET_MIN:
                raise DefinitionError(
                    f"must have at least {SECRET_MIN} bytes", where=f"executor.secrets.{name}",
                    got=f"{len(secret)} bytes", hint="make one with: openssl rand -hex 32",
                )  # fmt: skip

    def __repr__(self) -> str:
        return f"Keyring(current={self.current!r}, keys={sorted(self.secrets)})"


def signed(keyring: Keyring, purpose: Purpose, body: bytes, *, now_ms: int) -> dict[str, str]:
    """The headers that go with a body."""
    second = str(now_ms // 1000)
    secret = keyring.secrets[keyring.current]
    return {
        KEY_ID_HEADER: keyring.current,
        TIMESTAMP_HEADER: second,
        SIGNATURE_HEADER: _mac(secret, purpose, keyring.current, second, body),
    }


def objection_to(
    headers: Mapping[str, str], purpose: Purpose, body: bytes, keyring: Keyring, *, now_ms: int
) -> str | None:
    """Why a message is not to be believed; None when it is. Names of headers in any case."""
    key_id, second, signature = _parts(headers)
    objection = _objection(key_id, second, keyring)
    if objection is not None:
        return objection
    expected = _mac(keyring.secrets[key_id], purpose, key_id, second, body)
    if not hmac.compare_digest(expected.encode(), signature.encode(errors="replace")):
        return "the signature does not fit"
    return _late(second, now_ms)


def objection_to_head(headers: Mapping[str, str], keyring: Keyring, *, now_ms: int) -> str | None:
    """Why a message cannot be believed whatever its body is; None when that is still open."""
    key_id, second, _ = _parts(headers)
    return _objection(key_id, second, keyring) or _late(second, now_ms)


def _parts(headers: Mapping[str, str]) -> tuple[str, str, str]:
    given = {name.lower(): value for name, value in headers.items()}
    names = (KEY_ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER)
    key_id, second, signature = (given.get(name.lower(), "") for name in names)
    return key_id, second, signature


def _objection(key_id: str, second: str, keyring: Keyring) -> str | None:
    if key_id not in keyring.secrets:
        return "the key is not known"
    return None if _SECOND.fullmatch(second) else "the timestamp is missing or no number of seconds"


def _late(second: str, now_ms: int) -> str | None:
    late = abs(now_ms // 1000 - int(second)) > WINDOW_S
    return f"the timestamp is more than {WINDOW_S} s away" if late else None


def _mac(secret: bytes, purpose: Purpose, key_id: str, second: str, body: bytes) -> str:
    # Each part but the last is without a line feed, so that no two messages read the same.
    text = f"gnomon-1\n{purpose}\n{key_id}\n{second}\n".encode() + body
    return hmac.new(secret, text, sha256).hexdigest()
