"""README's "On hosts of yours" followed to the letter, on a cloud image that Debian's tool made.

The commands are those that README shows, in its order, with HOST, NAME, FILE and ID replaced. What
README leaves to its reader (fill in, copy, mend what is missing) is done as the text around says.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.storage.database import embedded_server
from tests.lab.bare_host import BareHost, running
from tests.lab.bare_image import bare_image
from tests.ports import free_port
from tests.unit.docs.pages import blocks, page, section, spans

pytestmark = pytest.mark.lab

HOST, NAME = "bare-01", "bare"
COMMAND = ".venv/bin/mitigauge"
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".mitigauge", "node_modules", "__pycache__", ".*_cache"
)
# One family that needs nothing of an emulated processor; its state is read back on every boot.
ARMS = [{"name": "off", "mode": "nx-huge-pages/off"}, {"name": "on", "mode": "nx-huge-pages/on"}]
BLOCKS = 1
SERVE_TIMEOUT_S = 120
COMMAND_TIMEOUT_S = 600
RUN_TIMEOUT_S = 3600
MOST_MENDS = 5


def steps() -> list[str]:
    """The numbered steps of README, each as one text."""
    text = section(page("README.md"), "On hosts of yours")
    found = re.findall(r"^\d+\. (.*?)(?=^\d+\. |^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    return [" ".join(step.split()) for step in found]


def commands(step: str) -> list[str]:
    """The commands that a step shows."""
    return [span for span in spans(step) if span.startswith(COMMAND)]


@dataclass
class Reader:
    """Somebody with a checkout, a machine and README."""

    house: Path
    host: BareHost
    port: int
    words: dict[str, str] = field(default_factory=lambda: {"HOST": HOST, "NAME": NAME})

    @property
    def environment(self) -> dict[str, str]:
        """Of the reader's shell."""
        kept = {name: value for name, value in os.environ.items() if "MITIGAUGE" not in name}
        return kept | {
            "PYTHONPATH": str(self.house),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MITIGAUGE_HOME": str(self.house / ".mitigauge"),
            "MITIGAUGE_PORT": str(self.port),
        }

    def filled(self, command: str) -> list[str]:
        """The command's words, with the names of things for README's placeholders."""
        words = [self.words.get(word, word) for word in command.split()]
        left = [word for word in words if word.isupper() and word.isalpha()]
        assert not left, f"nobody said what {left} is in {command!r}"
        return words

    def types(
        self, command: str, *more: str, fails: bool = False, timeout_s: float = COMMAND_TIMEOUT_S
    ) -> str:
        """What a command of README prints; *more* are words that its own help offers."""
        print(f"$ {command} {' '.join(more)}", flush=True)
        done = subprocess.run(
            [*self.filled(command), *more],
            cwd=self.house, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=timeout_s, check=False,
        )  # fmt: skip
        print(done.stdout, done.stderr, flush=True)
        assert fails or done.returncode == 0, f"{command}: {done.returncode}: {done.stderr}"
        return done.stdout

    @contextmanager
    def starts(self, command: str) -> Iterator[Path]:
        """A command that stays; what it prints is in the file."""
        log = self.house / f"{command.rsplit(maxsplit=1)[-1]}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                self.filled(command), cwd=self.house, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            yield log
        finally:
            process.terminate()
            try:
                process.wait(timeout=120)
            finally:
                process.kill()  # none is left behind, whatever it waits for


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    """Where house and machine are.

    Not below pytest's own folder: another session closes that to the database server's user.
    """
    with tempfile.TemporaryDirectory(prefix="mgbare-") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def reader(directory: Path) -> Iterator[Reader]:
    """A checkout after `make setup`, and a machine that nobody of ours ever reached."""
    image = bare_image(get_settings().home / "bare-images")
    house = directory / "mitigauge"
    shutil.copytree(REPOSITORY, house, ignore=NOT_COPIED, symlinks=True)
    # What set-up makes: programs, and a database at head.
    (house / ".venv").symlink_to(sys.prefix)
    with running(image, directory / "machine") as host:
        # What an image does at its first boot alone is over before anybody looks at the host.
        host.reboot()
        found = Reader(house, host, free_port())
        found.types(f"{COMMAND} db upgrade")
        try:
            yield found
        finally:
            embedded_server.stop(house / ".mitigauge")


def fill_in(reader: Reader) -> None:
    """Step 2: the example, with this machine's address, power, key and processors."""
    example = reader.house / "ansible/envs/example"
    mine = shutil.copytree(example, reader.house / "ansible/envs" / NAME)
    yaml = YAML()
    hosts = yaml.load(mine / "hosts.yml")
    classes = hosts["all"]["children"]
    first, *others = list(classes)
    for name in others:
        del classes[name]
        (mine / "group_vars" / f"{name}.yml").unlink()
    classes[first]["hosts"] = {
        HOST: {
            "ansible_host": "127.0.0.1",
            "ansible_port": reader.host.port,
            "mitigauge_power": reader.host.power,
        }
    }
    yaml.dump(hosts, mine / "hosts.yml")
    of_class = yaml.load(mine / "group_vars" / f"{first}.yml")
    of_class |= {"mitigauge_class": "QEMU TCG EPYC-Rome, 1 vCPU", "mitigauge_cpus": "0"}
    yaml.dump(of_class, mine / "group_vars" / f"{first}.yml")
    everywhere = yaml.load(mine / "group_vars/all.yml")
    arguments = everywhere["ansible_ssh_common_args"]
    everywhere |= {
        "ansible_ssh_private_key_file": str(reader.host.key),
        "ansible_ssh_common_args": arguments.replace(
            "/etc/mitigauge/ssh/known_hosts", str(reader.host.known_hosts)
        ),
        "mitigauge_emulated": True,
        "mitigauge_capabilities": [],
    }
    yaml.dump(everywhere, mine / "group_vars/all.yml")


def mend(reader: Reader, command: str) -> None:
    """Step 3: look, do what is said of each thing that is missing, look again."""
    for _ in range(MOST_MENDS):
        said = reader.types(command, "--json", fails=True)
        missing = [item for item in json.loads(said) if item["state"] == "missing"]
        if not missing:
            return
        for item in missing:
            wanted = re.search(r"apt-get install ([a-z0-9 .+-]+)", item["mend"])
            assert wanted, f"no command mends {item}"
            reader.host.run(f"apt-get update && apt-get install -y {wanted[1]}", timeout_s=1200)
    pytest.fail(f"still missing after {MOST_MENDS} looks: {missing}")


def a_spec(reader: Reader) -> Path:
    """Step 4: a ready-made experiment, with this environment, host, arms and case."""
    yaml = YAML()
    spec = yaml.load(reader.house / "experiments/lab-small.yml")
    spec |= {"name": "bare", "environment": NAME, "blocks": BLOCKS}
    comparison = spec["comparisons"][0]
    comparison |= {"name": "nx-syscall", "hosts": [HOST], "baseline": "off", "arms": ARMS}
    comparison["workloads"] = [
        {"workload": "syscall", "cases": {"test": "basic", "loops": 100000}, "iterations": 2}
    ]
    del spec["comparisons"][1:]
    mine = reader.house / "experiments/bare.yml"
    yaml.dump(spec, mine)
    return mine


@pytest.fixture(scope="module")
def before(reader: Reader) -> dict[str, Any]:
    """The host as it is when it lacks nothing, before its first experiment."""
    fill_in(reader)
    [check] = commands(steps()[2])
    mend(reader, check)
    print(reader.types(check))
    return reader.host.snapshot()


@pytest.fixture(scope="module")
def report(reader: Reader, before: dict[str, Any]) -> str:
    """Steps 4 to 6: what the experiment's report says."""
    reader.words["FILE"] = str(a_spec(reader))
    serve, worker, submit, wait = commands(steps()[4])
    with reader.starts(serve) as served, reader.starts(worker):
        deadline = time.monotonic() + SERVE_TIMEOUT_S
        while "dashboard: http" not in served.read_text():
            assert time.monotonic() < deadline, served.read_text()
            time.sleep(0.5)
        said = reader.types(submit)
        found = re.search(r"experiment (\d+)", said)
        assert found, said
        reader.words["ID"] = found[1]
        reader.types(wait, timeout_s=RUN_TIMEOUT_S)
    [shown] = commands(steps()[5])
    return reader.types(shown)


def test_the_host_takes_part_in_an_experiment(reader: Reader, report: str) -> None:
    assert "nx-syscall" in report or "syscall basic" in report
    assert "emulated" in report.lower()
    shown = json.loads(reader.types(f"{COMMAND} experiment show ID", "--json"))
    boots = shown["boots"]
    assert [boot["state"] for boot in boots] == ["effective"] * len(ARMS) * BLOCKS
    # Every boot was another one, and showed the parameter that its arm asks for.
    assert len({boot["kernel_boot_id"] for boot in boots}) == len(boots)
    for boot in boots:
        value = "Y" if boot["arm"] == "on" else "N"
        assert f"kvm.nx_huge_pages: {value}" in boot["observed"]


@pytest.fixture(scope="module")
def after(reader: Reader, report: str) -> dict[str, Any]:
    """Step 7: the host when everything was put back."""
    [restore] = commands(steps()[6])
    said = reader.types(restore, timeout_s=1800)
    assert "/opt/mitigauge" in said
    assert "packages" in said
    again = reader.types(restore, timeout_s=1800)
    assert "nothing of ours is on this host" in again
    return reader.host.snapshot()


def allowed() -> list[tuple[str, str]]:
    """Kind and pattern of everything that docs/hosts.md names as left."""
    [block] = [b for b in blocks(page("docs/hosts.md")) if b.section == "What is left"]
    lines = [line.split() for line in block.text.splitlines() if not line.startswith("#")]
    return [(kind, pattern) for kind, pattern in lines]


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What differs of two looks at a host, but what the page names."""
    named = allowed()
    found = []
    for kind, was in before.items():
        now = after[kind]
        for name in sorted(was.keys() | now.keys()):
            expected = any(k == kind and fnmatchcase(name, pattern) for k, pattern in named)
            if was.get(name) != now.get(name) and not expected:
                found.append(f"{kind} {name}: {was.get(name)} → {now.get(name)}")
    return found


def test_a_difference_that_the_page_does_not_name_is_found() -> None:
    was = {"file": {"/etc/fstab": [1], "/var/log/x": [1]}, "package": {"perf": "1"}}
    now = {"file": {"/etc/fstab": [2], "/opt/new": [1]}, "package": {}}
    assert differences(was, now) == [
        "file /etc/fstab: [1] → [2]",
        "file /opt/new: None → [1]",
        "package perf: 1 → None",
    ]


def test_nothing_differs_but_what_the_page_names(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert len(before["file"]) > 10_000
    found = differences(before, after)
    assert not found, "\n".join(found)
