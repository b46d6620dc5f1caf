"""What an arm asks of iperf's guest, beside what QEMU's own monitor says of a real one."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from mitigauge.measurement.catalog import Catalog
from tests.loading import load

iperf = load("workloads/iperf/run")
guests, monitors, memories = (
    sys.modules[f"_kit.{name}"] for name in ("guest", "guest_monitor", "guest_memory")
)
QEMU = "qemu-system-x86_64"
# The others of the family need KVM.
BASIC = Catalog().families["guest-enlightenments"].modes["basic"].settings.guest()["cpu"]


def free_huge_pages() -> int:
    """Of 2 MiB, reserved here and used by nobody."""
    found = re.search(r"^HugePages_Free: +(\d+)$", Path("/proc/meminfo").read_text(), re.M)
    return int(found[1]) if found else 0


needs_qemu = pytest.mark.skipif(shutil.which(QEMU) is None, reason="no qemu-system-x86 here")


def opened(process: subprocess.Popen[str], path: Path) -> Any:
    """The monitor, once QEMU listens."""
    while True:
        try:
            return monitors.Monitor(path)
        except monitors.MonitorError:
            assert process.poll() is None, process.stderr and process.stderr.read()
            time.sleep(0.05)


@contextmanager
def made(folder: Path, *arguments: str) -> Iterator[Any]:
    """The monitor of a machine that was made and does not run."""
    path = folder / "qmp"
    command = [
        *(QEMU, "-S", "-nodefaults", "-display", "none", "-machine", "pc,accel=tcg"),
        *("-qmp", f"unix:{path},server=on,wait=off", *arguments),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            with closing(opened(process, path)) as monitor:
                yield monitor
        finally:
            process.kill()


@needs_qemu
@pytest.mark.parametrize(
    "asked",
    ["qemu64", "EPYC-Rome", "kvm64,+sse4.2,-cx16", "kvm64,sse4.2=on,cx16=no", "kvm64,level=0xd"],
)
def test_a_processor_that_is_as_asked_is_said_so(asked: str, tmp_path: Path) -> None:
    with made(tmp_path, "-cpu", asked) as monitor:
        assert monitors.processor(monitor, asked) == asked


@needs_qemu
def test_a_processor_that_is_another_is_told(tmp_path: Path) -> None:
    with made(tmp_path, "-cpu", "kvm64") as monitor:
        told = monitors.processor(monitor, "EPYC,+sse4.2,-cx16,sse4.2=on,level=0x7")
    assert told == "kvm64,-sse4.2,+cx16,sse4.2=off,level=13"


@needs_qemu
def test_what_the_processor_has_not_is_refused_by_name(tmp_path: Path) -> None:
    with made(tmp_path) as monitor, pytest.raises(monitors.MonitorError, match=r"nonsense"):
        monitors.processor(monitor, "+nonsense")


@needs_qemu
def test_enlightenments_are_properties_that_qemu_tells(tmp_path: Path) -> None:
    with made(tmp_path, "-cpu", f"kvm64,{BASIC}") as monitor:
        assert monitors.processor(monitor, BASIC) == BASIC
    (tmp_path / "without").mkdir()
    with made(tmp_path / "without", "-cpu", "kvm64") as monitor:
        assert monitors.processor(monitor, "hv-relaxed=on") == "hv-relaxed=off"


@needs_qemu
def test_without_kvm_all_interrupt_controllers_are_in_user_space(tmp_path: Path) -> None:
    with made(tmp_path) as monitor:
        assert monitors.irqchip(monitor) == "off"


NIC = ("-netdev", "user,id=n0", "-device", "virtio-net-pci,netdev=n0,romfile=")
SECOND = ("-netdev", "user,id=n1", "-device", "virtio-net-pci,netdev=n1,romfile=,packed=off")


@needs_qemu
def test_a_property_of_a_device_is_what_every_such_device_has(tmp_path: Path) -> None:
    asked = "virtio-net-pci.packed=on,virtio-net-pci.tx_queue_size=0x100"
    for name, more, told in (
        ("one", (), asked),
        ("two", SECOND, asked.replace("packed=on", "packed=off")),
        ("none", None, asked.replace("=on", "=no such device").replace("0x100", "no such device")),
    ):
        (tmp_path / name).mkdir()
        nics = () if more is None else (*NIC, *more)
        with made(tmp_path / name, "-global", "virtio-net-pci.packed=on", *nics) as monitor:
            assert monitors.devices(monitor, asked) == told


@pytest.mark.parametrize(
    ("tree", "where"),
    [
        ("/lapic (kvm-apic)\n/ioapic (kvm-ioapic)\n", "on"),
        ("/lapic (kvm-apic)\n/ioapic (ioapic)\n", "split"),
        ("/lapic (apic)\n/ioapic (ioapic)\n", "off"),
        ("/lapic (apic)\n/ioapic (kvm-ioapic)\n", "unknown"),
    ],
)
def test_where_interrupt_controllers_are_is_told_by_their_types(tree: str, where: str) -> None:
    class Told:
        def ask(self, _command: str, **_arguments: str) -> str:
            return tree

    assert monitors.irqchip(Told()) == where


MANIFEST = {"cpu": "kvm64"}


@pytest.mark.parametrize(
    ("asked", "arguments"),
    [
        ({}, []),
        ({"cpu": "EPYC,+stibp"}, ["-cpu", "EPYC,+stibp,enforce"]),
        # Without a model it is the one that the host's guests have.
        ({"cpu": "+stibp"}, ["-cpu", "kvm64,+stibp,enforce"]),
        ({"cpu": "hv-time=on"}, ["-cpu", "kvm64,hv-time=on,enforce"]),
        ({"machine.kernel_irqchip": "split"}, ["-machine", "kernel_irqchip=split"]),
        (
            {"devices": "kvm-pit.lost_tick_policy=discard,virtio-net-pci.packed=on"},
            ["-global", "kvm-pit.lost_tick_policy=discard", "-global", "virtio-net-pci.packed=on"],
        ),
        ({"flags": "+smep"}, []),
        ({"sandbox": "off"}, ["-sandbox", "off"]),
        (
            {"sandbox": "on"},
            ["-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"],
        ),
    ],
)
def test_what_is_asked_reaches_qemu(asked: dict[str, str], arguments: list[str]) -> None:
    assert guests.made_so(MANIFEST, asked) == arguments


def test_what_this_guest_has_not_is_refused() -> None:
    with pytest.raises(iperf.contract.CaseError, match=r"this guest has no disks; it has cpu, "):
        guests.asked_of_guest({"guest": {"disks": "1"}})


def guest_that_said(serial: str, folder: Path, **asked: str) -> Any:
    """A guest whose QEMU prints *serial* and goes on."""
    manifest = {
        "command": ["sh", "-c", "sleep 30", "sh"],
        "cpu": "kvm64",
        "append": "",
        "boot": [],
        "failed_marker": "MITIGAUGE-GUEST-FAILED",
    }
    end = guests.Endpoint([], "10.0.2.15/24", "127.0.0.1", 1)
    guest = guests.Guest(manifest, end, 1, folder, 1, None, asked)
    guest.serial.write_text(serial)
    return guest


SERIAL = (
    "MITIGAUGE-GUEST-CPU vendor_id\t: AuthenticAMD\r\n"
    "MITIGAUGE-GUEST-CPU model name\t: Common KVM processor\r\n"
    "MITIGAUGE-GUEST-CPU flags\t\t: fpu vme smep\r\n"
    "MITIGAUGE-GUEST-VULNERABILITY spectre_v2: Mitigation: Retpolines; STIBP: disabled\r\n"
    "MITIGAUGE-GUEST-SYSTEM kernel: 7.2.1\r\n"
    "MITIGAUGE-GUEST-SYSTEM processors: 0-1,3\r\n"
    "MITIGAUGE-GUEST-SYSTEM memory: MemTotal:  200000 kB\r\n"
    "MITIGAUGE-GUEST-READY 1\r\n"
)


def test_a_guest_tells_of_itself(tmp_path: Path) -> None:
    with guests.booted(guest_that_said(SERIAL, tmp_path)) as guest:
        assert guest.facts() == {
            "cpu": {
                "vendor_id": "AuthenticAMD",
                "model name": "Common KVM processor",
                "flags": "fpu vme smep",
            },
            "vulnerabilities": {"spectre_v2": "Mitigation: Retpolines; STIBP: disabled"},
            "system": {"kernel": "7.2.1", "processors": "0-1,3", "memory": "MemTotal:  200000 kB"},
        }
        assert guest.got() == {}


def test_flags_are_those_that_the_guests_kernel_shows(tmp_path: Path) -> None:
    with guests.booted(guest_that_said(SERIAL, tmp_path, flags="+smep,-avx,+smap")) as guest:
        assert guest.got() == {"flags": "+smep,-avx,-smap"}


def test_processors_are_counted_by_the_guests_kernel(tmp_path: Path) -> None:
    with guests.booted(guest_that_said(SERIAL, tmp_path, vcpus="4")) as guest:
        assert guest.got() == {"vcpus": "3"}


@pytest.mark.parametrize(("text", "count"), [("0", 1), ("0-3", 4), ("0,2-3\n", 3), ("", 0)])
def test_a_list_of_processors_is_counted(text: str, count: int) -> None:
    assert guests.count_of(text) == count


@pytest.mark.parametrize(("parameter", "asked", "count"), [(4, {}, 4), ("arm", {"vcpus": "2"}, 2)])
def test_the_case_or_the_arm_says_how_many_processors(
    parameter: object, asked: dict[str, str], count: int
) -> None:
    assert iperf.processors({"vcpus": parameter}, asked) == count


@pytest.mark.parametrize(("parameter", "asked"), [(4, {"vcpus": "4"}), ("arm", {})])
def test_neither_both_nor_none_of_them_say_it(parameter: object, asked: dict[str, str]) -> None:
    with pytest.raises(iperf.contract.CaseError, match="it is 'arm' where the arm sets"):
        iperf.processors({"vcpus": parameter}, asked)


@needs_qemu
@pytest.mark.parametrize(
    ("asked", "got"),
    [
        ({"memory_backing": "plain"}, {"memory_backing": "plain"}),
        ({"memory_backing": "shared"}, {"memory_backing": "shared"}),
        (
            {"memory_mb": "205", "memory_backing": "shared"},
            {"memory_mb": "205", "memory_backing": "shared"},
        ),
        pytest.param(
            {"memory_backing": "hugepages"},
            {"memory_backing": "hugepages"},
            marks=pytest.mark.skipif(
                free_huge_pages() < 128, reason="no 128 free huge pages (vm.nr_hugepages)"
            ),
        ),
        # The guest's kernel says that it has some 195 MiB.
        ({"memory_mb": "512"}, {"memory_mb": "195"}),
        ({"memory_mb": "192"}, {"memory_mb": "195"}),
    ],
)
def test_the_memory_of_a_real_machine_is_told(
    asked: dict[str, str], got: dict[str, str], tmp_path: Path
) -> None:
    manifest = {
        "command": [*(QEMU, "-S", "-nodefaults", "-display", "none"), "-machine", "pc,accel=tcg"],
        "cpu": "kvm64",
        "memory_mb": 256,
        "append": "",
        "boot": [],
        "failed_marker": "MITIGAUGE-GUEST-FAILED",
    }
    end = guests.Endpoint(["-netdev", "user,id=n0"], "10.0.2.15/24", "127.0.0.1", 1)
    with guests.booted(without_kernel(manifest, end, tmp_path, asked)) as guest:
        with closing(opened(guest.process, guest.monitor)):
            guest.serial.write_text(SERIAL)
        assert guest.got() == got


def without_kernel(manifest: Any, end: Any, folder: Path, asked: dict[str, str]) -> Any:
    """A machine that is made, and boots nothing."""

    class Made(guests.Guest):  # type: ignore[misc, name-defined]
        def _system(self, *_: object) -> list[str]:
            return []

    return Made(manifest, end, 1, folder, 1, None, asked)


HUGE = """\
7f0000000000-7f0010000000 rw-s 00000000 00:0f 1 /memfd:memory-backend-memfd (deleted)
Size:             262144 kB
KernelPageSize:     2048 kB
VmFlags: rd wr sh mr mw me ms de ht
7f0020000000-7f0040000000 rw-p 00000000 00:00 0
KernelPageSize:        4 kB
7f0050000000-7f0090000000 ---p 00000000 00:00 0
KernelPageSize:        4 kB
"""


@pytest.mark.parametrize(
    ("size_mb", "backing"), [(256, "hugepages"), (257, "plain"), (512, "plain"), (513, "unknown")]
)
def test_the_backing_is_that_of_the_mapping_that_holds_the_memory(
    size_mb: int, backing: str
) -> None:
    assert memories.backing_of(memories.found_in(HUGE, size_mb)) == backing


def test_huge_pages_that_the_host_has_not_reserved_are_said_so(tmp_path: Path) -> None:
    words = "qemu-system-x86_64: unable to map backing store for guest RAM: Cannot allocate memory"
    manifest = {
        "command": ["sh", "-c", f"echo {words} >&2; exit 1"],
        "cpu": "kvm64",
        "memory_mb": 256,
        "append": "",
        "boot": [],
        "failed_marker": "MITIGAUGE-GUEST-FAILED",
    }
    end = guests.Endpoint([], "10.0.2.15/24", "127.0.0.1", 1)
    asked = {"memory_backing": "hugepages"}
    with guests.booted(guests.Guest(manifest, end, 1, tmp_path, 1, None, asked)) as guest:
        guest.process.wait(20)
        with pytest.raises(iperf.contract.CaseError, match=r"cannot make the guest: .*allocate"):
            guest.check()


@needs_qemu
def test_a_guest_that_the_host_cannot_make_is_said_by_name(tmp_path: Path) -> None:
    manifest = {
        # Without the arguments of a system that is to be started.
        "command": [
            "sh",
            "-c",
            f'exec {QEMU} -S -display none -machine pc,accel=tcg "$1" "$2"',
            "sh",
        ],
        "cpu": "kvm64",
        "append": "",
        "boot": [],
        "failed_marker": "MITIGAUGE-GUEST-FAILED",
    }
    end = guests.Endpoint([], "10.0.2.15/24", "127.0.0.1", 1)
    asked = {"cpu": "SapphireRapids"}
    with guests.booted(guests.Guest(manifest, end, 1, tmp_path, 1, None, asked)) as guest:
        guest.process.wait(20)
        with pytest.raises(
            iperf.contract.CaseError, match=r"cannot make the guest: .*(Sapphire|feature)"
        ):
            guest.check()
