"""The lab's hosts: what each one is, and where its files and sockets live."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from lab.errors import LabError
from mitigauge.core.clock import Clock
from mitigauge.core.settings import Settings

# A path in sockaddr_un holds 108 bytes with its final zero.
SOCKET_PATH_LIMIT = 107


class System(StrEnum):
    """What is on a host's disks, and so what kind of machine it is."""

    LAB = "lab"
    """Made for the lab: one disk, started by a BIOS and GRUB."""
    METAL = "metal"
    """As servers are: EFI, two disks, LVM over RAID 1, GRUB."""
    SDBOOT = "sdboot"
    """As servers are: EFI with Secure Boot, btrfs, dracut, systemd-boot."""

    @property
    def is_server(self) -> bool:
        """Whether its machine is the one of `lab.metal`."""
        return self is not System.LAB


@dataclass(frozen=True)
class HostSpec:
    """One emulated host, as data.

    ``memory_mib`` stays below 2816: from there on the q35 machine has memory above 4 GiB, and
    SeaBIOS 1.16.3 (QEMU 8.2 and later) then puts the disk's registers there too, where it
    cannot reach them itself, so that nothing boots.
    """

    name: str
    port_offset: int
    cpu: str
    vendor: str
    memory_mib: int
    vcpus: int
    capabilities: tuple[str, ...]
    clock: Clock | None = None
    """What its time always is; None: what the lab's is."""
    on_demand: bool = False
    """Whether it is started only by name."""
    system: System = System.LAB


_METAL = HostSpec(
    name="lab-metal",
    port_offset=4,
    cpu="Icelake-Server",
    vendor="GenuineIntel",
    memory_mib=1024,
    # Two emulated processors now and then lose the race over patched code, or a reset.
    vcpus=1,
    capabilities=(),
    # Two disks, firmware and an initial RAM disk: a boot takes minutes where time is counted.
    clock=Clock.REAL,
    on_demand=True,
    system=System.METAL,
)
SPECS = (
    HostSpec(
        name="lab-amd",
        port_offset=1,
        # Without the hypervisor bit the kernel takes the host for bare metal and
        # sets the vmscape bug; EPYC-Rome is the model whose SVM is emulated too.
        cpu="EPYC-Rome,-hypervisor",
        vendor="AuthenticAMD",
        memory_mib=2560,
        vcpus=2,
        capabilities=("kvm",),
    ),
    HostSpec(
        name="lab-intel",
        port_offset=2,
        # The hypervisor bit stays: without it this model does not get the BHI bug.
        cpu="Icelake-Server",
        vendor="GenuineIntel",
        memory_mib=1536,
        # Emulation with two now and then loses the race when one processor patches code
        # that the other runs ("Oops: int3", 1 boot in 30); such a boot is made again. One
        # alone would make every boot 20 s longer.
        vcpus=2,
        capabilities=(),
    ),
    HostSpec(
        name="lab-guests",
        port_offset=3,
        cpu="EPYC-Rome,-hypervisor",
        vendor="AuthenticAMD",
        memory_mib=2560,
        vcpus=2,
        capabilities=("kvm",),
        # A guest with a whole system takes minutes to boot where time counts instructions.
        clock=Clock.REAL,
        on_demand=True,
    ),
    _METAL,
    replace(_METAL, name="lab-sdboot", port_offset=5, system=System.SDBOOT),
)


@dataclass(frozen=True)
class LabPaths:
    """Where the lab of one state directory keeps its things."""

    home: Path
    port_base: int

    @classmethod
    def of(cls, settings: Settings) -> LabPaths:
        """The lab of these settings."""
        return cls(settings.home.absolute() / "lab", settings.lab_port_base)

    @property
    def images(self) -> Path:
        """Cached base images, one directory a recipe hash."""
        return self.home / "images"

    @property
    def plugins(self) -> Path:
        """Plugins of the emulator, compiled."""
        return self.home / "plugins"

    @property
    def key(self) -> Path:
        """Private key that every lab host lets in as root."""
        return self.home / "ssh" / "id_ed25519"

    @property
    def host_key(self) -> Path:
        """Private host key baked into the image, so that known_hosts can be written."""
        return self.home / "ssh" / "ssh_host_ed25519_key"

    @property
    def known_hosts(self) -> Path:
        """SSH known hosts of the lab."""
        return self.home / "ssh" / "known_hosts"

    @property
    def inventory(self) -> Path:
        """The generated inventory."""
        return self.home / "inventory" / "hosts.yml"

    @property
    def acceleration(self) -> Path:
        """Answers of the trial starts."""
        return self.home / "acceleration.json"

    def hosts(self) -> list[Host]:
        """All hosts of this lab."""
        return [Host(spec, self) for spec in SPECS]

    def host(self, name: str) -> Host:
        """The host of that name; LabError names the known ones."""
        for host in self.hosts():
            if host.name == name:
                return host
        known = ", ".join(spec.name for spec in SPECS)
        raise LabError(f"No lab host is named {name!r}.", hint=f"The lab has {known}.")


@dataclass(frozen=True)
class Host:
    """One host of one lab: its files, sockets and port."""

    spec: HostSpec
    paths: LabPaths

    @property
    def name(self) -> str:
        """Host name, also the inventory name."""
        return self.spec.name

    @property
    def directory(self) -> Path:
        """The host's own files."""
        return self.paths.home / "hosts" / self.name

    @property
    def disk(self) -> Path:
        """Overlay on the base image; the host's state."""
        return self.directory / "disk.qcow2"

    @property
    def second_disk(self) -> Path:
        """Of a host with two, the other one."""
        return self.directory / "disk1.qcow2"

    @property
    def zeros(self) -> Path:
        """What emulated memory is overwritten with at each reset."""
        return self.directory / "zeros"

    @property
    def windows(self) -> Path:
        """Where the emulator's plugin writes what it has counted."""
        return self.directory / "exact"

    @property
    def pidfile(self) -> Path:
        """Written by QEMU."""
        return self.directory / "qemu.pid"

    @property
    def serial_log(self) -> Path:
        """Everything the serial line ever said, appended."""
        return self.directory / "serial.log"

    @property
    def qemu_log(self) -> Path:
        """What QEMU itself said when it was started last."""
        return self.directory / "qemu.log"

    @property
    def state(self) -> Path:
        """How the running machine was started (JSON)."""
        return self.directory / "state.json"

    @cached_property
    def qmp_socket(self) -> Path:
        """The power socket: the part of a baseboard controller."""
        return self._socket("qmp.sock")

    @cached_property
    def control_socket(self) -> Path:
        """A second such socket for the lab itself; one QMP socket serves one client at a time."""
        return self._socket("control.sock")

    @cached_property
    def nmi_socket(self) -> Path:
        """A third one, through which the guest's profiler is given its interrupts."""
        return self._socket("nmi.sock")

    @cached_property
    def serial_socket(self) -> Path:
        """The serial line."""
        return self._socket("serial.sock")

    @property
    def ssh_port(self) -> int:
        """Port on 127.0.0.1 that leads to the host's SSH."""
        return self.paths.port_base + self.spec.port_offset

    def _socket(self, name: str) -> Path:
        return short_socket_path(self.directory, name)


def short_socket_path(directory: Path, name: str) -> Path:
    """``directory/name``, or a path in a short private directory where that would be too long."""
    path = directory / name
    if len(os.fsencode(path)) <= SOCKET_PATH_LIMIT:
        return path
    digest = hashlib.sha256(os.fsencode(directory)).hexdigest()[:12]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    short = Path(runtime) / f"mitigauge-{digest}"
    if not runtime or len(os.fsencode(short / name)) > SOCKET_PATH_LIMIT:
        short = Path(tempfile.gettempdir()) / f"mitigauge-{os.getuid()}-{digest}"
    short.mkdir(mode=0o700, parents=True, exist_ok=True)
    owner = short.lstat()
    if short.is_symlink() or owner.st_uid != os.getuid() or owner.st_mode & 0o077:
        raise LabError(
            f"{short} is not a private directory of this user, so no power socket goes there.",
            hint="Remove it, or set MITIGAUGE_HOME to a shorter path.",
        )
    return short / name
