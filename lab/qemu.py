"""How QEMU is called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lab import metal, nmi
from lab.exact import serve
from lab.execution import PROGRAM, Execution
from lab.hosts import Host, HostSpec

# Where a kernel is loaded, unpacked and run that is not moved about by KASLR: GRUB reads it to
# 1 MiB, and it asks for 61 MiB from 16 MiB on (Debian's 7.2).
KERNEL_AT = 1 << 20
KERNEL_BYTES = 80 << 20


def machine_arguments(execution: Execution) -> list[str]:
    """Arguments every machine of the lab shares."""
    return [
        "-nodefaults",
        "-no-user-config",
        *("-machine", "q35,smm=off"),
        *execution.arguments(),
        *("-display", "none"),
        *("-vga", "none"),
        *("-device", "virtio-rng-pci"),
    ]


def host_arguments(host: Host, execution: Execution) -> list[str]:
    """The whole command line of a lab host, detached and with its sockets."""
    spec = host.spec
    if spec.system.is_server:
        return _metal_arguments(host)
    serial = f"socket,id=serial,path={_escape(host.serial_socket)},server=on,wait=off"
    log = f"logfile={_escape(host.serial_log)},logappend=on"
    forward = f"hostfwd=tcp:127.0.0.1:{host.ssh_port}-:22"
    forward += f",guestfwd=tcp:{nmi.ADDRESS}-cmd:{_escape(nmi.command(host.nmi_socket))}"
    if execution.plugin:
        served = serve.command(host.windows, execution.plugin)
        forward += f",guestfwd=tcp:{serve.ADDRESS}-cmd:{_escape(served)}"
    return [
        PROGRAM,
        *machine_arguments(execution),
        *("-name", f"{spec.name},debug-threads=on"),
        # The image is the same for all hosts; this tells a host who it is.
        *("-smbios", f"type=1,manufacturer=Mitigauge,product={spec.name}"),
        *("-cpu", spec.cpu),
        *("-smp", f"{execution.vcpus(spec)}"),
        *("-m", f"{spec.memory_mib}"),
        *disk_arguments(host.disk, "qcow2"),
        *("-netdev", f"user,id=net,{forward}"),
        *("-device", "virtio-net-pci,netdev=net,romfile="),
        *("-chardev", f"{serial},{log}"),
        *("-serial", "chardev:serial"),
        *("-device", "i6300esb"),
        *("-action", "watchdog=reset"),
        *(fresh_memory_arguments(host) if execution.accel == "tcg" else []),
        *plugin_arguments(host, execution),
        # The process is the baseboard controller: it outlives a guest that powers off.
        "-no-shutdown",
        *qmp_arguments("power", host.qmp_socket),
        *qmp_arguments("control", host.control_socket),
        *qmp_arguments("nmi", host.nmi_socket),
        *("-pidfile", f"{host.pidfile}"),
        "-daemonize",
    ]


def _metal_arguments(host: Host) -> list[str]:
    spec = host.spec
    serial = f"socket,id=serial,path={_escape(host.serial_socket)},server=on,wait=off"
    log = f"logfile={_escape(host.serial_log)},logappend=on"
    return [
        PROGRAM,
        *metal.host_arguments(host),
        *("-name", f"{spec.name},debug-threads=on"),
        *("-smbios", f"type=1,manufacturer=Mitigauge,product={spec.name}"),
        *("-cpu", spec.cpu, "-smp", f"{spec.vcpus}", "-m", f"{spec.memory_mib}"),
        *("-chardev", f"{serial},{log}", "-device", "isa-serial,chardev=serial,index=1"),
        *fresh_memory_arguments(host),
        "-no-shutdown",
        *qmp_arguments("power", host.qmp_socket),
        *qmp_arguments("control", host.control_socket),
        *("-pidfile", f"{host.pidfile}"),
        "-daemonize",
    ]


def cleared_bytes(spec: HostSpec) -> int:
    """How much memory is overwritten from KERNEL_AT on: EFI and KASLR use all of it."""
    return (spec.memory_mib << 20) - KERNEL_AT if spec.system.is_server else KERNEL_BYTES


def fresh_memory_arguments(host: Host) -> list[str]:
    """Arguments that overwrite the kernel's memory with zeros at each reset.

    The emulator keeps its translation of a page's code over a reset, and then looks through
    it at each single write to that page: unpacking a kernel where another one ran took from 10
    to more than 60 s instead of 2. Overwritten as a whole, a page is rid of it at once. The
    lab's own hosts boot with ``nokaslr``, or the next kernel might lie anywhere.
    """
    return ["-device", f"loader,file={_escape(host.zeros)},addr={KERNEL_AT:#x},force-raw=on"]


def plugin_arguments(host: Host, execution: Execution) -> list[str]:
    """Arguments that count every block of the host, see ``lab/exact/plugin.c``."""
    if execution.plugin is None:
        return []
    return ["-plugin", f"{_escape(execution.plugin)},out={_escape(host.windows)}"]


def disk_arguments(disk: Path, image_format: str, cache: str = "writeback") -> list[str]:
    """The host's disk, ``/dev/nvme0n1`` inside.

    Debian's cloud kernel has NVMe and ext4 built in, so that a host boots
    without an initial RAM disk: several seconds less of every boot.
    """
    drive = f"if=none,id=disk,format={image_format},cache={cache},discard=unmap"
    return [
        *("-drive", f"file={_escape(disk)},{drive}"),
        *("-device", "nvme,drive=disk,serial=lab"),
    ]


def qmp_arguments(name: str, socket: Path) -> list[str]:
    """A QMP server socket."""
    return [
        *("-chardev", f"socket,id={name},path={_escape(socket)},server=on,wait=off"),
        *("-mon", f"chardev={name},mode=control"),
    ]


def kernel_arguments(kernel: Path, command_line: Sequence[str]) -> list[str]:
    """A direct kernel start, past firmware disk and GRUB."""
    return [
        *("-kernel", f"{kernel}"),
        *("-append", " ".join(command_line)),
    ]


def _escape(path: Path | str) -> str:
    """QEMU reads a comma in an option as its end, two as one."""
    return str(path).replace(",", ",,")
