"""A guest of the operator's image: how QEMU boots it, and the session by SSH that serves the tests.

The session says on its standard output what our own guest says on its serial port.
"""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from _kit.contract import CaseError

# Apart from the network that is measured, and from QEMU's default one, which a case may use.
MANAGEMENT = "10.0.3.0/24"
MAC = "52:54:00:6d:67:01"
# A connection that was begun before the guest was up may hang; one to a slow guest takes its time.
# So each try gets half the time since the start, within these.
SHORTEST_TRY_S, LONGEST_TRY_S, RETRY_S = 5, 60, 1.0
# What ssh says where trying again cannot help.
REFUSED = ("Permission denied (", "Host key verification failed", "sudo: ")
TAIL_BYTES = 2048


def free_port() -> int:
    """A port of the loopback address that nobody holds for TCP."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def require_unchanged(disk: dict[str, Any]) -> None:
    """Raise CaseError where the image is not the one that the host was prepared with."""
    try:
        found = Path(disk["image"]).stat()
    except OSError as error:
        raise CaseError(f"guest image {disk['image']}: {error.strerror}") from None
    if (found.st_size, found.st_mtime_ns) != (disk["bytes"], disk["mtime_ns"]):
        raise CaseError(
            f"guest image {disk['image']} was changed since the host was prepared: begin a new run"
        )


def qemu_arguments(disk: dict[str, Any], port: int) -> list[str]:
    """A disk that forgets, and a network for SSH from `port` of this host alone."""
    # A comma ends a value there, unless it is doubled.
    file = str(disk["image"]).replace(",", ",,")
    return [
        "-drive", f"if=none,id=disk,file={file},format=qcow2,snapshot=on,cache=unsafe",
        "-device", "virtio-blk-pci,drive=disk,bootindex=1",
        # Its server is slow to start where the kernel has no randomness yet.
        "-device", "virtio-rng-pci",
        "-netdev", f"user,id=m0,net={MANAGEMENT},restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22",
        "-device", "virtio-net-pci,netdev=m0,romfile=",
    ]  # fmt: skip


class Session:
    """The shell in the guest that says what the guest is, and then serves the tests.

    Host keys are one boot's: the first is taken, and any other one in that boot is refused.
    """

    def __init__(
        self, disk: dict[str, Any], script: str, address: str, port: int, said: Path
    ) -> None:
        self.disk, self.said = disk, said
        self.errors = said.with_suffix(".stderr")
        self.folder = Path(tempfile.mkdtemp(prefix="mitigauge-guest-"))
        arguments = shlex.join(["set", "--", address, MAC])
        (self.folder / "script").write_text(f"{arguments}\n{script}")
        self.port, self.began = port, time.monotonic()
        self.process: subprocess.Popen[bytes] | None = None
        self.next_try = self.began

    def _command(self) -> list[str]:
        patience_s = min(max((time.monotonic() - self.began) / 2, SHORTEST_TRY_S), LONGEST_TRY_S)
        options = {
            "BatchMode": "yes", "IdentitiesOnly": "yes", "IdentityAgent": "none",
            "UserKnownHostsFile": self.folder / "known_hosts", "GlobalKnownHostsFile": "/dev/null",
            "StrictHostKeyChecking": "accept-new", "ConnectTimeout": round(patience_s),
            "ServerAliveInterval": 30, "LogLevel": "ERROR",
        }  # fmt: skip
        user = str(self.disk["user"])
        return [
            # Nothing of this host's own configuration decides.
            "ssh", "-F", "none", "-T", "-i", str(self.disk["key_file"]), "-l", user,
            "-p", str(self.port), *(f"-o{name}={value}" for name, value in options.items()),
            "127.0.0.1", "exec sh -s" if user == "root" else "exec sudo -n sh -s",
        ]  # fmt: skip

    def tend(self) -> str:
        """Start it where it is not up; why it is over, where it had begun and has ended.

        Raises CaseError where the guest lets nobody in.
        """
        if self.process is None:
            if time.monotonic() >= self.next_try:
                self._start()
            return ""
        status = self.process.poll()
        if status is None:
            return ""
        if self.said.stat().st_size:
            return f"its session ended with status {status}: {self._told()}"
        told = self._told()
        if any(word in told for word in REFUSED):
            raise CaseError(
                f"guest image {self.disk['image']} does not let {self.disk['user']} in with "
                f"{self.disk['key_file']}: {told}"
            )
        self.process, self.next_try = None, time.monotonic() + RETRY_S
        return ""

    def _start(self) -> None:
        script = self.folder / "script"
        with script.open("rb") as text, self.said.open("wb") as out, self.errors.open("wb") as err:
            self.process = subprocess.Popen(self._command(), stdin=text, stdout=out, stderr=err)

    def _told(self) -> str:
        return self.errors.read_bytes()[-TAIL_BYTES:].decode(errors="replace").strip()

    def stop(self) -> None:
        """End it, and forget the guest's host key."""
        if self.process:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
