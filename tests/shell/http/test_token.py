"""Tokens as an attacker makes them: all are refused, and each for its own reason."""

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.shell.http.access_file import Access, read_access
from gnomon.shell.http.authentication import Authenticator
from gnomon.shell.http.principal import Scope
from gnomon.shell.http.token import TokenRefused, verify_token
from tests.apps.service.http.crypto import (
    AUDIENCE,
    ISSUER,
    NOW,
    SECRET,
    claims,
    private_key,
    public_pem,
    sign,
    write_access,
)  # fmt: skip
from tests.clauses import clause
from tests.shell.steered_clock import SteeredClock


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> Access:
    return read_access(write_access(tmp_path_factory.mktemp("access")))


def refusal(access: Access, token: str) -> str:
    with pytest.raises(TokenRefused) as refused:
        verify_token(token, access.keys, issuer=ISSUER, audience=AUDIENCE, now=NOW)
    return str(refused.value)


def forged(header: Mapping[str, object], payload: Mapping[str, object], signature: bytes) -> str:
    """A token put together by hand."""
    parts = [json.dumps(header).encode(), json.dumps(payload).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


@clause("AUTH-1")
@pytest.mark.parametrize(
    ("kid", "algorithm"), [("main", "EdDSA"), ("rsa", "RS256"), ("secret", "HS256")]
)
def test_a_good_token_of_each_key_is_accepted(access: Access, kid: str, algorithm: str) -> None:
    key = SECRET if algorithm == "HS256" else private_key(algorithm)
    token = sign(claims(), key=key, algorithm=algorithm, headers={"kid": kid})

    found = verify_token(token, access.keys, issuer=ISSUER, audience=AUDIENCE, now=NOW)

    assert found.principal.subject == "deployer"
    assert found.principal.tenant == "acme"
    assert found.principal.scopes == {Scope.READ, Scope.WRITE}


@clause("AUTH-1")
@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "nOnE", "", None])
def test_a_token_without_a_signature_is_refused(access: Access, algorithm: str | None) -> None:
    header = {"alg": algorithm, "typ": "gnomon+jwt", "kid": "main"}

    assert refusal(access, forged(header, claims(), b"")) == "alg is not the algorithm of its key"


@clause("AUTH-1")
def test_a_public_key_is_not_taken_for_a_secret(access: Access) -> None:
    import hashlib
    import hmac

    header = {"alg": "HS256", "typ": "gnomon+jwt", "kid": "rsa"}
    unsigned = forged(header, claims(), b"").rstrip(".")
    signature = hmac.digest(public_pem("RS256"), unsigned.encode(), hashlib.sha256)

    token = forged(header, claims(), signature)

    assert refusal(access, token) == "alg is not the algorithm of its key"


@clause("AUTH-1")
@pytest.mark.parametrize("algorithm", ["RS384", "RS512", "PS256", "ES256", "EdDSA", "HS512"])
def test_no_algorithm_but_that_of_the_key_is_accepted(access: Access, algorithm: str) -> None:
    header = {"alg": algorithm, "typ": "gnomon+jwt", "kid": "rsa"}

    assert "algorithm of its key" in refusal(access, forged(header, claims(), b"x" * 256))


@clause("AUTH-1")
def test_a_token_signed_with_another_key_of_the_same_kind_is_refused(access: Access) -> None:
    token = sign(claims(), key=private_key("EdDSA:stranger"))

    assert refusal(access, token) == "its signature does not hold"


@clause("AUTH-1")
def test_a_key_that_the_service_knows_does_not_sign_for_another(access: Access) -> None:
    token = sign(claims(), key=private_key("RS256"), algorithm="RS256", headers={"kid": "main"})

    assert refusal(access, token) == "alg is not the algorithm of its key"


@clause("AUTH-1")
def test_claims_that_were_changed_after_signing_are_refused(access: Access) -> None:
    head, _, signature = sign(claims()).split(".")
    other = forged({}, claims(user_id="globex"), b"").split(".")[1]

    assert refusal(access, f"{head}.{other}.{signature}") == "its signature does not hold"


@clause("AUTH-2")
@pytest.mark.parametrize("name", ["exp", "iat", "aud", "iss", "sub"])
def test_a_token_without_a_claim_that_it_needs_is_refused(access: Access, name: str) -> None:
    assert name in refusal(access, sign(claims(**{name: None})))


@clause("AUTH-2")
@pytest.mark.parametrize("audience", ["other", ["other"], [], 5, "gnomon.example", "GNOMON", ""])
def test_a_token_for_another_audience_is_refused(access: Access, audience: object) -> None:
    token = forged_claims(access, claims(aud=audience))

    assert token == "aud does not name this service"


@clause("AUTH-2")
@pytest.mark.parametrize(
    "issuer", ["https://evil.example", "", "https://deploy.example/", "DEPLOY"]
)
def test_a_token_of_another_issuer_is_refused(access: Access, issuer: str) -> None:
    assert "iss" in refusal(access, sign(claims(iss=issuer)))


@clause("AUTH-2")
@pytest.mark.parametrize("kind", [None, "JWT", "at+jwt", "Gnomon+JWT", "gnomon+jwt2"])
def test_a_token_of_another_type_is_refused(access: Access, kind: str | None) -> None:
    header = {"alg": "EdDSA", "kid": "main"} | ({"typ": kind} if kind else {})

    assert "typ" in refusal(access, forged(header, claims(), b"x" * 64))


@clause("AUTH-2")
@pytest.mark.parametrize("subject", ["", "a" * 201, "line\nbreak", "\u202e", 7])
def test_a_subject_that_a_person_cannot_read_is_refused(access: Access, subject: object) -> None:
    assert "sub" in forged_claims(access, claims(sub=subject))


@clause("AUTH-3")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"exp": NOW - 30}, "it has expired"),
        ({"iat": NOW - 10_000, "exp": NOW - 9_500}, "it has expired"),
        ({"iat": NOW + 31, "exp": NOW + 60}, "it is not valid yet"),
        ({"nbf": NOW + 31}, "it is not valid yet"),
        ({"exp": NOW + 901}, "exp must lie 1 to 900 seconds after iat"),
        ({"iat": NOW, "exp": NOW}, "exp must lie 1 to 900 seconds after iat"),
        ({"iat": NOW + 20, "exp": NOW + 10}, "exp must lie 1 to 900 seconds after iat"),
        ({"exp": "soon"}, "exp must be a number of seconds"),
        ({"exp": True}, "exp must be a number of seconds"),
        ({"exp": -1}, "exp must be a number of seconds"),
        ({"exp": 2**60}, "exp must be a number of seconds"),
        ({"exp": float("inf")}, "exp must be a number of seconds"),
        ({"iat": float("nan")}, "iat must be a number of seconds"),
        ({"nbf": [NOW]}, "nbf must be a number of seconds"),
    ],
)
def test_a_token_is_refused_outside_its_time(
    access: Access, changes: dict[str, object], reason: str
) -> None:
    assert forged_claims(access, claims(**changes)) == reason


@clause("AUTH-3")
@pytest.mark.parametrize(
    "changes", [{"iat": NOW - 500, "exp": NOW - 29}, {"iat": NOW + 30, "exp": NOW + 60},
                {"iat": NOW, "exp": NOW + 900}],
)  # fmt: skip
def test_clocks_may_differ_by_half_a_minute(access: Access, changes: dict[str, object]) -> None:
    token = sign(claims(**changes))

    found = verify_token(token, access.keys, issuer=ISSUER, audience=AUDIENCE, now=NOW)

    assert found.principal.subject == "deployer"


@clause("AUTH-4")
@pytest.mark.parametrize(
    "kid",
    ["Main", "main ", "", "../main", "/dev/null", "main' OR '1'='1", "main\0", "unknown"],
)
def test_only_the_exact_name_of_a_key_names_it(access: Access, kid: str) -> None:
    token = sign(claims(), headers={"kid": kid})

    assert refusal(access, token) == "kid names no key that this service knows"


@clause("AUTH-4")
@pytest.mark.parametrize("kid", [None, 1, ["main"], {"main": 1}, True])
def test_a_name_of_a_key_that_is_no_text_names_none(access: Access, kid: object) -> None:
    header = {"alg": "EdDSA", "typ": "gnomon+jwt", "kid": kid}

    assert refusal(access, forged(header, claims(), b"x")) in (
        "kid names no key that this service knows", "it is not a signed token",
    )  # fmt: skip


@clause("AUTH-4")
@pytest.mark.parametrize("name", ["jku", "x5u", "jwk"])
def test_a_key_that_a_token_brings_along_is_not_used(access: Access, name: str) -> None:
    stranger = private_key("EdDSA:stranger")
    own = json.loads(jwt.get_algorithm_by_name("EdDSA").to_jwk(stranger.public_key()))
    brought = own if name == "jwk" else "https://evil.example/keys.json"

    token = sign(claims(), key=stranger, headers={name: brought})

    assert refusal(access, token) == "its signature does not hold"


@clause("AUTH-4")
@pytest.mark.parametrize("extra", [{"crit": ["exp"], "exp": 1}, {"crit": []}, {"b64": False}])
def test_a_token_that_asks_for_extensions_is_refused(
    access: Access, extra: dict[str, object]
) -> None:
    header = {"alg": "EdDSA", "typ": "gnomon+jwt", "kid": "main", **extra}

    assert refusal(access, forged(header, claims(), b"x" * 64)) in (
        "it asks for extensions that this service does not have", "it is not a signed token",
    )  # fmt: skip


@clause("AUTH-5")
def test_a_token_that_is_too_long_is_not_read(access: Access) -> None:
    assert refusal(access, sign(claims(more="x" * 8_000))) == "it is longer than 8192 bytes"


@clause("AUTH-5")
@given(st.text(max_size=300) | st.from_regex(r"[A-Za-z0-9_-]{0,60}(\.[A-Za-z0-9_-]{0,60}){0,6}"))
def test_whatever_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(TokenRefused):
        verify_token(text, {}, issuer=ISSUER, audience=AUDIENCE, now=NOW)


@clause("AUTH-5")
@pytest.mark.parametrize("payload", [b"[]", b"7", b"{", b"null", b"\xff", b"[" * 3000])
def test_a_signed_text_that_holds_no_claims_is_refused(access: Access, payload: bytes) -> None:
    from jwt.api_jws import PyJWS

    token = PyJWS().encode(
        payload, private_key("EdDSA"), "EdDSA", {"typ": "gnomon+jwt", "kid": "main"}
    )  # fmt: skip

    assert refusal(access, token) in ("its signature does not hold", "it holds no claims")


@clause("AUTH-7")
@pytest.mark.parametrize(
    ("scope", "held"),
    [
        ("", set()), ("read", {Scope.READ}), ("write", {Scope.READ, Scope.WRITE}),
        ("admin", set(Scope)), ("openid email", set()), ("READ", set()),
    ],
)  # fmt: skip
def test_a_scope_contains_those_below_it(access: Access, scope: str, held: set[Scope]) -> None:
    found = verify_token(
        sign(claims(scope=scope)), access.keys, issuer=ISSUER, audience=AUDIENCE, now=NOW
    )

    assert found.principal.scopes == held


@clause("AUTH-9")
def test_a_token_that_names_no_tenant_acts_for_its_subject(access: Access) -> None:
    token = sign(claims(user_id=None))

    found = verify_token(token, access.keys, issuer=ISSUER, audience=AUDIENCE, now=NOW)

    assert found.principal.tenant == "deployer"


@clause("AUTH-9")
def test_everybody_can_be_acted_for_by_an_administrator_only(access: Access) -> None:
    token = sign(claims(user_id="*", scope="admin"))
    found = verify_token(token, access.keys, issuer=ISSUER, audience=AUDIENCE, now=NOW)

    assert found.principal.tenant is None
    assert "only with the scope admin" in refusal(access, sign(claims(user_id="*", scope="write")))


@clause("AUTH-5")
def test_without_any_key_no_token_is_known(tmp_path: Path) -> None:
    nobody: Callable[[], Access] = Access
    authenticator = Authenticator(nobody, SteeredClock(NOW * 1000))

    with pytest.raises(TokenRefused, match="it is not known"):
        authenticator.identify(sign(claims()), None)


def forged_claims(access: Access, payload: Mapping[str, object]) -> str:
    """Why a token with these claims, signed as it must be, is refused."""
    from jwt.api_jws import PyJWS

    token = PyJWS().encode(
        json.dumps(payload).encode(), private_key("EdDSA"), "EdDSA",
        {"typ": "gnomon+jwt", "kid": "main"},
    )  # fmt: skip
    return refusal(access, token)
