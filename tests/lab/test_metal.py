"""The emulated server: README's "On hosts of yours" to the letter, and boots that fail.

EFI, two disks, the system on LVM over RAID 1, a network card whose driver is a module: GRUB could
not make a boot for one time there.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab import service
from lab.hosts import LabPaths
from lab.progress import Silent
from mitigauge.core.settings import get_settings
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.fleet.service import host_vars
from mitigauge.measurement.runs.boot_evidence import WrittenEntry
from mitigauge.measurement.runs.boot_failure import cause_of
from pipelines.adapters.ansible_host import AnsibleHost, SilentLog
from pipelines.answers import parse_answer
from pipelines.next_boot import next_boot
from tests.lab import readme_reader
from tests.lab.bare_host import BareHost
from tests.lab.readme_reader import Reader, differences, moved_in, require_effective

pytestmark = pytest.mark.lab

NAME = "lab-metal"
BOOT_TIMEOUT_S = 480.0
ESP = "/boot/efi/EFI/mitigauge"


@dataclass(frozen=True)
class MetalHost(BareHost):
    """The lab's server, as somebody's own machine."""

    of_lab: dict[str, Any]

    @property
    def known_hosts(self) -> Path:
        return LabPaths.of(get_settings()).known_hosts

    @property
    def power(self) -> dict[str, Any]:
        return dict(self.of_lab["mitigauge_power"])


@pytest.fixture(scope="module")
def metal() -> Iterator[MetalHost]:
    """The server with new disks; it is ended after the tests."""
    paths = LabPaths.of(get_settings())
    service.up(paths, Silent(), names=[NAME], fresh=True)
    host = paths.host(NAME)
    from lab.execution import execution_of
    from lab.inventory import host_vars as of_lab
    from mitigauge.core.clock import Clock

    variables = of_lab(host, execution_of("tcg", Clock.REAL))
    try:
        yield MetalHost(host.directory, paths.key, host.ssh_port, variables)
    finally:
        service.down(paths, Silent(), names=[NAME], delete=True)


@pytest.fixture(scope="module")
def reader(metal: MetalHost) -> Iterator[Reader]:
    with (
        tempfile.TemporaryDirectory(prefix="mgmetal-") as name,
        moved_in(Path(name) / "mitigauge", metal) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def before(reader: Reader) -> dict[str, Any]:
    looked = readme_reader.look(reader)
    checked = reader.types(f"{readme_reader.COMMAND} host check HOST --environment NAME")
    assert "the firmware's own (EFI BootNext)" in checked
    return looked


@pytest.fixture(scope="module")
def report(reader: Reader, before: dict[str, Any]) -> str:
    return readme_reader.measure(reader)


def test_a_server_on_lvm_over_raid_takes_part_in_an_experiment(reader: Reader, report: str) -> None:
    assert "emulated" in report.lower()
    for boot in require_effective(reader):
        # The firmware started the kernel's own stub: no boot loader was in between.
        assert boot["loader_type"] >> 4 == 2


def test_nothing_differs_but_what_the_page_names(
    reader: Reader, report: str, before: dict[str, Any]
) -> None:
    found = differences(before, readme_reader.put_back(reader))
    assert not found, "\n".join(found)
    listed = reader.host.run("efibootmgr; ls /boot/efi/EFI")
    assert "mitigauge" not in listed


@pytest.fixture(scope="module")
def host(metal: MetalHost) -> AnsibleHost:
    variables = {**metal.of_lab, "mitigauge_boot_timeout_s": BOOT_TIMEOUT_S}
    return AnsibleHost(
        host_vars(NAME, "lab", variables, boot_timeout_s=BOOT_TIMEOUT_S), SilentLog()
    )


# What becomes of the boot's files while the system goes down, options of the boot, and the words.
FAULTS = {
    "truncated": (f"truncate -s 3000000 {ESP}/vmlinuz.efi", "", "could not load the kernel"),
    "missing": (f"rm {ESP}/vmlinuz.efi", "", "did not find the kernel on the EFI system partition"),
    "no-initial-disk": (f"rm {ESP}/initrd.img", "", "did not find its initial RAM disk"),
    "no-root": ("true", "root=/dev/mapper/vg9-root", "no root file system was found"),
    "panic": ("true", "init=/bin/false", "the kernel panicked"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_boot_that_fails_says_why_and_the_host_is_back_by_itself(
    metal: MetalHost, host: AnsibleHost, fault: str
) -> None:
    spoil, options, words = FAULTS[fault]
    metal.run(
        "systemctl stop spoil.service; systemd-run --quiet --unit spoil --property "
        f"RemainAfterExit=yes --property ExecStop='/bin/sh -c \"{spoil}; sync\"' --property "
        "RequiresMountsFor=/boot/efi true"
    )
    offset = host.serial_offset()
    nonce = f"fault-{fault}"
    facts = host.arm(nonce=nonce, cmdline=options, kernel="", method=BootMethod.RESET)
    entry = parse_answer(WrittenEntry, facts, "the boot entry")
    proof = next_boot(host, entry.previous_boot_id, BOOT_TIMEOUT_S)
    assert proof is not None, "the host did not come back by itself"
    assert proof.nonce is None
    cause = cause_of(host.serial_log(offset), entry, nonce, proof, cycled=False)
    print(f"{fault}: {cause}")
    assert words in cause


def test_the_host_is_as_it_was_after_faults(metal: MetalHost, host: AnsibleHost) -> None:
    host.restore()
    time.sleep(1)
    assert "mitigauge" not in metal.run("efibootmgr; ls /boot/efi/EFI")
