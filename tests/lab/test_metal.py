"""The emulated server: README's "On hosts of yours" to the letter, and boots that fail.

EFI, two disks, the system on LVM over RAID 1, a network card whose driver is a module: GRUB could
not make a boot for one time there.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.fleet.service import host_vars
from mitigauge.measurement.runs.boot_evidence import WrittenEntry
from mitigauge.measurement.runs.boot_failure import cause_of
from pipelines.adapters.ansible_host import AnsibleHost, SilentLog
from pipelines.answers import parse_answer
from pipelines.next_boot import next_boot
from tests.lab.servers import Server, follow_readme, server, settled_reader

pytestmark = pytest.mark.lab

NAME = "lab-metal"
BOOT_TIMEOUT_S = 480.0
ESP = "/boot/efi/EFI/mitigauge"


@pytest.fixture(scope="module")
def metal() -> Iterator[Server]:
    with server(NAME) as host:
        yield host


def test_readme_leads_to_a_verdict_on_lvm_over_raid_and_back(metal: Server) -> None:
    with settled_reader(metal) as reader:
        follow_readme(reader)


@pytest.fixture(scope="module")
def host(metal: Server) -> AnsibleHost:
    variables = {**metal.of_lab, "mitigauge_boot_timeout_s": BOOT_TIMEOUT_S}
    return AnsibleHost(
        host_vars(NAME, "lab", variables, boot_timeout_s=BOOT_TIMEOUT_S), SilentLog()
    )


# What becomes of the boot's files while the system goes down, options of the boot, and the words.
FAULTS = {
    "truncated": (
        f"truncate -s 3000000 {ESP}/vmlinuz.efi",
        "",
        "did not load the kernel (Unsupported)",
    ),
    "missing": (f"rm {ESP}/vmlinuz.efi", "", "did not load the kernel (Not Found)"),
    "no-initial-disk": (f"rm {ESP}/initrd.img", "", "did not find its initial RAM disk"),
    "no-root": ("true", "root=/dev/mapper/vg9-root", "no root file system was found"),
    "panic": ("true", "init=/bin/false", "the kernel panicked"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_boot_that_fails_says_why_and_the_host_is_back_by_itself(
    metal: Server, host: AnsibleHost, fault: str
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


def test_the_host_is_as_it_was_after_faults(metal: Server, host: AnsibleHost) -> None:
    host.restore()
    assert "mitigauge" not in metal.run("efibootmgr; ls /boot/efi/EFI")
