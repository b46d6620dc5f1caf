"""A guest made of an image of the operator's: a disk that starts by itself and lets SSH in.

Its disk is left as it is: what the guest writes goes with it. SSH comes through a network device
of its own that leads nowhere else; the measured one is set up over SSH.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

from guest import Endpoint, Guest, GuestProfile, LabFault, free_port, tail

SERVE = Path(__file__).resolve().with_name("image-serve.sh")
CONTROL = "52:54:00:6d:67:02"
# What ssh itself ends with where it reached nobody.
NOT_REACHED = 255
RETRY_S = 1.0


class ImageGuest(Guest):
    """A guest whose lines come over SSH; all else is as of the measuring guest."""

    def __init__(self, *arguments: Any) -> None:
        self.control = free_port()
        self.session: subprocess.Popen[bytes] | None = None
        self.tried_at = 0.0
        super().__init__(*arguments)
        output: Path = self.serial.parent
        self.said = output / self.serial.name.replace("serial", "ssh")
        self.complaints = self.said.with_suffix(".stderr")

    def started_by(self, end: Endpoint, profile: GuestProfile | None) -> list[str]:
        """QEMU's arguments for the device that SSH comes through."""
        del profile
        self.address = end.guest_address
        forward = f"hostfwd=tcp:127.0.0.1:{self.control}-:22"
        return [
            "-netdev", f"user,id=control,net=10.0.3.0/24,restrict=on,{forward}",
            "-device", f"virtio-net-pci,netdev=control,romfile=,mac={CONTROL}",
        ]  # fmt: skip

    def heard(self) -> str:
        """What came over SSH so far; asks for it once somebody can be reached."""
        self._talk()
        serial = super().heard()
        return serial + (self.said.read_text(errors="replace") if self.said.exists() else "")

    def fault(self, kind: str, what: str) -> LabFault:
        """With what ssh complained of last, which is why nobody got in."""
        return super().fault(kind, f"{what}; ssh: {tail(self.complaints) or 'said nothing'}")

    def stop(self) -> None:
        """Kill both."""
        if self.session:
            self.session.kill()
            self.session.wait()
        super().stop()

    def _talk(self) -> None:
        """Begin the session, again and again until the guest's SSH server takes it."""
        if self.session and self.session.poll() is None:
            return
        served = self.said.exists() and self.manifest["ready_marker"] in self.said.read_text()
        ended = self.session.returncode if self.session else NOT_REACHED
        if served or ended != NOT_REACHED:
            raise self.fault("guest-hang", f"SSH ended with {ended}")
        if time.monotonic() - self.tried_at < RETRY_S:
            return
        self.tried_at = time.monotonic()
        script = f"CONTROL={CONTROL}\nADDRESS={self.address}\n{SERVE.read_text()}"
        with self.said.open("wb") as said, self.complaints.open("ab") as complaints:
            self.session = subprocess.Popen(
                self._ssh(), stdin=subprocess.PIPE, stdout=said, stderr=complaints
            )
        assert self.session.stdin is not None
        try:
            with self.session.stdin as pipe:
                pipe.write(script.encode())
        except BrokenPipeError:
            # It ended already; the next look tells why.
            return

    def _ssh(self) -> list[str]:
        image = self.manifest["image"]
        user = str(image["user"])
        # The other end is the machine that was started a moment ago, on a port of loopback.
        options = (
            "BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=no",
            "UserKnownHostsFile=/dev/null", "GlobalKnownHostsFile=/dev/null", "LogLevel=ERROR",
            "ConnectTimeout=10", "ConnectionAttempts=1",
        )  # fmt: skip
        return [
            "ssh", "-F", "none", "-T", "-i", str(image["key"]), "-p", str(self.control),
            *(word for option in options for word in ("-o", option)),
            f"{user}@127.0.0.1", "sh -s" if user == "root" else "sudo -n sh -s",
        ]  # fmt: skip
