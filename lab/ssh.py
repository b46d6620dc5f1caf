"""SSH to lab hosts: keys, known hosts, the first real login."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

from lab.errors import LabError
from lab.hosts import Host, LabPaths
from lab.recipe import public_half

# Key exchange takes seconds in emulation, more with a busy neighbour.
CONNECT_TIMEOUT_S = 30


def ensure_keys(paths: LabPaths) -> None:
    """Make the lab's login key and its hosts' key once; write known_hosts."""
    paths.key.parent.mkdir(parents=True, exist_ok=True)
    paths.key.parent.chmod(0o700)
    for key in (paths.key, paths.host_key):
        if not key.exists():
            _generate(key)
    host_key = " ".join(public_half(paths.host_key).read_text("utf-8").split()[:2])
    lines = [f"[127.0.0.1]:{host.ssh_port} {host_key}\n" for host in paths.hosts()]
    paths.known_hosts.write_text("".join(lines), "utf-8")


def common_options(paths: LabPaths) -> list[str]:
    """SSH options that hold for every lab host."""
    return [
        *("-o", f"UserKnownHostsFile={paths.known_hosts}"),
        *("-o", "GlobalKnownHostsFile=/dev/null"),
        *("-o", "StrictHostKeyChecking=yes"),
        *("-o", "IdentitiesOnly=yes"),
        *("-o", "KexAlgorithms=curve25519-sha256"),
        *("-o", f"ConnectTimeout={CONNECT_TIMEOUT_S}"),
        *("-o", "ServerAliveInterval=15"),
        *("-o", "ServerAliveCountMax=4"),
    ]


def command(host: Host, *remote: str) -> list[str]:
    """An ``ssh`` call to the host that asks nothing and reads no configuration."""
    return [
        *("ssh", "-F", "/dev/null", "-T"),
        *("-i", str(host.paths.key), "-p", str(host.ssh_port)),
        *("-o", "BatchMode=yes"),
        *common_options(host.paths),
        "root@127.0.0.1",
        *remote,
    ]


def run(host: Host, remote: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    """Run a shell command on the host; the caller looks at the status."""
    return subprocess.run(
        command(host, remote),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def banner(host: Host, timeout_s: float = 5) -> bool:
    """True if an SSH server, not only QEMU's forwarding, answers on the host's port."""
    try:
        with socket.create_connection(("127.0.0.1", host.ssh_port), timeout_s) as connection:
            connection.settimeout(timeout_s)
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def logs_in(host: Host) -> bool:
    """True if a login runs ``true``."""
    try:
        return run(host, "true", timeout_s=CONNECT_TIMEOUT_S + 15).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _generate(key: Path) -> None:
    try:
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "mitigauge-lab", "-f", str(key)],
            check=True,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError as error:
        raise LabError(
            "ssh-keygen is not installed.", hint="Install what lab/packages.txt lists."
        ) from error
    except subprocess.CalledProcessError as error:
        raise LabError(f"ssh-keygen could not make {key}: {error.stderr.strip()}") from error
