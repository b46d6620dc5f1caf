"""Words between a guest and its host over a virtio port: no network, and silent while unused.

The host sends lines. The guest answers in frames: a line `MITIGAUGE KIND LENGTH`, and its bytes.
The guest's half is `guest/channel`.
"""

from __future__ import annotations

import re
import select
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from _kit.guest import Addition, LabFault

CONNECT_S = 20.0
# How often somebody looks whether the guest still lives, once its answer is late.
LOOK_S = 0.2
HEADER = re.compile(rb"MITIGAUGE ([A-Z-]{1,32}) ([0-9]{1,9})")
LONGEST_HEADER = 128
LARGEST_BODY = 16 << 20
CHUNK = 1 << 16


class Frame(NamedTuple):
    """What a guest said."""

    kind: str
    body: bytes

    @property
    def text(self) -> str:
        """The body as text, whatever it is."""
        return self.body.decode(errors="replace")


def addition(socket_path: Path) -> Addition:
    """What gives a guest the port."""
    return Addition(
        [
            "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=channel,path={socket_path},server=on,wait=off",
            "-device", "virtserialport,chardev=channel,name=mitigauge",
        ]
    )  # fmt: skip


class Channel:
    """The host's end. Every wait is bounded; what breaks the form is a fault of the guest."""

    def __init__(self, path: Path, check: Callable[[], object]) -> None:
        """`check` raises where the guest is gone."""
        self.check, self._buffer = check, bytearray()
        self._socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + CONNECT_S
        while True:
            try:
                self._socket.connect(str(path))
                return
            except OSError as error:
                check()
                if time.monotonic() > deadline:
                    self._socket.close()
                    raise LabFault("guest-channel", f"QEMU's port at {path}: {error}") from None
                time.sleep(0.05)

    def close(self) -> None:
        """Let the port go."""
        self._socket.close()

    def fileno(self) -> int:
        """For `select`."""
        return self._socket.fileno()

    def send(self, line: str) -> None:
        """A line to the guest."""
        try:
            self._socket.settimeout(CONNECT_S)
            self._socket.sendall(line.encode() + b"\n")
        except OSError as error:
            raise LabFault("guest-channel", f"the guest's port: {error}") from None

    def receive(self, quiet_s: float, limit_s: float) -> Frame:
        """The next frame. Before `quiet_s` nothing looks: looking would be measured too."""
        began = time.monotonic()
        while (frame := self.taken()) is None:
            waited = time.monotonic() - began
            if waited > limit_s:
                raise LabFault("guest-hang", f"the guest gave no answer within {limit_s:g} s")
            if waited >= quiet_s:
                self.check()
            self.fill(max(quiet_s - waited, LOOK_S))
        return frame

    def fill(self, timeout_s: float) -> None:
        """Read what there is, waiting for it up to `timeout_s`."""
        if not select.select([self._socket], [], [], timeout_s)[0]:
            return
        try:
            read = self._socket.recv(CHUNK)
        except OSError as error:
            raise LabFault("guest-channel", f"the guest's port: {error}") from None
        if not read:
            self.check()
            raise LabFault("guest-channel", "the guest's port was closed")
        self._buffer += read

    def taken(self) -> Frame | None:
        """A frame that is there as a whole."""
        end = self._buffer.find(b"\n", 0, LONGEST_HEADER)
        if end < 0:
            if len(self._buffer) >= LONGEST_HEADER:
                raise self._broken()
            return None
        header = HEADER.fullmatch(self._buffer[:end])
        if not header or int(header[2]) > LARGEST_BODY:
            raise self._broken()
        length = int(header[2])
        if len(self._buffer) < end + 1 + length:
            return None
        body = bytes(self._buffer[end + 1 : end + 1 + length])
        del self._buffer[: end + 1 + length]
        return Frame(header[1].decode(), body)

    def _broken(self) -> LabFault:
        return LabFault("guest-channel", f"no frame: {bytes(self._buffer[:LONGEST_HEADER])!r}")
