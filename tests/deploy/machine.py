"""A machine as an administrator has it: a container that booted systemd."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# The machine's own control groups are those of its container, in systemd's form.
BOOT = (
    "umount --recursive /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup; "
    "exec /lib/systemd/systemd"
)
# What systemd needs of a container to be what it is on a machine.
RIGHTS = [
    *(f"--cap-add={name}" for name in ("SYS_ADMIN", "NET_ADMIN", "SYS_PTRACE")),
    *(f"--security-opt={part}=unconfined" for part in ("seccomp", "apparmor", "systempaths")),
]


@dataclass
class Machine:
    """A container that booted systemd."""

    name: str

    def run(self, command: str, fails: bool = False, timeout_s: float = 900) -> str:
        """What root's shell prints there."""
        print("#", command, flush=True)
        done = subprocess.run(
            ["docker", "exec", self.name, "bash", "-c", command],
            capture_output=True, text=True, timeout=timeout_s, check=False,
        )  # fmt: skip
        print(done.stdout[-3000:], done.stderr[-3000:], flush=True)
        assert fails or done.returncode == 0, f"{command}: {done.returncode}: {done.stderr}"
        return done.stdout

    def pid(self, service: str) -> int:
        return int(self.run(f"systemctl show --property MainPID --value {service}"))

    @property
    def address(self) -> str:
        """Its address in the network of containers."""
        form = "{{.NetworkSettings.IPAddress}}"
        words = ["docker", "inspect", "--format", form, self.name]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()

    @property
    def gateway(self) -> str:
        """This machine's address as it reaches it."""
        form = "{{.NetworkSettings.Gateway}}"
        words = ["docker", "inspect", "--format", form, self.name]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def booted(name: str, places: Mapping[Path, str]) -> Iterator[Machine]:
    """A machine that is up; *places* of this one are seen there, and not written to."""
    machine = Machine(name)
    volumes = [f"--volume={outside}:{inside}:ro" for outside, inside in places.items()]
    subprocess.run(
        ["docker", "run", "--detach", "--name", name, *RIGHTS, "--cgroupns", "private",
         "--tmpfs", "/run", "--tmpfs", "/tmp:exec", *volumes,
         os.environ["MITIGAUGE_MACHINE_IMAGE"], "bash", "-c", BOOT],
        check=True, capture_output=True,
    )  # fmt: skip
    try:
        machine.run(
            "for i in $(seq 120); do case $(systemctl is-system-running) in "
            "running|degraded) break ;; esac; sleep 0.5; done"
        )
        yield machine
    finally:
        subprocess.run(["docker", "rm", "--force", "--volumes", name], check=False)
