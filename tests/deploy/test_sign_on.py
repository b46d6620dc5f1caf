"""Single sign-on as docs/operating.md has it: the real oauth2-proxy before `mitigauge serve`.

It runs with the file that Compose hands it, deploy/proxy/oauth2-proxy.yaml.
"""

from __future__ import annotations

import os
import secrets
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from ruamel.yaml import YAML
from sqlalchemy import Engine

from mitigauge.core.settings import REPOSITORY
from tests.audit_entries import entries
from tests.clients import bearer
from tests.commands import Command
from tests.deploy.login_provider import CLIENT, LoginProvider, login_provider
from tests.lab.certificates import Authority
from tests.ports import free_port
from tests.remote_service import served

PROGRAM = shutil.which("oauth2-proxy") or str(Path.home() / "go/bin/oauth2-proxy")
COMPOSE = REPOSITORY / "deploy/proxy/oauth2-proxy.yml"
BEGINS_WITHIN_S = 30.0
PLACES = ("OAUTH2_PROXY_REDIRECT_URL", "OAUTH2_PROXY_COOKIE_SECRET_FILE")
ROLES = "kernel-team=submitter,perf-leads=approver,kernel-admins=admin"

pytestmark = [
    pytest.mark.deploy,
    pytest.mark.skipif(
        not Path(PROGRAM).is_file(),
        reason="oauth2-proxy is not installed: "
        "go install github.com/oauth2-proxy/oauth2-proxy/v7@latest",
    ),
]


@dataclass(frozen=True)
class BehindProxy(Command):
    """`mitigauge` that trusts the proxy with the secret in *file*."""

    file: Path = Path()

    @property
    def environment(self) -> dict[str, str]:
        """Ours with what deploy/proxy/oauth2-proxy.yml sets."""
        return super().environment | {
            "MITIGAUGE_PROXY_SECRET_FILE": str(self.file),
            "MITIGAUGE_PROXY_ROLES": ROLES,
        }


@dataclass(frozen=True)
class World:
    """The proxy's address, and what is behind and beside it."""

    address: str
    service: str
    provider: LoginProvider
    trust: ssl.SSLContext
    engine: Engine
    command: Command

    def browser(self, **claims: Any) -> httpx2.Client:
        """A browser before which somebody of *claims* sits."""
        self.provider.claims = {"sub": "number-1", "email": "a@example.org", **claims}
        return httpx2.Client(
            base_url=self.address, follow_redirects=True, verify=self.trust, timeout=30
        )


def own_settings() -> dict[str, str]:
    """What Compose says to the proxy in plain words: the rest is places and addresses."""
    said = YAML(typ="safe").load(COMPOSE.read_text().replace("!reset ", ""))
    environment: dict[str, str] = said["services"]["proxy"]["environment"]
    own = {name: value for name, value in environment.items() if name.startswith("OAUTH2_PROXY_")}
    return {name: value for name, value in own.items() if name not in PLACES}


def wait_for(
    address: str, trust: ssl.SSLContext, process: subprocess.Popen[bytes], log: Path
) -> None:
    deadline = time.monotonic() + BEGINS_WITHIN_S
    while True:
        try:
            httpx2.get(f"{address}/ping", verify=trust)
            return
        except httpx2.TransportError:
            late = process.poll() is not None or time.monotonic() > deadline
            assert not late, log.read_text()
            time.sleep(0.1)


@pytest.fixture(scope="module")
def world(
    module_engine: tuple[Engine, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Provider, proxy and service, for all tests."""
    home, own = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("etc")
    authority = Authority(own / "authority")
    issued = authority.issue("127.0.0.1")
    for folder in ("tls", "secrets"):
        (own / folder).mkdir()
    shutil.copy(issued.certificate, own / "tls/fullchain.pem")
    shutil.copy(issued.key, own / "tls/key.pem")
    for name in ("proxy", "oauth2-client"):
        (own / "secrets" / name).write_text(secrets.token_hex(32))
    (own / "secrets/oauth2-cookie").write_text(secrets.token_hex(16))
    port, bind = free_port(), f"127.0.0.1:{free_port()}"
    address, log = f"https://{bind}", own / "log"
    command = BehindProxy(home, module_engine[1], file=own / "secrets/proxy")
    with login_provider() as provider, served(command, port) as service, log.open("wb") as file:
        environment = {
            "BIND": bind, "SECRETS": str(own), "UPSTREAM": service, "CLIENT": CLIENT,
            "ISSUER": provider.issuer, "PATH": os.environ["PATH"],
            **own_settings(),
            "OAUTH2_PROXY_REDIRECT_URL": f"{address}/oauth2/callback",
            "OAUTH2_PROXY_COOKIE_SECRET_FILE": str(own / "secrets/oauth2-cookie"),
        }  # fmt: skip
        process = subprocess.Popen(
            [PROGRAM, "--alpha-config", REPOSITORY / "deploy/proxy/oauth2-proxy.yaml"],
            env=environment, stdout=file, stderr=file,
        )  # fmt: skip
        try:
            trust = ssl.create_default_context(cafile=authority.ca_file)
            wait_for(address, trust, process, log)
            yield World(address, service, provider, trust, module_engine[0], command)
        finally:
            process.terminate()
            process.wait(30)


def session_of(client: httpx2.Client, **headers: str) -> tuple[str, str]:
    """Who the service takes the browser for, and the role."""
    answer = client.get("/api/session", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["subject"], answer.json()["role"]


def test_somebody_logs_in_and_has_the_highest_role_of_the_groups(world: World) -> None:
    for groups, role in ((["kernel-team", "cooks"], "submitter"), (["kernel-team", "perf-leads"],
                         "approver"), (["kernel-admins"], "admin")):  # fmt: skip
        with world.browser(preferred_username="alice", groups=groups) as client:
            assert client.get("/api/session").status_code == 401
            came = client.get("/hosts?all=1")
            assert str(came.url) == f"{world.address}/hosts?all=1", came.text
            assert any(str(step.url).startswith(world.provider.issuer) for step in came.history)
            assert session_of(client) == ("proxy:alice", role)


def test_who_is_in_no_group_is_refused_with_the_way_out(world: World) -> None:
    for groups in (["cooks"], [], ["*"]):
        with world.browser(preferred_username="carol", groups=groups) as client:
            client.get("/")
            answer = client.get("/api/session")
            assert answer.status_code == 403
            assert "is in no group that may use this service" in answer.json()["message"]
            assert "MITIGAUGE_PROXY_ROLES" in answer.json()["hint"]


def test_what_a_browser_says_of_itself_does_not_count(world: World) -> None:
    claimed = {
        "X-Mitigauge-User": "root", "X-Mitigauge-Role": "admin",
        "X-Mitigauge-Groups": "kernel-admins",
    }  # fmt: skip
    with world.browser(preferred_username="alice", groups=["kernel-team"]) as client:
        assert client.get("/api/session", headers=claimed).status_code == 401
        client.get("/")
        assert session_of(client, **claimed) == ("proxy:alice", "submitter")
        # By another spelling that some servers take for the same header.
        spelled = {name.replace("-", "_"): value for name, value in claimed.items()}
        assert session_of(client, **spelled) == ("proxy:alice", "submitter")


def test_a_change_is_made_by_a_page_of_ours_and_stands_in_the_audit_log(world: World) -> None:
    with world.browser(preferred_username="dora", groups=["perf-leads"]) as client:
        client.get("/")
        path, body = "/api/hosts/lab/alpha/set-aside", {"reason": "a fan"}
        for origin, status in (("https://evil.example", 403), (world.address, 404)):
            answer = client.post(path, json=body, headers={"Origin": origin})
            assert answer.status_code == status, answer.text
    with world.browser(preferred_username="alice", groups=["kernel-team"]) as client:
        client.get("/")
        assert client.post(path, json=body, headers={"Origin": world.address}).status_code == 403
    [refused] = [entry for entry in entries(world.engine, "host.set-aside") if entry.refused]
    assert (refused.actor, refused.way, refused.address) == ("proxy:alice", "web", "127.0.0.1")


def test_programs_come_through_with_tokens_and_without_one_nobody_does(world: World) -> None:
    made = world.command.run("token", "create", "ci", "--role", "viewer")
    token = made.stdout.split()[0]
    with world.browser() as client:
        assert session_of(client, **bearer(token)) == ("ci", "viewer")
        wrong = client.get("/api/session", headers=bearer("mgt_" + 43 * "a"))
        assert wrong.status_code == 401
    # Past the proxy a stranger is nobody, whatever he says.
    named = {"X-Mitigauge-User": "alice", "X-Mitigauge-Groups": "kernel-admins"}
    assert httpx2.get(f"{world.service}/api/session", headers=named).status_code == 401


def test_a_forged_log_in_lets_nobody_in(world: World) -> None:
    ours, world.provider.key = world.provider.key, LoginProvider("").key
    with world.browser(preferred_username="alice", groups=["kernel-admins"]) as client:
        try:
            client.get("/")
        finally:
            world.provider.key = ours
        assert client.get("/api/session").status_code == 401
