"""Which drivers a host boots by, and which a kernel on it lacks: over trees like sysfs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.loading import load

drivers = load("ansible/module_utils/mitigauge_drivers.py")
kernel_list = load("ansible/roles/kernel/library/kernel_list.py")

RUNNING, CANDIDATE = "6.12.118+deb13-amd64", "7.2.12-mg0123456789"
BUILT_IN = "kernel/drivers/pci/pcie/portdrv.ko\nkernel/fs/ext4/ext4.ko\n"
# As depmod writes them: a path, and the paths that it needs.
LOADED = "".join(
    f"kernel/{path}.ko.xz: kernel/lib/x.ko.xz\n"
    for path in (
        "drivers/ata/ahci", "drivers/scsi/sd_mod", "drivers/nvme/host/nvme", "drivers/md/dm-mod",
        "drivers/md/md-mod", "drivers/md/raid1", "drivers/md/raid456", "drivers/md/dm-crypt",
        "fs/btrfs/btrfs",
        "drivers/net/ethernet/intel/e1000e/e1000e", "drivers/net/bonding/bonding",
        "drivers/net/ethernet/intel/igb/igb", "drivers/usb/net/cdc_ether",
    )
)  # fmt: skip
AHCI = "devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0"
NVME = "devices/pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0"


class Host:
    """A root folder that is filled as a kernel fills /sys and /proc."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.has(RUNNING, BUILT_IN, LOADED)

    def has(self, release: str, built_in: str, loaded: str = "") -> None:
        for name, text in (("modules.builtin", built_in), ("modules.dep", loaded)):
            self.write(f"lib/modules/{release}/{name}", text)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def link(self, path: str, to: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.relpath(self.root / to, place.parent))

    def bind(self, device: str, driver: str, module: str = "") -> None:
        """A driver, with its module where sysfs names one."""
        (self.root / "sys" / device).mkdir(parents=True, exist_ok=True)
        place = f"sys/bus/x/drivers/{driver}"
        if not (self.root / place).exists():
            (self.root / place).mkdir(parents=True)
            if module:
                (self.root / f"sys/module/{module}").mkdir(parents=True, exist_ok=True)
                self.link(f"{place}/module", f"sys/module/{module}")
        self.link(f"sys/{device}/driver", place)

    def mount(self, number: str, file_system: str, source: str = "/dev/x") -> None:
        self.write(
            "proc/self/mountinfo",
            "22 1 0:2 / / rw - rootfs rootfs rw\n"
            f"28 1 {number} / / rw,relatime shared:1 - {file_system} {source} rw\n"
            "40 28 0:37 / /run rw - tmpfs tmpfs rw\n",
        )

    def ahci_disk(self, number: str = "8:1") -> None:
        self.bind("devices/pci0000:00/0000:00:1f.2", "ahci", "ahci")
        self.bind(AHCI, "sd", "sd_mod")
        self.write(f"sys/{AHCI}/block/sda/sda1/partition", "1")
        self.link(f"sys/dev/block/{number}", f"sys/{AHCI}/block/sda/sda1")
        self.link("sys/class/block/sda1", f"sys/{AHCI}/block/sda/sda1")

    def card(self, name: str, driver: str, *, state: str = "up") -> None:
        device = f"devices/pci0000:00/0000:02:{len(name):02}.{driver}"
        self.bind(device, driver, driver)
        self.write(f"sys/{device}/net/{name}/operstate", state)
        self.link(f"sys/{device}/net/{name}/device", f"sys/{device}")
        self.link(f"sys/class/net/{name}", f"sys/{device}/net/{name}")

    def route(self, name: str) -> None:
        self.write(
            "proc/net/route",
            "Iface\tDestination\tGateway \tFlags\n"
            f"{name}\t00000000\t0100A8C0\t0003\neth9\t0000A8C0\t00000000\t0001\n",
        )

    def used(self) -> dict[str, str]:
        return dict(drivers.drivers_in_use(self.root, RUNNING))


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_a_disk_its_controller_its_file_system_and_the_card_are_named(host: Host) -> None:
    host.ahci_disk()
    host.mount("8:1", "ext4")
    host.card("eno1", "e1000e")
    host.card("usb0", "cdc_ether")
    host.route("eno1")
    assert host.used() == {
        "ext4": "the root's file system",
        "sd_mod": "the root's disk",
        "ahci": "the root's disk",
        "e1000e": "the network card",
    }


@pytest.mark.parametrize(
    ("level", "module"), [("raid1", "raid1"), ("raid5", "raid456"), ("raid6", "raid456")]
)
def test_what_lies_below_lvm_over_raid_is_found(host: Host, level: str, module: str) -> None:
    host.ahci_disk()
    host.write("sys/devices/virtual/block/dm-0/dm/uuid", "LVM-abc")
    host.write("sys/devices/virtual/block/md0/md/level", level)
    host.link("sys/dev/block/253:0", "sys/devices/virtual/block/dm-0")
    host.link("sys/devices/virtual/block/dm-0/slaves/md0", "sys/devices/virtual/block/md0")
    host.link("sys/devices/virtual/block/md0/slaves/sda1", f"sys/{AHCI}/block/sda/sda1")
    host.mount("253:0", "ext4")
    assert set(host.used()) == {"ext4", "dm_mod", "md_mod", module, "sd_mod", "ahci"}


def test_a_disk_that_may_have_several_paths_leads_to_its_controllers(host: Host) -> None:
    host.bind("devices/pci0000:00/0000:00:01.0/0000:01:00.0", "nvme", "nvme")
    (host.root / "sys" / NVME).mkdir(parents=True)
    subsystem = "sys/devices/virtual/nvme-subsystem/nvme-subsys0"
    (host.root / subsystem / "nvme0n1").mkdir(parents=True)
    host.link(f"{subsystem}/nvme0", f"sys/{NVME}")
    host.link("sys/class/block/nvme0n1", f"{subsystem}/nvme0n1")
    # btrfs says a device number of its own.
    host.write("dev/nvme0n1", "")
    host.mount("0:25", "btrfs", "/dev/nvme0n1")
    assert host.used() == {"btrfs": "the root's file system", "nvme": "the root's disk"}


def test_of_a_bond_the_cards_below_count(host: Host) -> None:
    host.card("eno1", "igb")
    (host.root / "sys/devices/virtual/net/bond0/bonding").mkdir(parents=True)
    host.link("sys/class/net/bond0", "sys/devices/virtual/net/bond0")
    host.link("sys/devices/virtual/net/bond0/lower_eno1", "sys/class/net/eno1")
    host.route("bond0")
    assert set(host.used()) == {"bonding", "igb"}


def test_without_a_default_route_the_cards_that_are_up_count(host: Host) -> None:
    host.card("eno1", "igb")
    host.card("eno22", "e1000e", state="down")
    assert set(host.used()) == {"igb"}


def test_a_kernel_without_a_driver_is_named_with_what_needs_it(host: Host) -> None:
    host.ahci_disk()
    host.mount("8:1", "ext4")
    host.has(CANDIDATE, "kernel/fs/ext4/ext4.ko\nkernel/drivers/scsi/sd_mod.ko\n")
    wanted = [f"linux-image-{CANDIDATE}", f"linux-image-{RUNNING}", "linux-image-amd64"]
    assert kernel_list.without_drivers(host.root, wanted, RUNNING) == [
        f"kernel {CANDIDATE} lacks the driver ahci (of the root's disk)"
    ]
    host.has(CANDIDATE, "kernel/fs/ext4/ext4.ko\n", "kernel/drivers/ata/ahci.ko:\n")
    assert "lacks the driver sd_mod" in drivers.lacking(host.root, CANDIDATE, host.used())


def test_what_nobody_can_tell_is_not_said_to_be_missing(host: Host) -> None:
    host.ahci_disk()
    host.mount("8:1", "ext4")
    # The running kernel has no lists: a name may be a driver's and no module's.
    assert drivers.drivers_in_use(host.root, "6.1-nowhere") == {}
    assert drivers.lacking(host.root, "6.1-nowhere", host.used()) == ""
    # One list alone: what is built in, or what is not, is not known.
    host.has("6.1-half", "kernel/fs/ext4/ext4.ko\n")
    (host.root / "lib/modules/6.1-half/modules.dep").unlink()
    assert drivers.lacking(host.root, "6.1-half", host.used()) == ""
    host.bind("devices/pci0000:00", "pcieport")
    assert "pcieport" not in host.used()


def test_a_driver_that_is_not_of_the_kernel_s_source_need_not_be_in_a_candidate(host: Host) -> None:
    host.has(RUNNING, BUILT_IN, LOADED + "updates/dkms/r8168.ko.xz:\nextra/zfs.ko:\n")
    host.card("eno1", "r8168")
    host.mount("0:25", "zfs", "tank/root")
    assert host.used() == {}


def test_a_ring_of_devices_ends(host: Host) -> None:
    for one, other in (("dm-0", "dm-1"), ("dm-1", "dm-0")):
        host.write(f"sys/devices/virtual/block/{one}/dm/uuid", "CRYPT-x")
        host.link(
            f"sys/devices/virtual/block/{one}/slaves/{other}", f"sys/devices/virtual/block/{other}"
        )
    host.link("sys/dev/block/253:0", "sys/devices/virtual/block/dm-0")
    host.mount("253:0", "ext4")
    assert set(host.used()) == {"ext4", "dm_mod", "dm_crypt"}
