"""Single sign-on without a network: settings, groups, names, and a log-in that a cookie holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.oidc_begun import BegunLogIn, begin_log_in, own_page, unsealed
from mitigauge.access.oidc_claims import NoRole, check_claims, groups_of, identify, role_of
from mitigauge.access.oidc_settings import SingleSignOn, is_safe, read_roles, single_sign_on
from mitigauge.access.roles import Role
from mitigauge.access.service import Unauthenticated
from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import settings_from
from tests.oidc_made import CLIENT, settings_of

ISSUER = "https://login.example.org"
NOW = 1_800_000_000


def sign_on_of(**more: str) -> SingleSignOn | None:
    said = settings_of(ISSUER, **more)
    return single_sign_on(settings_from({f"MITIGAUGE_{name}": v for name, v in said.items()}))


@pytest.fixture
def sign_on() -> SingleSignOn:
    found = sign_on_of()
    assert found is not None
    return found


def test_without_settings_there_is_no_single_sign_on() -> None:
    assert single_sign_on(settings_from({})) is None
    # What the button is called, and the claim, say nothing of a provider.
    assert single_sign_on(settings_from({"MITIGAUGE_OIDC_NAME": "ours"})) is None


@pytest.mark.parametrize(
    "name",
    ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_ROLES", "PUBLIC_URL"],
)
def test_half_a_configuration_is_refused_by_name(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"MITIGAUGE_{name} is missing") as refused:
        sign_on_of(**{name: ""})
    assert "unset the issuer" in refused.value.hint
    assert "secret of" not in str(refused.value)


def test_the_secret_may_stand_in_a_file_and_is_shown_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("from-the-file\n")
    found = sign_on_of(OIDC_CLIENT_SECRET="", OIDC_CLIENT_SECRET_FILE=str(file))
    assert found is not None
    assert found.client_secret == "from-the-file"
    assert "from-the-file" not in repr(found)


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://login.example.org", True),
        ("https://login.example.org:8443/realms/kernel", True),
        ("http://127.0.0.1:5556", True),
        ("http://[::1]:5556/dex", True),
        ("http://localhost", True),
        ("http://login.example.org", False),
        ("http://127.0.0.1.example.org", False),
        ("http://localhost.example.org", False),
        ("https://user@login.example.org", False),
        ("https://login.example.org?x=1", False),
        ("https://login.example.org#x", False),
        ("https://login.example.org\\@evil.example", False),
        ("https://", False),
        ("https://[::1", False),
        ("https://login.example.org:port", False),
        ("ftp://login.example.org", False),
        ("login.example.org", False),
        ("https://login.exämple.org", False),
        ("https://login.example.org/\n", False),
    ],
)
def test_only_what_is_encrypted_or_on_this_machine_is_safe(url: str, safe: bool) -> None:
    assert is_safe(url) is safe
    if not safe:
        with pytest.raises(InvalidInput, match=r"MITIGAUGE_OIDC_ISSUER is .*no https:// address"):
            sign_on_of(OIDC_ISSUER=url)
        with pytest.raises(InvalidInput, match=r"MITIGAUGE_PUBLIC_URL is .*no https:// address"):
            sign_on_of(PUBLIC_URL=url)


def test_the_dashboard_is_at_the_root_of_its_address(sign_on: SingleSignOn) -> None:
    found = sign_on_of(PUBLIC_URL="https://mitigauge.example.org/")
    assert found is not None
    callback = "https://mitigauge.example.org/api/session/oidc/callback"
    assert found.redirect_uri == callback
    with pytest.raises(InvalidInput, match="has a path"):
        sign_on_of(PUBLIC_URL="https://example.org/mitigauge")


def test_groups_are_mapped_to_roles_in_words() -> None:
    roles = read_roles(" kernel-team=submitter, cn=perf leads=approver,,*=viewer ")
    assert roles == {
        "kernel-team": Role.SUBMITTER,
        "cn=perf leads": Role.APPROVER,
        "*": Role.VIEWER,
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kernel-team", "has 'kernel-team'"),
        ("kernel-team=root", "has 'kernel-team=root'"),
        ("kernel-team=Admin", "has 'kernel-team=Admin'"),
        ("=admin", "has '=admin'"),
        ("a=viewer,a=admin", "the group 'a' twice"),
        ("*=admin", "makes everybody admin"),
        ("*=submitter", "makes everybody submitter"),
        (",", "names no group"),
    ],
)
def test_a_map_that_cannot_be_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match="MITIGAUGE_OIDC_ROLES") as refused:
        read_roles(text)
    assert why in refused.value.message
    assert refused.value.hint


def test_the_highest_role_counts_and_nobody_has_one_by_chance() -> None:
    roles = read_roles("readers=viewer,kernel-team=submitter,perf-leads=approver,ci=runner")
    assert role_of(["readers", "perf-leads", "kernel-team"], roles) is Role.APPROVER
    assert role_of(["ci", "readers"], roles) is Role.RUNNER
    assert role_of(["Kernel-Team", "kernel-team ", ""], roles) is None
    assert role_of([], roles) is None
    assert role_of(["strangers"], roles | {"*": Role.VIEWER}) is Role.VIEWER
    assert role_of(["kernel-team"], roles | {"*": Role.VIEWER}) is Role.SUBMITTER
    # A group that is called so is a group like others.
    assert role_of(["*"], roles) is None


def test_a_person_may_be_in_ten_thousand_groups(sign_on: SingleSignOn) -> None:
    many = [f"group-{number}" for number in range(10_000)]
    assert groups_of({"groups": many}, sign_on) == set(many)
    who = identify({"sub": "1", "groups": [*many, "kernel-team"]}, sign_on)
    assert who.role is Role.SUBMITTER


@pytest.mark.parametrize("said", ["kernel-team", {"kernel-team": True}, 5, None, ["a", 5], [["a"]]])
def test_groups_that_are_no_list_of_names_let_nobody_in(
    said: object, sign_on: SingleSignOn
) -> None:
    with pytest.raises(NoRole, match="a claim 'groups' that is no list of names") as refused:
        identify({"sub": "1", "groups": said}, sign_on)
    assert refused.value.status == 403
    assert "MITIGAUGE_OIDC_GROUPS_CLAIM" in refused.value.hint


def test_who_is_in_no_group_is_refused_by_name(sign_on: SingleSignOn) -> None:
    for claims in ({"sub": "1"}, {"sub": "1", "groups": []}, {"sub": "1", "groups": ["cooks"]}):
        with pytest.raises(NoRole, match="bob is in no group") as refused:
            identify({**claims, "preferred_username": "bob"}, sign_on)
        assert "cooks" not in str(refused.value)


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "alice", "email": "a@example.org"}, "alice"),
        ({"email": "a@example.org", "email_verified": True}, "a@example.org"),
        # Anybody may claim a mail address that nobody confirmed.
        ({"email": "a@example.org", "email_verified": False}, "number-1"),
        ({"email": "a@example.org", "email_verified": "true"}, "number-1"),
        ({"email": "a@example.org"}, "number-1"),
        ({"preferred_username": "EXAMPLE\\alice"}, "number-1"),
        ({"preferred_username": "alice\n"}, "number-1"),
        ({"preferred_username": "a" * 121}, "number-1"),
        ({"preferred_username": ["alice"]}, "number-1"),
        ({"preferred_username": ""}, "number-1"),
    ],
)
def test_people_are_called_by_the_first_name_that_can_be_one(
    claims: dict[str, object], name: str, sign_on: SingleSignOn
) -> None:
    who = identify({"sub": "number-1", "groups": ["kernel-team"], **claims}, sign_on)
    assert (who.name, who.issuer, who.sub) == (name, ISSUER, "number-1")


def test_whoever_has_no_name_that_can_be_one_is_refused(sign_on: SingleSignOn) -> None:
    for claims in ({"sub": "auth0|5"}, {"sub": "x" * 256, "preferred_username": "alice"}):
        with pytest.raises(Unauthenticated, match="names nobody who can be known here"):
            identify({"groups": ["kernel-team"], **claims}, sign_on)


GOOD = {
    "iss": ISSUER, "aud": CLIENT, "sub": "number-1", "iat": NOW, "exp": NOW + 300, "nonce": "n",
}  # fmt: skip
HEADER = {"alg": "RS256"}


def check(sign_on: SingleSignOn, claims: dict[str, object]) -> None:
    said = {name: value for name, value in claims.items() if value is not None}
    check_claims(said, HEADER, sign_on, nonce="n", access_token="token", now=NOW)


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"aud": [CLIENT]},
        {"aud": [CLIENT, "other"], "azp": CLIENT},
        {"azp": CLIENT},
        # A clock that is a minute off.
        {"exp": NOW - 59},
        {"iat": NOW + 60},
        {"nbf": NOW + 60},
    ],
)
def test_claims_that_are_meant_for_us_are_taken(
    claims: dict[str, object], sign_on: SingleSignOn
) -> None:
    check(sign_on, GOOD | claims)


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://login.example.org/"},
        {"iss": "https://evil.example"},
        {"iss": [ISSUER]},
        {"iss": None},
        {"aud": "other"},
        {"aud": "other", "azp": CLIENT},
        {"aud": ["other"]},
        {"aud": [CLIENT, 5], "azp": CLIENT},
        {"aud": {CLIENT: 1}},
        {"aud": []},
        {"aud": None},
        # For several, without saying for whom, or for the other one.
        {"aud": [CLIENT, "other"]},
        {"aud": [CLIENT, "other"], "azp": "other"},
        {"azp": "other"},
        {"sub": None},
        {"sub": ""},
        {"sub": 5},
        {"nonce": "another"},
        {"nonce": None},
        {"nonce": ["n"]},
        {"exp": NOW - 60},
        {"exp": None},
        {"exp": "tomorrow"},
        {"exp": True},
        {"exp": float("inf")},
        {"exp": float("nan")},
        {"iat": NOW + 61},
        {"iat": None},
        {"nbf": NOW + 61},
        # Of another access token than the one that came with it.
        {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
        {"at_hash": 5},
    ],
)
def test_claims_that_are_not_meant_for_us_are_refused(
    claims: dict[str, object], sign_on: SingleSignOn
) -> None:
    with pytest.raises(Unauthenticated, match=f"the ID token of {ISSUER} is refused"):
        check(sign_on, GOOD | claims)


@pytest.mark.parametrize(
    "page",
    [
        "/",
        "/hosts",
        "/experiments/1?metrics=all&x=%2F%2Fevil",
        "/apis",
        "/login",
        "/a/../b",
        "/%C3%A9",
    ],
)
def test_a_page_of_ours_is_where_one_comes_to(page: str) -> None:
    assert own_page(page) == page


@pytest.mark.parametrize(
    "page",
    [
        None,
        "",
        "hosts",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/hosts\r\nSet-Cookie: a=b",
        "https://evil.example",
        "https:/evil.example",
        "javascript:alert(1)",
        " /hosts",
        "/é",
        '/"',
        "/api/session/oidc",
        "/api",
        "/api?x",
        "/" + "x" * 1500,
    ],
)
def test_no_other_page_is(page: str | None) -> None:
    assert own_page(page) == "/"


def test_a_cookie_holds_a_log_in_for_ten_minutes(home: Path) -> None:
    begun = begin_log_in("/hosts", NOW)
    assert unsealed(begun.sealed(), NOW + 599) == begun
    assert unsealed(begun.sealed(), NOW + 600) is None
    assert unsealed(begun.sealed(), NOW - 1) is None


def test_the_longest_page_fits_into_a_cookie(home: Path) -> None:
    page = "/" + "~" * 1499
    begun = begin_log_in(page, NOW)
    assert begun.page == page
    assert len(begun.sealed()) < 4000
    assert unsealed(begun.sealed(), NOW) == begun


def test_a_cookie_that_was_changed_or_made_up_holds_nothing(home: Path) -> None:
    text, _, seal = begin_log_in("/hosts", NOW).sealed().partition(".")
    other, _, _ = BegunLogIn("x" * 43, "//evil.example", NOW).sealed().partition(".")
    for cookie in (
        "", ".", text, f"{text}.", f".{seal}", f"{other}.{seal}", f"{text}x.{seal}",
        f"{text}.{seal[:-1]}", f"{text}.{seal}é", "x" * 5000,
    ):  # fmt: skip
        assert unsealed(cookie, NOW) is None, cookie


def test_what_the_provider_gets_tells_nothing_of_the_rest(home: Path) -> None:
    begun = begin_log_in("/hosts", NOW)
    parts = {begun.secret, begun.state, begun.nonce, begun.verifier}
    assert len(parts) == 4
    # RFC 7636: 43 to 128 letters and digits.
    assert 43 <= len(begun.verifier) <= 128
    assert begun.secret not in repr(begun)
    assert begin_log_in("/hosts", NOW).state != begun.state
