"""Ports for servers of tests."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests import ports

pytestmark = pytest.mark.usefixtures("two_ports")
# Below those of other tests that run now.
FIRST, SECOND = 9_000, 9_001


@pytest.fixture
def two_ports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As if the kernel gave away all but two."""
    said = tmp_path / "ip_local_port_range"
    said.write_text(f"{SECOND + 1}\t60999\n")
    monkeypatch.setattr(ports, "EPHEMERAL", said)
    monkeypatch.setattr(ports, "LOWEST", FIRST)
    monkeypatch.setattr(ports, "TRIES", 2)


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_no_port_is_one_that_the_kernel_may_give_to_another(kind: socket.SocketKind) -> None:
    assert {ports.free_port(kind) for _ in range(50)} <= {FIRST, SECOND}


def test_a_port_that_is_held_is_not_given() -> None:
    with socket.create_server(("127.0.0.1", FIRST)):
        assert ports.free_port() == SECOND
        with socket.create_server(("127.0.0.1", SECOND)), pytest.raises(AssertionError, match="no"):
            ports.free_port()
