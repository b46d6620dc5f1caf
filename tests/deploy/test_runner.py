"""The role ci_runner on a machine with systemd: one job, then all anew; strangers' jobs end.

GitHub and its runner's program are stood for: the one gives registration tokens, the other starts
the guard before a job as GitHub's does, and says what it finds. What the role installs is as it is.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from mitigauge.core.settings import REPOSITORY
from tests.deploy.machine import Machine, booted

pytestmark = pytest.mark.deploy

REPO, TOKEN = "us/mitigauge", "github_pat_that_only_root_may_read"
JOBS = 2
WITHIN_S = 180
CONFIG = """#!/bin/bash
curl --silent --data "configured $(id -un) $*" "$(cat url)/said"
"""
# What GitHub's program sets before it starts the hook.
RUN = """#!/bin/bash
say() { curl --silent --data "$1" "$(cat url)/said"; }
job() {
  GITHUB_REPOSITORY=$1 GITHUB_EVENT_NAME=$2 GITHUB_REF=$3 \\
    GITHUB_WORKFLOW_REF="$1/.github/workflows/$4@$3" "$ACTIONS_RUNNER_HOOK_JOB_STARTED" \\
    && echo ran || echo refused
}
say "ours $(job us/mitigauge workflow_dispatch refs/heads/main lab.yml)"
say "stranger $(job us/mitigauge pull_request refs/heads/main lab.yml)"
say "branch $(job us/mitigauge push refs/heads/evil lab.yml)"
say "other $(job them/mitigauge push refs/heads/main lab.yml)"
say "workflow $(job us/mitigauge push refs/heads/main evil.yml)"
say "token $(cat /etc/mitigauge-runner/token 2>/dev/null || echo hidden)"
say "root $(sudo -n id -un 2>/dev/null || echo no)"
say "guard $(test -w "$ACTIONS_RUNNER_HOOK_JOB_STARTED" && echo writable || echo fixed)"
files=$(ls -A /tmp/litter /var/tmp/litter ~/litter 2>/dev/null | wc -l)
say "litter $files $(pgrep -c -u runner sleep)"
touch /tmp/litter /var/tmp/litter ~/litter
setsid sleep 1000 >/dev/null 2>&1 </dev/null &
"""


@dataclass
class GitHub:
    """What stands for it, and what it was told."""

    url: str = ""
    said: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def of(self, word: str) -> list[str]:
        return [line.split(" ", 1)[1] for line in self.said if line.split(" ", 1)[0] == word]


@contextmanager
def standing_for_github(address: str) -> Iterator[GitHub]:
    github = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            answer = b"{}"
            if self.path == "/said":
                github.said.append(body)
            else:
                github.asked.append((self.path, self.headers.get("Authorization", "")))
                answer = json.dumps({"token": f"REGISTRATION{len(github.asked)}"}).encode()
            self._answer(answer)

        def do_GET(self) -> None:
            self._answer(archive(github.url))

        def _answer(self, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *words: Any) -> None:
            pass

    server = ThreadingHTTPServer((address, 0), Handler)
    github.url = f"http://{address}:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def archive(url: str) -> bytes:
    """The runner's archive: the same bytes each time."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as tar:
        for name, text in (("config.sh", CONFIG), ("run.sh", RUN), ("url", url)):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o755
            tar.addfile(entry, io.BytesIO(text.encode()))
    content = bytearray(out.getvalue())
    content[4:8] = bytes(4)  # gzip's time
    return bytes(content)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with booted(f"mgtest-runner-{os.getpid()}", {}) as found:
        yield found


@pytest.fixture(scope="module")
def github(machine: Machine) -> Iterator[GitHub]:
    with standing_for_github(machine.gateway) as found:
        yield found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys and variables of whoever calls the playbook."""
    return tmp_path_factory.mktemp("runner")


@pytest.fixture(scope="module")
def installed(machine: Machine, github: GitHub, place: Path) -> Machine:
    """After the playbook, and after the second job's end."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / "key"], check=True)
    public = (place / "key.pub").read_text().strip()
    machine.run(f"install -d -m 700 /root/.ssh; echo '{public}' > /root/.ssh/authorized_keys")
    machine.run("systemctl start ssh")
    keys = machine.run("cat /etc/ssh/ssh_host_ed25519_key.pub").split()
    (place / "known").write_text(f"{machine.address} {keys[0]} {keys[1]}\n")
    (place / "token").write_text(f"{TOKEN}\n")
    play(machine, github, place)
    deadline = time.monotonic() + WITHIN_S
    while len(github.of("litter")) < JOBS:
        assert time.monotonic() < deadline, machine.run("journalctl -u mitigauge-runner | tail -40")
        time.sleep(1)
    return machine


def play(machine: Machine, github: GitHub, place: Path, **more: object) -> str:
    given = {
        "ci_runner_repository": REPO,
        "ci_runner_version": "2.300.0",
        "ci_runner_sha256": hashlib.sha256(archive(github.url)).hexdigest(),
        "ci_runner_archive": f"{github.url}/runner.tar.gz",
        "ci_runner_token_file": str(place / "token"),
        "ci_runner_api": github.url,
        "ci_runner_url": github.url,
        "ansible_user": "root",
        "ansible_ssh_private_key_file": str(place / "key"),
        "ansible_ssh_common_args": f"-o UserKnownHostsFile={place / 'known'}",
    } | more
    with (place / "vars.yml").open("w") as file:
        YAML().dump(given, file)
    done = subprocess.run(
        ["ansible-playbook", "-i", f"{machine.address},", "playbooks/ci_runner.yml",
         "-e", f"@{place / 'vars.yml'}"],
        cwd=REPOSITORY / "ansible", capture_output=True, text=True, check=False,
        env={**os.environ, "ANSIBLE_CONFIG": str(REPOSITORY / "ansible/ansible.cfg")},
    )  # fmt: skip
    print(done.stdout[-3000:], done.stderr[-2000:])
    assert more or done.returncode == 0
    return done.stdout


def test_each_job_has_a_registration_of_its_own(installed: Machine, github: GitHub) -> None:
    del installed
    path, told = github.asked[0]
    assert path == f"/repos/{REPO}/actions/runners/registration-token"
    assert told == f"Bearer {TOKEN}"
    said = github.of("configured")[:JOBS]
    for number, line in enumerate(said, start=1):
        assert line.startswith("runner "), line
        assert "--ephemeral" in line
        assert "--labels mitigauge-lab" in line
        assert f"--url {github.url}/{REPO}" in line
        assert f"--token REGISTRATION{number} " in line


def test_strangers_jobs_end_before_they_begin(installed: Machine, github: GitHub) -> None:
    del installed
    assert github.of("ours")[0] == "ran"
    for word in ("stranger", "branch", "other", "workflow"):
        assert set(github.of(word)) == {"refused"}, word


def test_a_job_cannot_reach_what_is_root_s(installed: Machine, github: GitHub) -> None:
    assert set(github.of("token")) == {"hidden"}
    assert set(github.of("root")) == {"no"}
    assert set(github.of("guard")) == {"fixed"}
    assert installed.run("stat -c '%U %a' /etc/mitigauge-runner/token").strip() == "root 400"


def test_nothing_is_left_of_a_job(installed: Machine, github: GitHub) -> None:
    del installed
    # Files and processes that the job before left.
    assert github.of("litter")[:JOBS] == ["0 0"] * JOBS


def test_an_archive_that_is_another_one_is_refused(
    installed: Machine, github: GitHub, place: Path
) -> None:
    installed.run("rm /opt/mitigauge-runner/runner.tar.gz")
    said = play(installed, github, place, ci_runner_sha256="0" * 64)
    assert "checksum" in said
    said = play(installed, github, place, ci_runner_repository="us/mitigauge; reboot")
    assert "OWNER/NAME" in said
