"""Signatures: who may be believed."""

import hashlib
import hmac

import pytest

from gnomon.errors import DefinitionError
from gnomon.shell.executor.signature import Keyring, Purpose, objection_to, signed
from tests.clauses import clause

NOW_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
OLD, NEW = b"o" * 32, b"n" * 32
KEYRING = Keyring(current="new", secrets={"old": OLD, "new": NEW})


@clause("SIGN-1")
def test_a_signature_can_be_made_with_any_tool() -> None:
    text = b'gnomon-1\nrun\nnew\n1772323200\n{"a":1}'

    assert signed(KEYRING, Purpose.RUN, b'{"a":1}', now_ms=NOW_MS) == {
        "Gnomon-Key-Id": "new",
        "Gnomon-Timestamp": "1772323200",
        "Gnomon-Signature": hmac.new(NEW, text, hashlib.sha256).hexdigest(),
    }


@clause("SIGN-1")
def test_what_was_signed_is_believed_whatever_the_case_of_the_headers() -> None:
    headers = signed(KEYRING, Purpose.CALLBACK, b"x", now_ms=NOW_MS)
    upper = {name.upper(): value for name, value in headers.items()}

    assert objection_to(upper, Purpose.CALLBACK, b"x", KEYRING, now_ms=NOW_MS) is None


@clause("SIGN-1")
def test_the_former_key_is_still_believed() -> None:
    former = Keyring(current="old", secrets={"old": OLD})
    headers = signed(former, Purpose.CALLBACK, b"x", now_ms=NOW_MS)

    assert objection_to(headers, Purpose.CALLBACK, b"x", KEYRING, now_ms=NOW_MS) is None


@clause("SIGN-2")
@pytest.mark.parametrize(
    ("changed", "objection"),
    [
        ({"Gnomon-Key-Id": "other"}, "the key is not known"),
        ({"Gnomon-Key-Id": "old"}, "the signature does not fit"),
        ({"Gnomon-Timestamp": "1772323201"}, "the signature does not fit"),
        ({"Gnomon-Timestamp": ""}, "the timestamp is missing or no number of seconds"),
        ({"Gnomon-Timestamp": "-1"}, "the timestamp is missing or no number of seconds"),
        ({"Gnomon-Timestamp": "١"}, "the timestamp is missing or no number of seconds"),
        ({"Gnomon-Signature": ""}, "the signature does not fit"),
        ({"Gnomon-Signature": "é\ud800"}, "the signature does not fit"),
    ],
)
def test_what_was_changed_is_not_believed(changed: dict[str, str], objection: str) -> None:
    headers = signed(KEYRING, Purpose.CALLBACK, b"x", now_ms=NOW_MS) | changed

    assert objection_to(headers, Purpose.CALLBACK, b"x", KEYRING, now_ms=NOW_MS) == objection


@clause("SIGN-2")
def test_another_body_or_purpose_is_not_believed() -> None:
    headers = signed(KEYRING, Purpose.RUN, b"x", now_ms=NOW_MS)

    assert objection_to(headers, Purpose.RUN, b"y", KEYRING, now_ms=NOW_MS)
    assert objection_to(headers, Purpose.CALLBACK, b"x", KEYRING, now_ms=NOW_MS)
    assert objection_to({}, Purpose.RUN, b"x", KEYRING, now_ms=NOW_MS) == "the key is not known"


@clause("SIGN-2")
@pytest.mark.parametrize(
    ("away_s", "believed"), [(300, True), (-300, True), (301, False), (-301, False)]
)
def test_a_signature_is_good_for_five_minutes(away_s: int, believed: bool) -> None:
    headers = signed(KEYRING, Purpose.RUN, b"x", now_ms=NOW_MS)
    objection = objection_to(headers, Purpose.RUN, b"x", KEYRING, now_ms=NOW_MS + away_s * 1000)

    assert (objection is None) == believed


@clause("SIGN-3")
def test_a_secret_is_long_and_never_shown() -> None:
    with pytest.raises(DefinitionError) as caught:
        Keyring(current="a", secrets={"a": b"short secret"})

    assert "short secret" not in str(caught.value)
    assert str(caught.value).startswith("executor.secrets.a: must have at least 32 bytes")
    assert "ooo" not in repr(KEYRING)


@clause("SIGN-3")
def test_the_key_that_signs_must_be_there() -> None:
    with pytest.raises(DefinitionError, match="is not among the keys, got 'b'"):
        Keyring(current="b", secrets={"a": OLD})
    with pytest.raises(DefinitionError, match="must be 1 to 64"):
        Keyring(current="a\n", secrets={"a\n": OLD})
