"""The lab's servers, as somebody's own machines, and README's steps on them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import service
from lab.execution import execution_of
from lab.hosts import LabPaths
from lab.inventory import host_vars
from lab.progress import Silent
from mitigauge.core.clock import Clock
from mitigauge.core.settings import get_settings
from tests.lab import readme_reader
from tests.lab.bare_host import BareHost
from tests.lab.readme_reader import (
    Reader,
    ReadersArm,
    differences,
    moved_in,
    require_effective,
)

# The emulated processor has no virtualisation, so that KVM's parameters are not there.
ARMS = (
    ReadersArm("off", "swapgs/off", "Vulnerable: __user pointer sanitization"),
    ReadersArm("on", "swapgs/on", "Mitigation: usercopy/swapgs barriers"),
)


@dataclass(frozen=True)
class Server(BareHost):
    """A host of the lab, reached as any machine is."""

    of_lab: dict[str, Any]

    @property
    def known_hosts(self) -> Path:
        return LabPaths.of(get_settings()).known_hosts

    @property
    def power(self) -> dict[str, Any]:
        return dict(self.of_lab["mitigauge_power"])


@contextmanager
def server(name: str) -> Iterator[Server]:
    """The server with new disks; it is ended with the block."""
    paths = LabPaths.of(get_settings())
    service.up(paths, Silent(), names=[name], fresh=True)
    host = paths.host(name)
    variables = host_vars(host, execution_of("tcg", Clock.REAL))
    try:
        yield Server(host.directory, paths.key, host.ssh_port, variables)
    finally:
        service.down(paths, Silent(), names=[name], delete=True)


@contextmanager
def settled_reader(host: Server) -> Iterator[Reader]:
    """Somebody with a checkout and that server."""
    with (
        tempfile.TemporaryDirectory(prefix="mgserver-") as folder,
        moved_in(Path(folder) / "mitigauge", host) as reader,
    ):
        yield reader


def follow_readme(reader: Reader) -> None:
    """README's steps: checked, measured in both arms, restored to what it was."""
    reader.arms = ARMS
    before = readme_reader.look(reader)
    checked = reader.types(f"{readme_reader.COMMAND} host check HOST --environment NAME")
    assert "the firmware's own (EFI BootNext)" in checked
    report = readme_reader.measure(reader)
    assert "emulated" in report.lower()
    require_effective(reader)
    found = differences(before, readme_reader.put_back(reader))
    assert not found, "\n".join(found)
    listed = reader.host.run("efibootmgr; find /boot/efi /efi -maxdepth 2 2>/dev/null || true")
    assert "mitigauge" not in listed
