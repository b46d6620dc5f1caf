"""What the demo checks before it starts anything."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from cli.demo import _hosts_to_start, named_hosts, require_free_port
from cli.processes import running
from mitigauge.core.errors import MitigaugeError
from mitigauge.core.settings import REPOSITORY


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


def test_the_key_reaches_the_service_without_standing_on_a_command_line(
    home: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path_factory.mktemp("program") / "program"
    program.write_text('#!/bin/sh\necho "arguments: $*"\nread key\necho "read: $key"\n')
    program.chmod(0o700)
    monkeypatch.setattr("cli.processes.sys.executable", str(program))
    with running("serve", "--login-key-from-stdin", say="the-key\n") as process:
        process.wait(10)
    said = (home / "log" / "demo-serve.log").read_text()
    assert "read: the-key" in said
    [arguments] = [line for line in said.splitlines() if line.startswith("arguments:")]
    assert arguments.endswith("serve --login-key-from-stdin")


def test_a_service_that_died_at_once_does_not_end_the_demo_by_a_broken_pipe(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.processes.sys.executable", "/bin/false")
    with running("serve", say=(1 << 20) * "k") as process:
        assert process.wait(60) == 1


def test_those_hosts_are_started_that_the_spec_names() -> None:
    experiments = REPOSITORY / "experiments"
    started = {
        name: _hosts_to_start((experiments / f"{name}.yml").read_text(), name)
        for name in ("lab-demo", "lab-iperf", "vmscape-cover-letter")
    }
    assert started == {
        "lab-demo": ["lab-amd", "lab-intel"],
        "lab-iperf": ["lab-guests"],
        "vmscape-cover-letter": ["lab-amd", "lab-intel"],
    }


@pytest.mark.parametrize(
    "spec", [None, [], {}, {"comparisons": 3}, {"comparisons": ["x", {"hosts": "y"}]}]
)
def test_what_is_no_spec_names_no_host(spec: object) -> None:
    assert named_hosts(spec) == set()
