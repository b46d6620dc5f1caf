"""Somebody who follows README's "On hosts of yours" to the letter, with a machine.

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
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from mitigauge.core.settings import REPOSITORY
from mitigauge.storage.database import embedded_server
from tests.lab.bare_host import BareHost
from tests.ports import free_port
from tests.unit.docs.pages import blocks, page, section, spans

HOST, NAME = "bare-01", "bare"
COMMAND = ".venv/bin/mitigauge"
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".mitigauge", "node_modules", "__pycache__", ".*_cache"
)


@dataclass(frozen=True)
class ReadersArm:
    """An arm of the reader's experiment. *observed*: what the kernel says where it is in force."""

    name: str
    mode: str
    observed: str


# One family that needs nothing of an emulated processor; its state is read back on every boot.
ARMS = (
    ReadersArm("off", "nx-huge-pages/off", "kvm.nx_huge_pages: N"),
    ReadersArm("on", "nx-huge-pages/on", "kvm.nx_huge_pages: Y"),
)
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
    arms: Sequence[ReadersArm] = ARMS

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
    comparison |= {"name": "nx-syscall", "hosts": [HOST], "baseline": "off"}
    comparison["arms"] = [{"name": arm.name, "mode": arm.mode} for arm in reader.arms]
    comparison["workloads"] = [
        {"workload": "syscall", "cases": {"test": "basic", "loops": 100000}, "iterations": 2}
    ]
    del spec["comparisons"][1:]
    mine = reader.house / "experiments/bare.yml"
    yaml.dump(spec, mine)
    return mine


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


@contextmanager
def moved_in(house: Path, host: BareHost) -> Iterator[Reader]:
    """A checkout after `make setup` at *house*, for a machine that nobody of ours ever reached."""
    shutil.copytree(REPOSITORY, house, ignore=NOT_COPIED, symlinks=True)
    # What set-up makes: programs, and a database at head.
    (house / ".venv").symlink_to(sys.prefix)
    # What an image does at its first boot alone is over before anybody looks at the host.
    host.reboot()
    reader = Reader(house, host, free_port())
    reader.types(f"{COMMAND} db upgrade")
    try:
        yield reader
    finally:
        embedded_server.stop(house / ".mitigauge")


def look(reader: Reader) -> dict[str, Any]:
    """Steps 2 and 3; the host as it is when it lacks nothing, before its first experiment."""
    fill_in(reader)
    [check] = commands(steps()[2])
    mend(reader, check)
    print(reader.types(check))
    return reader.host.snapshot()


def measure(reader: Reader) -> str:
    """Steps 4 to 6: what the experiment's report says."""
    reader.words["FILE"] = str(a_spec(reader))
    serve, worker, submit, wait = commands(steps()[4])
    with reader.starts(serve) as served, reader.starts(worker):
        deadline = time.monotonic() + SERVE_TIMEOUT_S
        while "dashboard: http" not in served.read_text():
            assert time.monotonic() < deadline, served.read_text()
            time.sleep(0.5)
        submitted = reader.types(submit)
        number = re.search(r"experiment (\d+)", submitted)
        assert number, submitted
        reader.words["ID"] = number[1]
        reader.types(wait, timeout_s=RUN_TIMEOUT_S)
    [shown] = commands(steps()[5])
    return reader.types(shown)


def require_effective(reader: Reader) -> list[dict[str, Any]]:
    """The experiment's boots: each another one, and each in the state that its arm asks for."""
    shown = json.loads(reader.types(f"{COMMAND} experiment show ID", "--json"))
    boots: list[dict[str, Any]] = shown["boots"]
    assert [boot["state"] for boot in boots] == ["effective"] * len(reader.arms) * BLOCKS
    assert len({boot["kernel_boot_id"] for boot in boots}) == len(boots)
    observed = {arm.name: arm.observed for arm in reader.arms}
    for boot in boots:
        assert observed[boot["arm"]] in boot["observed"]
    return boots


def put_back(reader: Reader) -> dict[str, Any]:
    """Step 7: the host when everything was put back."""
    [restore] = commands(steps()[6])
    printed = reader.types(restore, timeout_s=1800)
    assert "/opt/mitigauge" in printed
    assert "packages" in printed
    again = reader.types(restore, timeout_s=1800)
    assert "nothing of ours is on this host" in again
    return reader.host.snapshot()
