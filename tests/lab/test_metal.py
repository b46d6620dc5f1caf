"""The emulated server: README's "On hosts of yours" to the letter, and boots that fail.

EFI, two disks, the system on LVM over RAID 1, a network card whose driver is a module: GRUB could
not make a boot for one time there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.fleet.service import host_vars
from mitigauge.measurement.runs.boot_evidence import WrittenEntry
from mitigauge.measurement.runs.boot_failure import cause_of
from mitigauge.measurement.runs.proof import Requested, judge_boot
from mitigauge.measurement.runs.states import BootState
from pipelines.adapters.ansible_host import AnsibleHost, SilentLog
from pipelines.answers import parse_answer
from pipelines.next_boot import next_boot
from tests.lab import controllers
from tests.lab.servers import Server, follow_readme, server, settled_reader

pytestmark = pytest.mark.lab

NAME = "lab-metal"
BOOT_TIMEOUT_S = 540.0
# A boot takes 60 to 130 s here.
HANG_S = 240.0
ESP = "/boot/efi/EFI/mitigauge"


@pytest.fixture(scope="module")
def metal() -> Iterator[Server]:
    with server(NAME) as host:
        yield host


def test_readme_leads_to_a_verdict_on_lvm_over_raid_and_back(metal: Server) -> None:
    with settled_reader(metal) as reader:
        follow_readme(reader)


def host_with(metal: Server, **variables: Any) -> AnsibleHost:
    known = {**metal.of_lab, "mitigauge_boot_timeout_s": BOOT_TIMEOUT_S, **variables}
    return AnsibleHost(host_vars(NAME, "lab", known, boot_timeout_s=BOOT_TIMEOUT_S), SilentLog())


@contextmanager
def host_behind(metal: Server, controller: str, directory: Path) -> Iterator[AnsibleHost]:
    """The host, and before it a controller of that kind; empty: its emulator."""
    if not controller:
        yield host_with(metal)
        return
    chassis = controllers.host_chassis(metal.power)
    with controllers.serial_port(metal.directory / "serial.sock") as port:
        if controller == "ipmi":
            rig = controllers.ipmi(directory, chassis, port)
        else:
            rig = controllers.redfish(directory, chassis)
        with rig as power:
            console = controllers.console_of(power, port)
            yield host_with(metal, mitigauge_power=power, mitigauge_console=console)


@dataclass(frozen=True)
class Fault:
    """What spoils a boot while the system before it goes down, and the words for what it did."""

    words: str
    spoil: str = "true"
    options: str = ""
    program: str = ""
    """Kept on the host as PROGRAM."""
    controller: str = ""
    """Through which one it comes back; empty: by itself."""


PROGRAM = "/usr/local/sbin/fault"
# A kernel that panics starts this one, as kdump does: kexec_file_load for the case of a crash.
CRASH = """#!/usr/bin/python3
import ctypes, os
kernel = os.open("/boot/vmlinuz-" + os.uname().release, os.O_RDONLY)
initial = os.open("/boot/initrd.img-" + os.uname().release, os.O_RDONLY)
words = open("/proc/cmdline").read().split()
line = " ".join(word for word in words if not word.startswith(("crashkernel", "systemd.")))
line = (line + " nr_cpus=1").encode() + bytes(1)
if ctypes.CDLL(None, use_errno=True).syscall(320, kernel, initial, len(line), line, 2):
    raise OSError(ctypes.get_errno(), "kexec_file_load")
open("/proc/sysrq-trigger", "w").write("c")
"""
FAULTS = {
    "truncated": Fault(
        "did not load the kernel (Unsupported)", f"truncate -s 3000000 {ESP}/vmlinuz.efi"
    ),
    "missing": Fault("did not load the kernel (Not Found)", f"rm {ESP}/vmlinuz.efi"),
    "no-initial-disk": Fault("did not find its initial RAM disk", f"rm {ESP}/initrd.img"),
    "no-root": Fault("no root file system was found", options="root=/dev/mapper/vg9-root"),
    "panic": Fault("the kernel panicked", options="init=/bin/false"),
    "crash-kernel": Fault(
        "the crash kernel of kdump came up",
        options=f"crashkernel=384M systemd.run={PROGRAM}",
        program=CRASH,
    ),
    # A first process that crashes freezes, and the watchdog that it had opened resets the host.
    "watchdog": Fault(
        "the host was reset; its kernel's last line on the console",
        options=f"systemd.run={PROGRAM}",
        program="""#!/bin/sh
until grep -qs ^active /sys/class/watchdog/watchdog0/state; do sleep 1; done
sleep 5
kill -SEGV 1
sleep 300
""",
    ),
    "hang": Fault(
        "it did not answer in time; its kernel's last line on the console",
        options=f"init={PROGRAM}",
        program="#!/bin/sh\nexec sleep 100000\n",
        controller="ipmi",
    ),
    "no-network": Fault(
        "it came up to its login and did not answer by network",
        options="modprobe.blacklist=e1000e",
        controller="redfish",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_boot_that_fails_says_why(metal: Server, tmp_path: Path, name: str) -> None:
    with host_behind(metal, FAULTS[name].controller, tmp_path / "controller") as host:
        boot_with(FAULTS[name], name, metal, host)


def boot_with(fault: Fault, name: str, metal: Server, host: AnsibleHost) -> None:
    """Spoil a boot of the host, and hold what is told of it against what spoilt it."""
    if fault.program:
        metal.run(f"cat > {PROGRAM}; chmod 755 {PROGRAM}", given=fault.program)
    metal.run(
        "systemctl stop spoil.service; systemd-run --quiet --unit spoil --property "
        f"RemainAfterExit=yes --property ExecStop='/bin/sh -c \"{fault.spoil}; sync\"' --property "
        "RequiresMountsFor=/boot/efi true"
    )
    offset = host.serial_offset()
    nonce = f"fault-{name}"
    facts = host.arm(nonce=nonce, cmdline=fault.options, kernel="", method=BootMethod.RESET)
    entry = parse_answer(WrittenEntry, facts, "the boot entry")
    limit_s = HANG_S if fault.controller else BOOT_TIMEOUT_S
    proof = next_boot(host, entry.previous_boot_id, limit_s)
    assert (proof is None) == bool(fault.controller)
    if proof is None:
        host.power_cycle()
        proof = next_boot(host, entry.previous_boot_id, BOOT_TIMEOUT_S)
    assert proof is not None, "the host did not come back"
    judgement = judge_boot(
        proof, Requested(nonce, entry.previous_boot_id, "", "", entry.kernel_version, ())
    )
    log = host.serial_log(offset)
    cause = cause_of(log, entry, nonce, proof, cycled=bool(fault.controller))
    print(f"{name}: {judgement.reason}; {cause}")
    assert judgement.state is BootState.DID_NOT_BOOT
    assert fault.words in f"{judgement.reason}; {cause}"


def test_the_host_is_as_it_was_after_faults(metal: Server) -> None:
    host_with(metal).restore()
    assert "mitigauge" not in metal.run("efibootmgr; ls /boot/efi/EFI")
