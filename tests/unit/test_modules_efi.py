"""One boot by the firmware: what efibootmgr and lsblk of a real machine show, and a firmware of
ours that answers as firmwares do.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from tests.loading import load

boot_entry = load("ansible/roles/boot_mode/library/boot_entry.py")
efi = boot_entry.efi

FIXTURES = REPOSITORY / "tests/fixtures/efi"
# Of a machine of two disks with a system partition each, the system on LVM over RAID 1.
LISTING = (FIXTURES / "ovmf-two-disks.txt").read_text()
DEVICES = json.loads((FIXTURES / "lvm-on-raid.lsblk.json").read_text())
FIRST_DISKS = "1283aa7c-3f8a-0a48-8122-179df632b9ce"
RELEASE = "6.12.118+deb13-amd64"
CMDLINE = f"BOOT_IMAGE=/boot/vmlinuz-{RELEASE} root=/dev/mapper/vg0-root ro console=ttyS1,115200"
NONCE = "b01-off-4f2a"


def test_what_efibootmgr_shows_is_read() -> None:
    now = efi.variables_of(LISTING)
    assert (now.current, now.next) == ("0004", None)
    assert now.order == ("0004", "0000", "0001", "0002", "0003")
    assert sorted(now.entries) == ["0000", "0001", "0002", "0003", "0004"]
    assert now.ours == []
    told = LISTING.replace("Boot0002* UEFI QEMU NVMe Ctrl MG1 1\t", "Boot0002* mitigauge\t")
    assert efi.variables_of(told.replace("Timeout", "BootNext: 0002\nTimeout")).ours == ["0002"]
    # A label that only begins as ours is another's.
    assert efi.variables_of(told.replace("* mitigauge\t", "* mitigauge 2\t")).ours == []


def test_the_partition_is_the_one_that_the_system_was_started_from() -> None:
    partitions = efi.partitions_in(DEVICES)
    assert {(each.disk, each.number, each.id) for each in partitions} == {
        ("/dev/nvme0n1", 1, FIRST_DISKS),
        ("/dev/nvme1n1", 1, "d1859603-9c78-414c-bf19-bcebdd73bb24"),
    }
    chosen = efi.system_partition(partitions, efi.variables_of(LISTING))
    assert (chosen.source, chosen.place) == ("/dev/nvme0n1p1", Path("/boot/efi"))
    # Started from the other disk, whatever is mounted.
    other = LISTING.replace(FIRST_DISKS, "D1859603-9C78-414C-BF19-BCEBDD73BB24")
    started = efi.system_partition(partitions, efi.variables_of(other))
    assert (started.disk, started.place) == ("/dev/nvme1n1", None)


def test_without_a_word_of_the_firmware_the_mounted_partition_is_taken_and_two_are_refused() -> (
    None
):
    partitions = efi.partitions_in(DEVICES)
    silent = efi.variables_of(LISTING.replace("BootCurrent: 0004", "BootCurrent: 0001"))
    assert efi.system_partition(partitions, silent).id == FIRST_DISKS
    nowhere = [efi.Partition(p.disk, p.number, p.id, p.source, None) for p in partitions]
    with pytest.raises(efi.Refused, match=r"several EFI system partitions \(.*mount that one"):
        efi.system_partition(nowhere, silent)
    assert efi.system_partition(nowhere[:1], silent) is nowhere[0]
    with pytest.raises(efi.Refused, match="no EFI system partition"):
        efi.system_partition([], silent)


def test_a_partition_that_is_half_of_an_array_is_written_through_the_array() -> None:
    # As installers of rented machines lay it out: metadata 1.0 at the partition's end.
    half = {"name": "sda1", "path": "/dev/sda1", "parttype": efi.ESP_TYPE, "partuuid": "AA-1",
            "mountpoints": [None],
            "children": [{"name": "md0", "path": "/dev/md0", "parttype": None, "partuuid": None,
                          "mountpoints": ["/boot/efi"]}]}  # fmt: skip
    listing = {"blockdevices": [{"name": "sda", "path": "/dev/sda", "children": [half]}]}
    [partition] = efi.partitions_in(listing)
    assert partition == efi.Partition("/dev/sda", 1, "aa-1", "/dev/md0", Path("/boot/efi"))
    # With its other half there is still one place to write to.
    listing["blockdevices"].append(json.loads(json.dumps(listing["blockdevices"][0]).replace(
        "sda", "sdb").replace("AA-1", "BB-2")))  # fmt: skip
    halves = efi.partitions_in(listing)
    assert len(halves) == 2
    silent = efi.variables_of("BootCurrent: 0001\nBoot0001* x\tPciRoot(0x0)")
    assert efi.system_partition(halves, silent).source == "/dev/md0"


@pytest.mark.parametrize(
    ("cmdline", "options"),
    [
        (CMDLINE, ("root=/dev/mapper/vg0-root", "ro", "console=ttyS1,115200")),
        # systemd-boot names the initial RAM disk, GRUB of Fedora the image with its disk.
        ("initrd=\\abc\\initrd root=UUID=1 rw", ("root=UUID=1", "rw")),
        ("BOOT_IMAGE=(hd0,gpt2)/vmlinuz-7 root=UUID=1 rhgb", ("root=UUID=1", "rhgb")),
    ],
)
def test_a_boot_loaders_own_words_are_left_out(cmdline: str, options: tuple[str, ...]) -> None:
    assert efi.base_options(cmdline) == options


def test_a_system_that_was_started_for_its_repair_is_no_base() -> None:
    with pytest.raises(efi.Refused, match=r"for its repair \(single\)"):
        efi.base_options(f"{CMDLINE} single")


@dataclass
class Firmware:
    """efibootmgr with a firmware behind it. *quirk*: what it does otherwise than it should."""

    quirk: str = ""
    entries: dict[str, str] = field(
        default_factory=lambda: {"0004": f"debian\tHD(1,GPT,{FIRST_DISKS},0x800,0x96000)/File(x)"}
    )
    order: list[str] = field(default_factory=lambda: ["0004"])
    next: str | None = None
    asked: list[tuple[str, ...]] = field(default_factory=list)
    esp: str = "/boot/efi"
    options: str = "rw,nosuid"

    def __call__(self, *words: str) -> str:
        self.asked.append(words)
        if words[0] == "findmnt":
            return self.options
        if words[0] == "lsblk":
            return json.dumps(DEVICES).replace("/boot/efi", self.esp)
        if words[0] == "efibootmgr":
            return self._manage(list(words[1:]))
        return ""

    def _manage(self, words: list[str]) -> str:
        if words == ["-v"]:
            return self._shown()
        value = dict(pairwise(words))
        if "--create-only" in words:
            if self.quirk == "full":
                raise efi.Refused("efibootmgr failed: Could not prepare Boot variable: No space "
                                  "left on device")  # fmt: skip
            if self.quirk != "rewrites":
                self.entries["0005"] = f"{value['--label']}\tHD(1,GPT,x)/File({value['--loader']})"
            if self.quirk == "orders":
                self.order.insert(0, "0005")
        elif "--bootnext" in words and self.quirk != "ignores":
            self.next = value["--bootnext"]
        elif "--delete-bootnext" in words:
            self.next = None
        elif "--delete-bootnum" in words:
            del self.entries[value["--bootnum"]]
            self.order = [each for each in self.order if each != value["--bootnum"]]
        return ""

    def _shown(self) -> str:
        lines = ["BootCurrent: 0004", f"BootOrder: {','.join(self.order)}"]
        lines += [f"BootNext: {self.next}"] if self.next else []
        return "\n".join([*lines, *(f"Boot{n}* {rest}" for n, rest in self.entries.items())])


@pytest.fixture
def firmware(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Firmware:
    """A host that starts by EFI, with two kernels and its system partition in *tmp_path*."""
    made = Firmware(esp=str(tmp_path / "esp"))
    for place in ("esp", "efivars", "boot"):
        (tmp_path / place).mkdir()
    (tmp_path / "efivars" / "Boot0004-x").touch()
    (tmp_path / "fw_platform_size").write_text("64\n")
    for release in (RELEASE, "7.2.12-candidate"):
        (tmp_path / "boot" / f"vmlinuz-{release}").write_bytes(b"MZ" + release.encode() * 100)
        (tmp_path / "boot" / f"initrd.img-{release}").write_bytes(b"cpio" + release.encode())
    monkeypatch.setattr(efi, "run", made)
    monkeypatch.setattr(efi, "FIRMWARE", tmp_path)
    monkeypatch.setattr(efi, "EFIVARS", tmp_path / "efivars")
    monkeypatch.setattr(efi, "BASE", tmp_path / "mitigauge" / "boot_base.json")
    monkeypatch.setattr(efi, "ROOT", tmp_path)
    monkeypatch.setattr(efi, "note_paths", lambda _: None)
    monkeypatch.setattr(efi, "note_entry", lambda: None)
    monkeypatch.setattr(efi, "_partition_number", lambda _: 1)
    monkeypatch.setattr(efi.shutil, "which", "/usr/bin/{}".format)
    monkeypatch.setattr(boot_entry, "run", made)
    monkeypatch.setattr(boot_entry, "WATCHDOG", tmp_path / "no-watchdog")
    monkeypatch.setattr(boot_entry.os, "sync", lambda: None)
    monkeypatch.setattr(
        boot_entry.os, "uname", lambda: SimpleNamespace(release=RELEASE, version="#1")
    )
    return made


def boot(
    monkeypatch: pytest.MonkeyPatch, up: str = CMDLINE, **changes: str | bool
) -> dict[str, Any]:
    """Arm one boot, from a system whose command line is *up*."""
    wanted = {"nonce": NONCE, "cmdline": "vmscape=off", "kernel": "", "method": "reset",
              "loader": "auto", "watchdog": True, **changes}  # fmt: skip
    read = Path.read_text

    def text(path: Path, *arguments: object, **named: object) -> str:
        shown = {"/proc/cmdline": up, "/proc/sys/kernel/random/boot_id": "boot-1"}
        return shown.get(str(path)) or read(path, *arguments, **named)

    monkeypatch.setattr(Path, "read_text", text)
    changed, facts = boot_entry.boot(wanted, check=False)
    assert changed
    return facts


def test_a_kernel_is_put_onto_the_partition_and_named_for_the_next_boot_alone(
    firmware: Firmware, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = boot(monkeypatch, kernel="7.2.12-candidate")
    assert (firmware.next, firmware.order) == ("0005", ["0004"])
    assert (facts["loader"], facts["entry_id"], facts["default_entry"]) == (
        "efi", "Boot0005", RELEASE,
    )  # fmt: skip
    folder = tmp_path / "esp" / "EFI" / "mitigauge"
    assert sorted(path.name for path in folder.iterdir()) == ["initrd.img", "vmlinuz.efi"]
    assert b"7.2.12-candidate" in (folder / "vmlinuz.efi").read_bytes()
    [made] = [words for words in firmware.asked if "--create-only" in words]
    value = dict(pairwise(made))
    assert value["--loader"] == "\\EFI\\mitigauge\\vmlinuz.efi"
    assert (value["--disk"], value["--part"]) == ("/dev/nvme0n1", "1")
    assert value["--unicode"] == (
        "initrd=\\EFI\\mitigauge\\initrd.img root=/dev/mapper/vg0-root ro console=ttyS1,115200 "
        f"vmscape=off mitigauge.nonce={NONCE} panic=10"
    )
    assert firmware.asked[-1][-1].endswith("; exec systemctl reboot")


def test_the_next_boot_is_made_from_what_ran_before_any_arm(
    firmware: Firmware, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot(monkeypatch)
    up = f"initrd=\\x root=/dev/mapper/vg0-root ro vmscape=off mitigauge.nonce={NONCE} panic=10"
    facts = boot(monkeypatch, up, nonce="b02-on-1", cmdline="vmscape=ibpb")
    assert facts["cmdline"] == (
        "root=/dev/mapper/vg0-root ro console=ttyS1,115200 vmscape=ibpb mitigauge.nonce=b02-on-1 "
        "panic=10"
    )
    assert facts["kernel_release"] == RELEASE
    assert firmware.next == "0005"
    assert len([e for e in firmware.entries.values() if e.startswith("mitigauge\t")]) == 1


def test_an_arm_that_is_up_without_a_word_of_what_was_before_it_is_refused(
    firmware: Firmware, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(efi.Refused, match=r"does not say what the host boots by itself: reboot"):
        boot(monkeypatch, "root=/dev/sda1 mitigauge.nonce=other")
    assert firmware.next is None


@pytest.mark.parametrize(
    ("quirk", "reason"),
    [
        ("full", r"No space left on device.*remove old entries"),
        ("orders", r"BootOrder 0005,0004 where 0004 was"),
        ("ignores", r"BootNext None after 0005 was set"),
        ("rewrites", r"keeps 0 entries named mitigauge"),
    ],
)
def test_a_firmware_that_does_otherwise_is_told_by_name_and_the_host_stays_up(
    firmware: Firmware, monkeypatch: pytest.MonkeyPatch, quirk: str, reason: str
) -> None:
    firmware.quirk = quirk
    with pytest.raises(efi.Refused, match=reason):
        boot(monkeypatch)
    assert firmware.next is None
    assert "0005" not in firmware.entries
    assert not any("systemd-run" in words for words in firmware.asked)


def test_an_entry_of_ours_that_somebody_put_first_is_first_no_more(
    firmware: Firmware, monkeypatch: pytest.MonkeyPatch
) -> None:
    firmware.entries["0007"] = "mitigauge\tHD(1,GPT,x)/File(y)"
    firmware.order = ["0007", "0004"]
    boot(monkeypatch)
    assert (firmware.order, firmware.next) == (["0004"], "0005")


def test_half_a_file_is_taken_away_and_a_full_partition_refused(
    firmware: Firmware, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "esp" / "EFI" / "mitigauge"
    folder.mkdir(parents=True)
    (folder / "vmlinuz.efi.new").write_bytes(b"MZ, and then the power went")
    boot(monkeypatch)
    assert not (folder / "vmlinuz.efi.new").exists()
    monkeypatch.setattr(efi, "_free", lambda _: 100 << 10)
    with pytest.raises(efi.Refused, match=r"has 0 MiB free, kernel and initial RAM disk need 1"):
        boot(monkeypatch, kernel="7.2.12-candidate")


def test_a_disk_that_fills_up_in_the_midst_leaves_no_half_kernel(
    firmware: Firmware, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy(_source: object, target: object, _size: int) -> None:
        target.write(b"MZ half")  # type: ignore[attr-defined]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(efi.shutil, "copyfileobj", copy)
    with pytest.raises(OSError, match="No space left"):
        boot(monkeypatch)
    assert list((tmp_path / "esp" / "EFI" / "mitigauge").iterdir()) == []
    assert firmware.next is None


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda root: (root / "fw_platform_size").write_text("32"), "of 32 bits"),
        (lambda root: shutil.rmtree(root / "efivars"), "efivars is empty: mount efivarfs"),
    ],
)
def test_a_firmware_that_cannot_be_told_is_refused_by_what_it_lacks(
    firmware: Firmware,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path], object],
    reason: str,
) -> None:
    spoil(tmp_path)
    assert reason in efi.why_not()
    with pytest.raises(efi.Refused, match=reason):
        boot_entry.loader_for("efi")
    monkeypatch.setattr(boot_entry, "GRUB", tmp_path / "grub")
    with pytest.raises(efi.Refused, match=rf"{reason}.*and no GRUB is there"):
        boot_entry.loader_for("auto")
    (tmp_path / "grub").mkdir()
    (tmp_path / "grub" / "grub.cfg").touch()
    assert boot_entry.loader_for("auto") == "grub"


def test_under_secure_boot_the_firmware_is_asked_where_grub_cannot_be(
    firmware: Firmware, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = tmp_path / "efivars" / f"SecureBoot-{efi.GLOBAL}"
    variable.write_bytes(b"\6\0\0\0\1")
    monkeypatch.setattr(boot_entry, "GRUB", tmp_path / "grub")
    assert boot_entry.loader_for("auto") == "efi"
    (tmp_path / "grub").mkdir()
    (tmp_path / "grub" / "grub.cfg").touch()
    assert boot_entry.loader_for("auto") == "grub"
    assert boot_entry.loader_for("efi") == "efi"
    with pytest.raises(efi.Refused, match=r"has no signature: the firmware would not load it"):
        boot(monkeypatch, loader="efi")
    assert firmware.next is None
    variable.write_bytes(b"\6\0\0\0\0")
    assert boot_entry.loader_for("auto") == "efi"


def test_where_our_files_have_no_place_grub_starts_the_arm(
    firmware: Firmware, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boot_entry, "GRUB", tmp_path / "grub")
    (tmp_path / "grub").mkdir()
    (tmp_path / "grub" / "grub.cfg").touch()
    assert boot_entry.loader_for("auto") == "efi"
    monkeypatch.setattr(efi, "partitions_in", lambda _: [])
    assert boot_entry.loader_for("auto") == "grub"
    with pytest.raises(efi.Refused, match="no EFI system partition"):
        boot_entry.loader_for("efi")


def test_variables_that_are_mounted_read_only_are_refused(firmware: Firmware) -> None:
    firmware.options = "ro,nosuid"
    assert "mount -o remount,rw" in efi.why_not()
    firmware.options = "rw,nosuid"
    assert efi.why_not() == ""


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda boot: (boot / f"vmlinuz-{RELEASE}").write_bytes(b"\x7fELF"), "CONFIG_EFI_STUB=y"),
        (
            lambda boot: (boot / "initrd.img-7.2.12-candidate").unlink(),
            "update-initramfs -c -k 7.2.12-candidate",
        ),
        (lambda boot: (boot / "vmlinuz-7.2.12-candidate").unlink(), "is not on the host"),
    ],
)
def test_a_kernel_that_the_firmware_could_not_start_is_refused_before_the_boot(
    firmware: Firmware,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path], object],
    reason: str,
) -> None:
    spoil(tmp_path / "boot")
    kernel = "" if "ELF" in reason or "STUB" in reason else "7.2.12-candidate"
    with pytest.raises(efi.Refused, match=reason):
        boot(monkeypatch, kernel=kernel)
    assert firmware.next is None


def test_a_command_line_longer_than_a_kernel_reads_is_refused(
    firmware: Firmware, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(efi.Refused, match=r"has \d{4} characters, the kernel reads 2047"):
        boot(monkeypatch, cmdline=" ".join(["mitigations=off"] * 128))


def test_what_is_removed_is_our_entry_our_files_and_a_next_boot_of_ours_alone(
    firmware: Firmware, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = tmp_path / "esp" / "EFI" / "debian"
    others.mkdir(parents=True)
    boot(monkeypatch)
    assert efi.remove()
    assert (firmware.next, list(firmware.entries), firmware.order) == (None, ["0004"], ["0004"])
    assert [path.name for path in (tmp_path / "esp" / "EFI").iterdir()] == ["debian"]
    assert not efi.remove()
    # One that somebody else asked for stays.
    firmware.next = "0004"
    assert not efi.remove()
    assert firmware.next == "0004"


@pytest.mark.parametrize(
    ("image", "disk"),
    [
        ("boot/vmlinuz-7.2", "boot/initrd.img-7.2"),  # Debian, Ubuntu
        ("boot/vmlinuz-7.2", "boot/initramfs-7.2.img"),  # Fedora, RHEL
        ("boot/vmlinuz-7.2", "boot/initrd-7.2"),  # openSUSE
        ("boot/vmlinuz-linux", "boot/initramfs-linux.img"),  # Arch
        ("efi/abc/7.2/linux", "efi/abc/7.2/initrd"),  # kernel-install for systemd-boot
        ("usr/lib/modules/7.2/vmlinuz", None),
    ],
)
def test_a_kernels_files_are_where_distributions_put_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, image: str, disk: str | None
) -> None:
    monkeypatch.setattr(efi, "ROOT", tmp_path)
    places = [image, "etc/machine-id", "usr/lib/modules/7.2/pkgbase", *([disk] if disk else [])]
    for place in places:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "etc/machine-id").write_text("abc\n")
    (tmp_path / "usr/lib/modules/7.2/pkgbase").write_text("linux\n")
    for written in filter(None, (image, disk)):
        (tmp_path / written).touch()
    found = efi.files_of("7.2")
    assert found.image == tmp_path / image
    assert found.initial_disk == (tmp_path / disk if disk else None)
    with pytest.raises(efi.Refused, match=r"kernel 7\.3 is not on the host; looked for"):
        efi.files_of("7.3")
