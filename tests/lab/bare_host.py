"""A machine with an image of its distribution's own making, as somebody's server would be."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.execution import PROGRAM, execution_of
from lab.qemu import qmp_arguments
from mitigauge.core.clock import Clock
from tests.lab.bare_image import key_of
from tests.ports import free_port

CPU = "EPYC-Rome"
MEMORY_MIB = 1024
# Above what firmware keeps for itself.
CLEARED_FROM = 1 << 20
LOGIN_TIMEOUT_S = 600
SNAPSHOT = Path(__file__).with_name("host_snapshot.py")


@dataclass(frozen=True)
class BareHost:
    """A machine that runs, reached as root by key at a port of this one."""

    directory: Path
    key: Path
    port: int

    @property
    def known_hosts(self) -> Path:
        """Where its host keys are pinned."""
        return self.directory / "known_hosts"

    @property
    def power(self) -> dict[str, Any]:
        """What an inventory says of its power: the emulator is its controller."""
        return {
            "driver": "qemu",
            "qmp": str(self.directory / "power.sock"),
            "serial_log": str(self.directory / "serial.log"),
        }

    def run(self, command: str, *, given: str = "", timeout_s: float = 300) -> str:
        """What a command prints on the host; an error if it fails."""
        done = self._ssh(command, given, timeout_s)
        assert done.returncode == 0, f"{command}: {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def snapshot(self) -> dict[str, Any]:
        """What the host is: see host_snapshot.py."""
        found: dict[str, Any] = json.loads(
            self.run("python3 -", given=SNAPSHOT.read_text(), timeout_s=900)
        )
        return found

    def reboot(self) -> None:
        """Reboot as its owner would, and wait for the next login."""
        before = self.run("cat /proc/sys/kernel/random/boot_id")
        self.run("systemd-run --quiet --on-active=1s systemctl reboot")
        deadline = time.monotonic() + LOGIN_TIMEOUT_S
        while time.monotonic() < deadline:
            time.sleep(3)
            with suppress(subprocess.TimeoutExpired):
                said = self._ssh("cat /proc/sys/kernel/random/boot_id", "", 60)
                if said.returncode == 0 and said.stdout != before:
                    return
        raise AssertionError(f"not up again within {LOGIN_TIMEOUT_S} s, see {self.directory}")

    def pin(self) -> None:
        """Wait for the first login and keep the host's keys, as its owner would by its console."""
        deadline = time.monotonic() + LOGIN_TIMEOUT_S
        while time.monotonic() < deadline:
            time.sleep(3)
            scan = ["ssh-keyscan", "-T", "20", "-p", str(self.port), "127.0.0.1"]
            keys = subprocess.run(scan, capture_output=True, text=True, check=False).stdout
            if not keys:
                continue
            self.known_hosts.write_text(keys)
            with suppress(subprocess.TimeoutExpired):
                if self._ssh("true", "", 60).returncode == 0:
                    return
        raise AssertionError(f"no login within {LOGIN_TIMEOUT_S} s, see {self.directory}")

    def _ssh(self, command: str, given: str, timeout_s: float) -> subprocess.CompletedProcess[str]:
        options = [f"UserKnownHostsFile={self.known_hosts}", "StrictHostKeyChecking=yes"]
        options += ["BatchMode=yes", "IdentitiesOnly=yes", "ConnectTimeout=30"]
        words = [word for option in options for word in ("-o", option)]
        return subprocess.run(
            ["ssh", "-F", "/dev/null", "-T", "-i", str(self.key), "-p", str(self.port), *words,
             "root@127.0.0.1", command],
            input=given, capture_output=True, text=True, timeout=timeout_s, check=False,
        )  # fmt: skip


@contextmanager
def running(image: Path, directory: Path) -> Iterator[BareHost]:
    """The machine with a disk of its own over *image*; it is ended with the block."""
    directory.mkdir(parents=True, exist_ok=True)
    disk = directory / "disk.qcow2"
    subprocess.run(
        ["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(image), str(disk)],
        check=True,
    )
    with (directory / "zeros").open("wb") as zeros:
        zeros.truncate((MEMORY_MIB << 20) - CLEARED_FROM)
    host = BareHost(directory, key_of(image), free_port())
    with (directory / "qemu.log").open("wb") as log:
        process = subprocess.Popen(
            _arguments(host, disk), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        host.pin()
        yield host
    finally:
        process.terminate()
        process.wait(timeout=30)


def _arguments(host: BareHost, disk: Path) -> list[str]:
    """QEMU's arguments: an ordinary PC that knows nothing of Mitigauge."""
    return [
        PROGRAM,
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-shutdown"),
        *("-machine", "q35"),
        *execution_of("tcg", Clock.REAL).arguments(),
        # A second emulated processor now and then loses the race over patched code.
        *("-cpu", CPU, "-smp", "1", "-m", str(MEMORY_MIB)),
        *("-vga", "std"),
        # At each reset: the emulator is slow to write where it has translated code, so that
        # GRUB took more than three minutes to load the next kernel (lab/qemu.py).
        *("-device", f"loader,file={host.directory / 'zeros'},addr={CLEARED_FROM},force-raw=on"),
        *("-drive", f"file={disk},if=virtio,format=qcow2,cache=unsafe"),
        *("-netdev", f"user,id=net,hostfwd=tcp:127.0.0.1:{host.port}-:22"),
        *("-device", "virtio-net-pci,netdev=net"),
        *("-device", "virtio-rng-pci"),
        *("-device", "i6300esb", "-action", "watchdog=reset"),
        *("-serial", f"file:{host.power['serial_log']}"),
        *qmp_arguments("power", Path(host.power["qmp"])),
    ]
