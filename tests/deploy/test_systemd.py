"""`deploy/install` under systemd: services run, restart apart, are upgraded and put back."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.core.version import VERSION
from tests.deploy.machine import Machine, booted

pytestmark = pytest.mark.deploy

SERVICES = ("mitigauge-api", "mitigauge-worker")
# What `systemd-analyze security` says of a service without any protection is 9.6.
MOST_EXPOSED = 3.0


def wait_healthy(machine: Machine, within_s: float = 90) -> None:
    """Wait until all that runs there can work."""
    deadline = time.monotonic() + within_s
    while "FAILED" in (said := machine.run("mitigauge health --api --worker", fails=True)):
        assert time.monotonic() < deadline, said
        time.sleep(1)
    assert said.count("ok ") == 4, said


def build_wheel(directory: Path, version: str = VERSION) -> Path:
    """The package, of this tree; with another *version*, of a copy of it."""
    source = REPOSITORY
    if version != VERSION:
        source = directory / "other"
        tracked = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=REPOSITORY, capture_output=True, text=True, check=True,
        ).stdout.splitlines()  # fmt: skip
        for name in [*tracked, "web/dist", ".venv", ".mitigauge/tools"]:
            if not (REPOSITORY / name).exists():
                continue
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).symlink_to(REPOSITORY / name)
        told = source / "mitigauge/core/version.py"
        text = told.read_text()
        told.unlink()
        told.write_text(text.replace(VERSION, version))
        script = source / "scripts/lib.sh"
        script.unlink()
        script.write_text((REPOSITORY / "scripts/lib.sh").read_text())
    subprocess.run([source / "scripts/wheel", directory], check=True, cwd=source)
    return directory / f"mitigauge-{version}-py3-none-any.whl"


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """With Mitigauge installed by its one command."""
    with tempfile.TemporaryDirectory(prefix="mgsystemd-") as name:
        os.chmod(name, 0o755)
        wheel = build_wheel(Path(name))
        places = {
            REPOSITORY / "deploy": "/srv/deploy",
            REPOSITORY / "requirements": "/srv/requirements",
            Path(name): "/srv/wheels",
        }
        with booted(f"mgtest-machine-{os.getpid()}", places) as found:
            began = time.monotonic()
            found.run(f"/srv/deploy/install /srv/wheels/{wheel.name}")
            print(f"installed in {time.monotonic() - began:.0f} s")
            yield found
            found.run("journalctl -u 'mitigauge*' --no-pager | tail -n 60", fails=True)


def test_the_services_run_as_a_user_that_may_do_little(machine: Machine) -> None:
    wait_healthy(machine)
    for service in SERVICES:
        assert machine.run(f"systemctl is-active {service}").strip() == "active"
        assert machine.run(f"systemctl is-enabled {service}").strip() == "enabled"
        assert machine.run(f"ps -o user= -p {machine.pid(service)}").strip() == "mitigauge"
        said = machine.run(f"systemd-analyze security --no-pager {service} | tail -n 1", fails=True)
        [exposure] = re.findall(r"(\d+\.\d+) ", said)
        print(f"{service}: exposure {exposure}")
        assert float(exposure) <= MOST_EXPOSED


def test_the_command_is_the_service_s(machine: Machine) -> None:
    assert machine.run("mitigauge --version").strip() == VERSION
    token = re.search(r"mgt_\S+", machine.run("mitigauge token create alice --role admin"))
    assert token
    recorded = "/opt/mitigauge/current/lib/python3*/site-packages/mitigauge/share/db/recorded"
    machine.run(f"mitigauge experiment import {recorded}/lab-demo.mitigauge.zst")
    head = f'curl --silent --fail --header "Authorization: Bearer {token[0]}"'
    found = json.loads(machine.run(f"{head} http://127.0.0.1:8600/api/experiments"))
    assert "lab-demo" in json.dumps(found)
    assert "<!doctype html>" in machine.run("curl --silent --fail http://127.0.0.1:8600/")


def test_one_that_stops_harms_no_other(machine: Machine) -> None:
    api, worker = (machine.pid(service) for service in SERVICES)
    machine.run("systemctl restart mitigauge-api")
    assert machine.pid("mitigauge-worker") == worker
    api = machine.pid("mitigauge-api")
    machine.run("systemctl restart mitigauge-worker")
    assert machine.pid("mitigauge-api") == api
    worker = machine.pid("mitigauge-worker")
    machine.run("systemctl restart postgresql@17-main || systemctl restart postgresql")
    wait_healthy(machine)
    assert (machine.pid("mitigauge-api"), machine.pid("mitigauge-worker")) == (api, worker)
    # Whatever ends one: it comes back.
    machine.run(f"kill -9 {worker}")
    time.sleep(4)
    wait_healthy(machine)
    assert machine.pid("mitigauge-worker") not in {0, worker}


def test_a_newer_version_takes_over_and_the_old_one_can_come_back(
    machine: Machine, tmp_path: Path
) -> None:
    wheel = build_wheel(tmp_path, "0.1.0.post1")
    target = f"{machine.name}:/root/{wheel.name}"
    subprocess.run(["docker", "cp", str(wheel), target], check=True, capture_output=True)
    before = machine.run("cat /etc/mitigauge/secrets/* /etc/mitigauge/mitigauge.env")
    machine.run(f"/srv/deploy/install /root/{wheel.name}")
    wait_healthy(machine)
    assert machine.run("mitigauge --version").strip() == "0.1.0.post1"
    assert machine.run("cat /etc/mitigauge/secrets/* /etc/mitigauge/mitigauge.env") == before
    assert "lab-demo" in machine.run("mitigauge experiment list")
    machine.run(f"/srv/deploy/install /srv/wheels/mitigauge-{VERSION}-py3-none-any.whl")
    wait_healthy(machine)
    assert machine.run("mitigauge --version").strip() == VERSION


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "one wheel is wanted"),
        ("/nowhere.whl", "is not there"),
        ("/etc/passwd", "is no wheel of Mitigauge"),
    ],
)
def test_what_cannot_be_installed_is_said(machine: Machine, words: str, why: str) -> None:
    assert why in machine.run(f"/srv/deploy/install {words} 2>&1", fails=True)
