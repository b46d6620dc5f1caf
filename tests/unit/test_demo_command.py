"""What the demo checks before it starts anything."""

from __future__ import annotations

import socket

import pytest

from cli.demo import require_free_port
from mitigauge.errors import MitigaugeError


def test_a_port_that_is_taken_is_refused_with_the_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(MitigaugeError, match=str(port)) as refused:
            require_free_port("127.0.0.1", port)
    assert "MITIGAUGE_PORT" in refused.value.hint


def test_a_free_port_is_fine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as once_taken:
        port = once_taken.getsockname()[1]
    require_free_port("127.0.0.1", port)
