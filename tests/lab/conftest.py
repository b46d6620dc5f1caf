"""The real lab for tests: both hosts booted, and left as they were found."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from lab import machine, service, ssh
from lab.execution import execution_of
from lab.hosts import LabPaths
from lab.inventory import host_vars
from lab.progress import Silent
from mitigauge.core.settings import get_settings
from pipelines.adapters.console import FileConsole
from pipelines.adapters.power import PowerControl, open_power
from tests.lab.service_process import Service, served

BOOT_TIMEOUT_S = 480
_ENTRY = "lab-test"


@dataclass(frozen=True)
class Lab:
    """A lab that is up. Hosts go by name."""

    paths: LabPaths

    def run(self, name: str, command: str, timeout_s: float = 120) -> str:
        """What the command prints on the host; an error if it fails."""
        done = ssh.run(self.paths.host(name), command, timeout_s)
        assert done.returncode == 0, f"{name}: {command}: {done.returncode}: {done.stderr}"
        return done.stdout

    def send(self, name: str, command: str) -> None:
        """Start a command that takes the host, and so the connection, down."""
        host = self.paths.host(name)
        try:
            ssh.run(host, f"nohup sh -c '{command}' >/dev/null 2>&1 &", timeout_s=30)
        except subprocess.TimeoutExpired:
            # The host may be gone before it can say goodbye.
            return

    def variables(self, name: str) -> dict[str, Any]:
        """Inventory variables of the host."""
        host = self.paths.host(name)
        started = machine.started(host)
        return host_vars(host, started.execution if started else execution_of("tcg", None))

    def power(self, name: str) -> PowerControl:
        """The host's power."""
        return open_power(self.variables(name))

    def console(self, name: str) -> FileConsole:
        """What the host's serial line says."""
        return FileConsole(self.paths.host(name).serial_log)

    def boot_id(self, name: str) -> str:
        """Changes with every boot of the kernel."""
        return self.run(name, "cat /proc/sys/kernel/random/boot_id").strip()

    def wait_for_boot(self, name: str, before: str) -> str:
        """Wait for a login under another boot id than ``before``; returns the new one."""
        host = self.paths.host(name)
        deadline = time.monotonic() + BOOT_TIMEOUT_S
        while time.monotonic() < deadline:
            if ssh.banner(host, 2):
                try:
                    answer = ssh.run(host, "cat /proc/sys/kernel/random/boot_id")
                except subprocess.TimeoutExpired:
                    continue
                if answer.returncode == 0 and answer.stdout.strip() != before:
                    return answer.stdout.strip()
            time.sleep(0.5)
        tail = machine.serial_tail(host, 30)
        raise AssertionError(f"{name} did not boot in {BOOT_TIMEOUT_S} s:\n{tail}")

    def boot_once(self, name: str, parameters: Sequence[str]) -> str:
        """One boot with more kernel parameters, through GRUB; returns its command line."""
        script = f"""
            set -e
            linux=$(grep -m1 -o '/boot/vmlinuz-.*' /boot/grub/grub.cfg)
            cat > /boot/grub/custom.cfg <<END
menuentry {_ENTRY} --id {_ENTRY} {{
  search --no-floppy --label lab --set=root
  linux $linux {" ".join(parameters)}
}}
END
            grub-reboot {_ENTRY}
            sync
        """
        self.run(name, script)
        before = self.boot_id(name)
        self.send(name, "sleep 1; systemctl reboot")
        self.wait_for_boot(name, before)
        self.run(name, "rm /boot/grub/custom.cfg")
        return self.run(name, "cat /proc/cmdline").strip()


LabOf = Callable[..., Lab]


@pytest.fixture(scope="session")
def lab_of() -> Iterator[LabOf]:
    """Brings hosts up by name; those that this session started go down after it."""
    with pytest.MonkeyPatch.context() as patch:
        paths = LabPaths.of(get_settings())
        if not any(machine.pid(host) for host in paths.hosts()):
            patch.setenv("MITIGAUGE_LAB_PORT_BASE", str(free_port_base(paths)))
            get_settings.cache_clear()
            paths = LabPaths.of(get_settings())
        started: list[str] = []

        def up(*names: str) -> Lab:
            started.extend(service.up(paths, Silent(), names=names))
            return Lab(paths)

        yield up
        if started:
            service.down(paths, Silent(), names=started)
    get_settings.cache_clear()


@pytest.fixture(scope="session")
def lab(lab_of: LabOf) -> Lab:
    """Both hosts up."""
    return lab_of()


@pytest.fixture(name="service")
def working_service(
    request: pytest.FixtureRequest,
    lab_of: LabOf,
    module_engine: tuple[Engine, str],
    tmp_path: Path,
) -> Iterator[Service]:
    """A service with a worker, and the host up that the module names (``HOST``)."""
    lab_of(request.module.HOST)
    with served(module_engine, tmp_path / "worker.log") as own:
        yield own


def free_port_base(paths: LabPaths) -> int:
    """Where nobody listens: another checkout's tests may have a lab up."""
    for base in range(paths.port_base, paths.port_base + 1000, 20):
        if all(is_free(base + host.spec.port_offset) for host in paths.hosts()):
            return base
    raise AssertionError(f"no free ports from {paths.port_base} up")


def is_free(port: int) -> bool:
    """Whether nobody listens on a port of loopback."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
