"""The host that stands for a server: EFI, two disks, the system on LVM over RAID 1.

Its network card needs a module of its kernel's, its console is the second serial line, and nothing
in its image was made for a lab.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.execution import PROGRAM, Execution
from lab.hosts import Host, System
from mitigauge.core.clock import Clock

if TYPE_CHECKING:
    from lab.image import Image

OVMF = Path("/usr/share/OVMF")
CPU = "Icelake-Server"
DISKS = ("disk.raw", "disk1.raw")
VARIABLES = "variables.fd"
FIRST_BOOT_TIMEOUT_S = 900
READY = "lab image ready"


@dataclass(frozen=True)
class Firmware:
    """A build of OVMF, its variables as they leave the factory, and what they need of the board."""

    code: Path
    variables: Path
    board: tuple[str, ...]


PLAIN = Firmware(OVMF / "OVMF_CODE_4M.fd", OVMF / "OVMF_VARS_4M.fd", ("-machine", "q35,smm=off"))
# Secure Boot is on; its variables are written from system management mode alone.
SECURE = Firmware(
    OVMF / "OVMF_CODE_4M.secboot.fd",
    OVMF / "OVMF_VARS_4M.snakeoil.fd",
    ("-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on"),
)


def firmware_of(system: System) -> Firmware:
    """The firmware of a server's board."""
    return SECURE if system is System.SDBOOT else PLAIN


def machine_arguments(
    firmware: Firmware, variables: Path, disks: Sequence[tuple[Path, str]], network: str
) -> list[str]:
    """QEMU's arguments for the board; *disks*: files with their formats."""
    return [
        *("-nodefaults", "-no-user-config", "-display", "none", "-vga", "none"),
        *firmware.board,
        *Execution("tcg", Clock.REAL).arguments(),
        *("-drive", f"if=pflash,format=raw,readonly=on,file={firmware.code}"),
        *("-drive", f"if=pflash,format=raw,file={variables}"),
        *(word for number, disk in enumerate(disks) for word in _disk(number, *disk)),
        *("-netdev", network, "-device", "e1000e,netdev=net,romfile="),
        *("-device", "virtio-rng-pci"),
        # The chipset's own watchdog takes twice its time.
        *("-device", "i6300esb", "-action", "watchdog=reset"),
        # The first serial line leads nowhere, as on many boards.
        *("-chardev", "null,id=first", "-device", "isa-serial,chardev=first,index=0"),
    ]


def _disk(number: int, file: Path, image_format: str) -> list[str]:
    # No bootindex: the firmware would write its boot order anew at each start.
    name = f"disk{number}"
    return [
        *("-drive", f"file={file},format={image_format},if=none,id={name},cache=unsafe"),
        *("-device", f"nvme,drive={name},serial=lab{number}"),
    ]


def host_arguments(host: Host) -> list[str]:
    """Of the board, with the host's own disks and variables."""
    network = f"user,id=net,hostfwd=tcp:127.0.0.1:{host.ssh_port}-:22"
    disks = [(disk, "qcow2") for disk in (host.disk, host.second_disk)]
    firmware = firmware_of(host.spec.system)
    return machine_arguments(firmware, host.directory / VARIABLES, disks, network)


def ensure_variables(host: Host, image: Image) -> None:
    """Give the host the firmware's variables as they were when its image was made."""
    shutil.copyfile(image.directory / VARIABLES, host.directory / VARIABLES)


def first_boot(work: Path, firmware: Firmware) -> None:
    """Boot the disks once, as an installer's first boot; leaves the firmware's variables.

    Raises LabError where the system does not say that it is ready.
    """
    for file in (firmware.code, firmware.variables):
        if not file.exists():
            raise LabError(f"{file} is not there.", hint="Install what lab/packages.txt lists.")
    variables = work / "boot" / VARIABLES
    shutil.copyfile(firmware.variables, variables)
    log = work / "boot" / "first-boot.log"
    arguments = [
        PROGRAM,
        *machine_arguments(
            firmware, variables, [(work / name, "raw") for name in DISKS], "user,id=net"
        ),
        *("-cpu", CPU, "-smp", "1", "-m", "1024"),
        *("-chardev", f"file,id=serial,path={log}", "-device", "isa-serial,chardev=serial,index=1"),
    ]
    with (work / "boot" / "qemu.log").open("wb") as said:
        try:
            subprocess.run(
                arguments, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False,
                timeout=FIRST_BOOT_TIMEOUT_S,
            )  # fmt: skip
            how = "the machine ended before it was done"
        except subprocess.TimeoutExpired:
            how = f"not done within {FIRST_BOOT_TIMEOUT_S} s"
    said_there = log.read_text("utf-8", errors="replace") if log.exists() else ""
    if READY not in said_there:
        tail = "\n".join(said_there.splitlines()[-25:])
        raise LabError(
            f"the image's first boot failed: {how}. The end of its console:\n{tail}",
            hint="Run it again; the image is built anew.",
        )
