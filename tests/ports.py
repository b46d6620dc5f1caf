"""Ports of loopback."""

from __future__ import annotations

import random
import socket
from contextlib import suppress
from pathlib import Path

EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST, TRIES = 10_000, 100


def free_port(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    """A port that nothing holds now, and that the kernel gives to nobody who asks for any port.

    Whoever is to listen there begins to only later. Were the port one that the kernel hands out,
    another server of these tests could get it meanwhile, and would answer in place of the first.
    Raises AssertionError.
    """
    ends = max(int(EPHEMERAL.read_text().split()[0]), LOWEST + TRIES)
    for port in random.sample(range(LOWEST, ends), TRIES):
        with suppress(OSError), socket.socket(socket.AF_INET, kind) as found:
            found.bind(("127.0.0.1", port))
            return port
    raise AssertionError(f"no free port of {TRIES} that were tried from {LOWEST} to {ends - 1}")
