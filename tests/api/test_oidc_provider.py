"""Single sign-on from end to end: `mitigauge serve` as a process, and a certified provider."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from sqlalchemy import Engine

from tests.audit_entries import entries
from tests.clients import bearer, token_of
from tests.commands import Command
from tests.oidc_made import settings_of
from tests.oidc_provider import People, real_provider
from tests.ports import free_port
from tests.remote_service import served

START = "/api/session/oidc"


@dataclass(frozen=True)
class SignOnCommand(Command):
    """`mitigauge` with single sign-on by *issuer*, reached at *own*."""

    issuer: str = ""
    own: str = ""
    more: tuple[tuple[str, str], ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        """Ours with the settings of single sign-on."""
        said = settings_of(self.issuer, PUBLIC_URL=self.own, **dict(self.more))
        return super().environment | {f"MITIGAUGE_{name}": value for name, value in said.items()}


@dataclass(frozen=True)
class World:
    """A service, and the place of its provider, which need not run."""

    command: SignOnCommand
    service: str
    issuer: str
    people: People

    @property
    def redirect(self) -> str:
        return f"{self.service}{START}/callback"

    @property
    def port(self) -> int:
        port = urlsplit(self.issuer).port
        assert port is not None
        return port

    @contextmanager
    def provider(self, place: str = "userinfo") -> Iterator[None]:
        """The provider runs for as long as the block lasts, with a new key each time."""
        with real_provider(self.people, self.port, self.redirect, place):
            yield


@contextmanager
def begun(url: str, home: Path) -> Iterator[World]:
    """A world whose service begins now, over the database at *url*."""
    port, issuer = free_port(), f"http://127.0.0.1:{free_port()}"
    own = f"http://127.0.0.1:{port}"
    command = SignOnCommand(home, url, issuer, own)
    with served(command, port) as address:
        assert address == own
        yield World(command, address, issuer, People(home / "people.json"))


@pytest.fixture(scope="module")
def world(
    module_engine: tuple[Engine, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """One service for all; each test has a provider that begins anew, with a key of its own."""
    with begun(module_engine[1], tmp_path_factory.mktemp("home")) as world:
        yield world


@pytest.fixture
def new_world(database_url: str, home: Path) -> Iterator[World]:
    """One whose service has never heard of its provider."""
    with begun(database_url, home) as world:
        yield world


@contextmanager
def browser(world: World) -> Iterator[httpx2.Client]:
    """Somebody's browser: it keeps cookies and goes where it is sent."""
    with httpx2.Client(base_url=world.service, follow_redirects=True, timeout=30) as client:
        yield client


def session_of(client: httpx2.Client) -> tuple[str, str]:
    """Who the service takes the browser for, and the role."""
    answer = client.get("/api/session")
    assert answer.status_code == 200, answer.text
    return answer.json()["subject"], answer.json()["role"]


def next_of(step: httpx2.Response) -> str:
    """Where a browser is sent."""
    assert step.next_request is not None, step.text
    return str(step.next_request.url)


@pytest.mark.parametrize("place", ["userinfo", "token"])
def test_a_submitter_logs_in_and_comes_to_the_page_that_was_wanted(
    world: World, module_engine: tuple[Engine, str], place: str
) -> None:
    before = entries(module_engine[0], "session.begin")
    world.people.are("alice", alice=["kernel-team", "cooks"])
    with world.provider(place), browser(world) as client:
        assert client.get("/api/session").status_code == 401
        came = client.get(f"{START}?next=%2Fhosts%3Fall%3D1")
        # Through the provider's pages and back; the dashboard itself may not be built here.
        assert str(came.url) == f"{world.service}/hosts?all=1", came.text
        assert [step.status_code for step in came.history] == [303] * len(came.history)
        assert any(str(step.url).startswith(world.issuer) for step in came.history)
        assert session_of(client) == ("oidc:alice", "submitter")
    [entry] = entries(module_engine[0], "session.begin")[len(before) :]
    assert (entry.actor, entry.way) == ("oidc:alice", "web")


def test_who_is_in_no_group_gets_in_nowhere(world: World, home: Path) -> None:
    world.people.are("bob", alice=["kernel-team"], bob=["cooks"])
    with world.provider(), browser(world) as client:
        refused = client.get(START)
        assert refused.status_code == 403
        assert "bob is in no group that may use this service" in refused.json()["message"]
        assert client.get("/api/session").status_code == 401


def test_a_group_that_was_taken_away_is_a_lower_role_at_the_next_log_in(world: World) -> None:
    world.people.are("alice", alice=["kernel-admins", "kernel-team"])
    with world.provider(), browser(world) as first, browser(world) as second:
        first.get(START)
        assert session_of(first) == ("oidc:alice", "admin")
        world.people.are("alice", alice=["kernel-team"])
        second.get(START)
        assert session_of(second) == ("oidc:alice", "submitter")
        assert session_of(first) == ("oidc:alice", "submitter")


def test_while_the_provider_is_away_the_service_says_so_and_tokens_let_in(
    new_world: World, engine: Engine
) -> None:
    world = new_world
    with browser(world) as client:
        away = client.get(START)
        assert away.status_code == 503
        assert f"single sign-on by {world.issuer} does not work now" in away.json()["message"]
        assert "log in with a token" in away.json()["hint"]
        token = bearer(token_of(engine, "viewer"))
        assert client.get("/api/experiments", headers=token).status_code == 200
        # Once it is there, nothing needs to be started again.
        world.people.are("alice", alice=["perf-leads"])
        with world.provider():
            client.get(START)
            assert session_of(client) == ("oidc:alice", "approver")


def test_after_a_start_with_new_keys_people_log_in_as_before(world: World) -> None:
    world.people.are("alice", alice=["kernel-team"])
    for _ in range(2):
        with world.provider(), browser(world) as client:
            client.get(START)
            assert session_of(client) == ("oidc:alice", "submitter")


def test_a_callback_that_is_sent_again_lets_nobody_in(world: World) -> None:
    world.people.are("alice", alice=["kernel-team"])
    with world.provider(), browser(world) as client, browser(world) as thief:
        client.follow_redirects = False
        step = client.get(START)
        begun = dict(client.cookies)
        callback = next_of(step)
        while not callback.startswith(world.redirect):
            callback = next_of(client.get(callback))
        assert client.get(callback).status_code == 303
        assert session_of(client) == ("oidc:alice", "submitter")
        # In another browser, and in one that has the cookie as well.
        assert thief.get(callback).status_code == 401
        thief.cookies.update(begun)
        again = thief.get(callback)
        assert again.status_code == 401
        assert again.json()["message"] == "this log-in has ended already"
        assert thief.get("/api/session").status_code == 401


def test_the_command_ends_a_persons_sessions(world: World) -> None:
    world.people.are("alice", alice=["kernel-team"])
    with world.provider(), browser(world) as client:
        client.get(START)
        assert session_of(client) == ("oidc:alice", "submitter")
        said = world.command.run("token", "revoke", "oidc:alice").stdout
        assert "the browser sessions of oidc:alice are ended" in said
        assert client.get("/api/session").status_code == 401
        assert "oidc:bob" in world.command.run("token", "revoke", "oidc:bob", code=1).stderr


def test_who_gives_up_at_the_provider_reads_why_nobody_got_in(world: World) -> None:
    world.people.are(None, alice=["kernel-team"])
    with world.provider(), browser(world) as client:
        answer = client.get(START)
        assert answer.status_code == 401
        assert "'access_denied', 'nobody is here'" in answer.json()["message"]


def test_half_a_configuration_stops_the_start_by_name(database_url: str, home: Path) -> None:
    command = SignOnCommand(home, database_url, "https://login.example.org", "http://127.0.0.1:1")
    half = replace(command, more=(("OIDC_CLIENT_SECRET", ""),))
    done = half.run("serve", "--port", str(free_port()), code=1)
    assert "MITIGAUGE_OIDC_CLIENT_SECRET is missing" in done.stderr
    assert "unset the issuer" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
