"""The role boot_mode's module against a grub.cfg as Debian writes it, GRUB's commands recorded."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from tests.commands import CASES
from tests.loading import load

grub = load("ansible/roles/boot_mode/library/boot_entry.py")

SAVED = (REPOSITORY / "tests/fixtures/grub/saved.cfg").read_text()
BY_NUMBER = SAVED.replace('set default="${saved_entry}"', 'set default="0"')
OLDER = "gnulinux-advanced-a18b>gnulinux-7.2.12-amd64-advanced-a18b"
NONCE = "b01-off-4f2a"


def test_the_menu_has_every_linux_entry_with_its_submenus() -> None:
    assert [entry.reference for entry in grub.menu(SAVED)] == [
        "gnulinux-simple-a18b",
        "gnulinux-advanced-a18b>gnulinux-7.3.0-amd64-advanced-a18b",
        OLDER,
    ]
    assert [entry.release for entry in grub.menu(SAVED)] == [
        "7.3.0-amd64",
        "7.3.0-amd64",
        "7.2.12-amd64",
    ]


def test_an_entry_keeps_its_lines_as_they_are() -> None:
    first = grub.menu(SAVED)[0]
    assert first.options == ("root=UUID=a18b", "ro", "quiet", "mitigations=auto", "spectre_bhi=on")
    assert "\tif [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi" in first.lines


@pytest.mark.parametrize(
    ("saved", "release"),
    [
        ("", "7.3.0-amd64"),
        (OLDER, "7.2.12-amd64"),
        ("1>1", "7.2.12-amd64"),
        ("Advanced options for Debian GNU/Linux>1", "7.2.12-amd64"),
        ("gnulinux-advanced-a18b", "7.3.0-amd64"),
        # GRUB does not look into submenus for a bare id.
        ("gnulinux-7.2.12-amd64-advanced-a18b", "7.3.0-amd64"),
        ("gone-with-its-kernel", "7.3.0-amd64"),
    ],
)
def test_the_default_is_the_entry_that_grub_would_take(saved: str, release: str) -> None:
    assert grub.default_entry(grub.menu(SAVED), SAVED, saved).release == release


def test_a_default_by_number_does_not_look_at_grubenv() -> None:
    entries = grub.menu(BY_NUMBER)
    assert grub.default_entry(entries, BY_NUMBER, OLDER).release == "7.3.0-amd64"


def test_a_menu_without_linux_is_refused() -> None:
    with pytest.raises(grub.Refused, match="no Linux entry"):
        grub.default_entry([], SAVED, "")


def test_ubuntus_handover_of_the_console_is_left_out() -> None:
    text = (CASES / "16-ubuntu-vt-handoff.grub.cfg").read_text()
    [entry] = grub.menu(text)
    base = grub.default_entry([entry], text, "").options
    options = grub.arm_options(base, ["mitigations=off"], NONCE, watchdog=False)
    assert options == [
        *("root=UUID=U", "ro", "quiet", "splash", "mitigations=off"),
        *(f"mitigauge.nonce={NONCE}", "panic=10"),
    ]
    # A mode of ours has no such word.
    with pytest.raises(grub.Refused, match="boot loaders interpret"):
        grub.arm_options([], ["$vt_handoff"], NONCE, watchdog=False)


@pytest.mark.parametrize("others", ["", "menuentry 'x' {\n\tlinux /vmlinuz-1 ro\n}\n"])
def test_entries_that_are_files_of_their_own_are_refused_with_what_helps(others: str) -> None:
    text = 'set default="${saved_entry}"\ninsmod blscfg\nblscfg\n' + others
    with pytest.raises(grub.Refused, match=r"loader/entries \(BLS\).*Debian or Ubuntu"):
        grub.default_entry(grub.menu(text), text, "")


def test_an_unknown_kernel_is_refused_with_the_known_ones() -> None:
    entries = grub.menu(SAVED)
    assert grub.entry_for(entries, entries[0], "7.2.12-amd64").reference == OLDER
    with pytest.raises(grub.Refused, match=r"6\.1\.0 is not .* 7\.2\.12-amd64, 7\.3\.0-amd64"):
        grub.entry_for(entries, entries[0], "6.1.0")


def test_the_modes_options_replace_those_of_the_same_name() -> None:
    options = grub.arm_options(
        ["root=UUID=a18b", "ro", "spectre_bhi=on", "panic=60", "mitigauge.nonce=old"],
        ["spectre-bhi=off"],
        NONCE,
        watchdog=False,
    )
    assert options == [
        *("root=UUID=a18b", "ro"),
        *("spectre-bhi=off", f"mitigauge.nonce={NONCE}", "panic=10"),
    ]


def test_a_host_with_a_watchdog_has_it_armed_by_systemd() -> None:
    assert grub.arm_options([], [], NONCE, watchdog=True)[-1] == "systemd.watchdog_sec=120"


@pytest.mark.parametrize("option", ["a;reboot", "b{", "c$x", 'd="e', "f'", "g\\", "h&", "i#"])
def test_an_option_that_grub_would_interpret_is_refused(option: str) -> None:
    with pytest.raises(grub.Refused, match="boot loaders interpret"):
        grub.arm_options([], [option], NONCE, watchdog=False)


@pytest.mark.parametrize(
    "option", ["vmscape=ibpb", "spectre_v2=retpoline,lfence", "root=/dev/vda1", "a.b=~c:d@e+f%g^h"]
)
def test_an_ordinary_option_is_taken(option: str) -> None:
    assert option in grub.arm_options([], [option], NONCE, watchdog=False)


def test_the_entry_is_the_known_one_with_other_options() -> None:
    text = grub.arm_entry(grub.menu(SAVED)[0], ["ro", "vmscape=off"])
    assert "--id 'mitigauge-arm' {" in text
    assert "\tlinux\t/vmlinuz-7.3.0-amd64 ro vmscape=off\n" in text
    assert "\tinitrd\t/initrd.img-7.3.0-amd64\n" in text
    assert "mitigations=auto" not in text


@pytest.mark.parametrize("command", ["linux16", "linuxefi"])
def test_the_entry_loads_the_kernel_by_the_command_of_the_known_one(command: str) -> None:
    known = SAVED.replace("\tlinux\t", f"\t{command}\t")
    assert f"\t{command}\t/vmlinuz-7.3.0-amd64 ro\n" in grub.arm_entry(grub.menu(known)[0], ["ro"])


def test_what_others_wrote_into_custom_cfg_stays() -> None:
    theirs = "menuentry 'memtest' {\n}\n"
    ours = grub.arm_entry(grub.menu(SAVED)[0], ["ro"])
    assert grub.without_ours(theirs + ours) == theirs
    assert grub.without_ours(ours + theirs) == theirs
    assert grub.without_ours(theirs) == theirs


@pytest.mark.parametrize(
    ("source", "filesystem", "size", "said"),
    [
        ("/dev/vda1", "ext4", 1024, ""),
        ("/dev/nvme0n1p2", "xfs", 1024, ""),
        ("/dev/sda2[/@]", "btrfs", 1024, "btrfs"),
        ("rpool/ROOT", "zfs", 1024, "zfs"),
        ("/dev/mapper/vg-root", "ext4", 1024, "device layer"),
        ("/dev/md0", "ext4", 1024, "device layer"),
        ("/dev/vda1", "ext4", 1000, "1000 bytes"),
    ],
)
def test_grub_writes_only_what_it_finds_as_plain_blocks(
    source: str, filesystem: str, size: int, said: str
) -> None:
    reason = grub.unwritable(source, filesystem, size)
    assert said in reason
    assert bool(said) == bool(reason)


def bzimage(text: bytes) -> bytes:
    """The start of a kernel image whose version text is `text`."""
    image = bytearray(0x400)
    image[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", image, 0x20E, 0x100)
    image[0x300 : 0x300 + len(text)] = text
    return bytes(image)


def test_the_image_says_its_version_before_it_boots() -> None:
    image = bzimage(b"7.2.12-amd64 (debian@lists) #1 SMP PREEMPT_DYNAMIC Debian 7.2.12-1\0junk")
    assert grub.image_version(image) == "#1 SMP PREEMPT_DYNAMIC Debian 7.2.12-1"
    assert grub.image_version(b"\x7fELF" + bytes(0x400)) is None


class Grub:
    """Answers as GRUB's commands and systemd do, and keeps what was asked."""

    def __init__(self, directory: Path, filesystem: str = "/dev/vda1 ext4") -> None:
        self.variables: dict[str, str] = {}
        self.asked: list[str] = []
        self.filesystem = filesystem
        self.directory = directory
        self.takes_kexec = True

    def __call__(self, *words: str) -> str:
        command = words[0]
        self.asked.append(" ".join(words))
        if command == "findmnt":
            return self.filesystem
        if command == "grub-editenv" and words[2] == "list":
            return "".join(f"{key}={value}\n" for key, value in self.variables.items())
        if command == "grub-editenv":
            self.variables.pop(words[3], None)
        if command == "grub-set-default":
            self.variables["saved_entry"] = words[1]
        if command == "grub-reboot":
            self.variables["next_entry"] = words[1]
        if command == "kexec":
            loaded = {"--load": "1", "--unload": "0"}[words[1]] if self.takes_kexec else "0"
            (self.directory / "kexec_loaded").write_text(f"{loaded}\n")
        if command == "update-grub":
            (self.directory / "grub.cfg").write_text(SAVED)
        return ""

    def did(self, command: str) -> bool:
        return any(asked.startswith(command) for asked in self.asked)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Grub:
    """A host with one kernel image of each release, and no watchdog."""
    host = Grub(tmp_path)
    (tmp_path / "grub.cfg").write_text(SAVED)
    (tmp_path / "grubenv").write_bytes(b"#" * 1024)
    monkeypatch.setattr(grub, "GRUB", tmp_path)
    monkeypatch.setattr(grub.efi, "FIRMWARE", tmp_path / "no-efi")
    monkeypatch.setattr(grub.efi, "EFIVARS", tmp_path / "no-efi" / "efivars")
    monkeypatch.setattr(grub, "PIN", tmp_path / "grub.d" / "mitigauge.cfg")
    monkeypatch.setattr(grub, "WATCHDOG", tmp_path / "no-watchdog")
    monkeypatch.setattr(grub, "run", host)
    monkeypatch.setattr(grub, "KEXEC_LOADED", tmp_path / "kexec_loaded")
    monkeypatch.setattr(grub.shutil, "which", lambda program: f"/usr/sbin/{program}")
    monkeypatch.setattr(grub, "file_of", lambda path: Path("/boot" + path))
    monkeypatch.setattr(grub, "start_of_image", lambda _: bzimage(b"7.2 (x) #2 SMP\0"))
    monkeypatch.setattr(grub.os, "sync", lambda: None)
    return host


def params(**changes: str | bool) -> dict[str, Any]:
    return {
        "nonce": NONCE,
        "cmdline": "vmscape=off",
        "kernel": "",
        "method": "reset",
        "loader": "auto",
        "watchdog": True,
        **changes,
    }


def test_a_boot_is_armed_once_with_the_known_good_entry_as_default(machine: Grub) -> None:
    machine.variables = {"saved_entry": OLDER}
    changed, facts = grub.boot(params(), check=False)
    assert changed
    assert machine.variables == {"saved_entry": OLDER, "next_entry": "mitigauge-arm"}
    assert facts["default_entry"] == OLDER
    assert facts["kernel_release"] == "7.2.12-amd64"
    assert facts["kernel_version"] == "#2 SMP"
    assert facts["watchdog"] is None
    written = (machine.directory / "custom.cfg").read_text()
    assert facts["cmdline"].split()[-3:] == ["vmscape=off", f"mitigauge.nonce={NONCE}", "panic=10"]
    assert f"linux\t/vmlinuz-7.2.12-amd64 {facts['cmdline']}\n" in written
    assert machine.asked[-1].endswith("; exec systemctl reboot")


@pytest.mark.parametrize("wanted", [True, False])
def test_a_watchdog_is_armed_unless_the_inventory_switches_it_off(
    wanted: bool, machine: Grub, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = machine.directory / "watchdog0"
    device.mkdir()
    (device / "identity").write_text("iTCO_wdt\n")
    monkeypatch.setattr(grub, "WATCHDOG", device)
    _, facts = grub.boot(params(watchdog=wanted), check=False)
    assert ("systemd.watchdog_sec=120" in facts["cmdline"].split()) is wanted
    assert (facts["watchdog"] is not None) is wanted


def test_another_kernel_under_test_does_not_become_the_default(machine: Grub) -> None:
    machine.variables = {"saved_entry": OLDER}
    _, facts = grub.boot(params(kernel="7.3.0-amd64"), check=False)
    assert facts["kernel_release"] == "7.3.0-amd64"
    assert machine.variables["saved_entry"] == OLDER


def test_check_mode_says_what_it_would_do_and_does_nothing(machine: Grub) -> None:
    changed, facts = grub.boot(params(), check=True)
    assert changed
    assert facts["entry_id"] == "mitigauge-arm"
    assert not (machine.directory / "custom.cfg").exists()
    assert machine.variables == {}
    assert not machine.did("systemd-run")


def test_a_boot_that_is_up_already_is_left_alone(
    machine: Grub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grub, "nonce_of", lambda _: NONCE)
    changed, facts = grub.boot(params(), check=False)
    assert (changed, facts["already_up"], facts["previous_boot_id"]) == (False, True, None)
    assert machine.asked == []


@pytest.mark.parametrize(
    ("config", "filesystem", "reason"),
    [
        (SAVED, "/dev/sda1 btrfs", "for ever"),
        (SAVED.replace("custom.cfg", "other.cfg"), "/dev/vda1 ext4", "does not source custom.cfg"),
        (SAVED.replace("next_entry", "prev"), "/dev/vda1 ext4", "does not know next_entry"),
    ],
)
def test_a_host_that_would_not_boot_it_just_once_is_refused_untouched(
    machine: Grub, config: str, filesystem: str, reason: str
) -> None:
    (machine.directory / "grub.cfg").write_text(config)
    machine.filesystem = filesystem
    with pytest.raises(grub.Refused, match=reason):
        grub.boot(params(), check=False)
    assert not (machine.directory / "custom.cfg").exists()
    assert not machine.did("systemd-run")


@pytest.mark.parametrize("nonce", ["", "two words", "a;b", "x" * 65])
def test_a_nonce_that_is_no_word_is_refused(machine: Grub, nonce: str) -> None:
    with pytest.raises(grub.Refused, match="nonce"):
        grub.boot(params(nonce=nonce), check=False)


def test_the_host_does_not_reboot_when_grubenv_did_not_take_the_entry(
    machine: Grub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grub, "environment", dict)
    with pytest.raises(grub.Refused, match="after grub-reboot"):
        grub.boot(params(), check=False)
    assert not machine.did("systemd-run")


def test_removing_leaves_what_others_wrote_and_does_nothing_twice(machine: Grub) -> None:
    theirs = "menuentry 'memtest' {\n}\n"
    (machine.directory / "custom.cfg").write_text(theirs)
    grub.boot(params(), check=False)
    assert grub.remove(check=False)
    assert (machine.directory / "custom.cfg").read_text() == theirs
    assert "next_entry" not in machine.variables
    assert not grub.remove(check=False)


def test_removing_the_only_entry_removes_the_file(machine: Grub) -> None:
    grub.boot(params(), check=False)
    assert grub.remove(check=True)
    assert (machine.directory / "custom.cfg").exists()
    assert grub.remove(check=False)
    assert not (machine.directory / "custom.cfg").exists()


def test_pinning_names_the_running_kernels_entry_once(
    machine: Grub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grub, "nonce_of", lambda _: None)
    monkeypatch.setattr(grub, "entry_for", lambda entries, *_: entries[2])
    changed, facts = grub.pin(check=False)
    assert (changed, facts["default_entry"]) == (True, OLDER)
    assert machine.variables == {"saved_entry": OLDER}
    kept = {"default_release": "7.2.12-amd64", "starts_release": "7.2.12-amd64"}
    assert grub.pin(check=False) == (False, {"default_entry": OLDER, **kept})


# The menu of Debian as it is installed, before 7.3.0 came: its first entry is of the newest kernel.
BEFORE = SAVED.replace("7.3.0-amd64", "7.2.12-amd64")


@pytest.mark.parametrize(
    ("config", "saved"),
    [
        # GRUB_DEFAULT=0, as it comes; and saved, by a number and by the id that follows the newest.
        (BEFORE.replace('set default="${saved_entry}"', 'set default="0"'), ""),
        (BEFORE, "0"),
        (BEFORE, "gnulinux-simple-a18b"),
        (BEFORE, "gnulinux-advanced-a18b"),
        (BEFORE, "1>0"),
        (BEFORE, ""),
        (BEFORE, "gone-with-its-kernel"),
    ],
)
def test_a_kernel_that_is_installed_does_not_become_the_fallback(
    machine: Grub, monkeypatch: pytest.MonkeyPatch, config: str, saved: str
) -> None:
    monkeypatch.setattr(grub, "nonce_of", lambda _: None)
    monkeypatch.setattr(grub.os, "uname", lambda: SimpleNamespace(release="7.2.12-amd64"))
    (machine.directory / "grub.cfg").write_text(config)
    machine.variables = {"saved_entry": saved} if saved else {}
    changed, facts = grub.pin(check=False)
    assert (changed, facts["default_release"]) == (True, "7.2.12-amd64")
    # The package's own scripts write the menu anew, with the candidate first.
    (machine.directory / "grub.cfg").write_text(SAVED)
    pinned = machine.variables["saved_entry"]
    assert grub.default_entry(grub.menu(SAVED), SAVED, pinned).release == "7.2.12-amd64"
    assert grub.pin(check=True)[1]["starts_release"] == "7.2.12-amd64"


def test_where_nothing_names_a_release_what_grub_starts_is_told(
    machine: Grub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A menu written by hand: the role then refuses to go on."""
    monkeypatch.setattr(grub, "nonce_of", lambda _: None)
    monkeypatch.setattr(grub.os, "uname", lambda: SimpleNamespace(release="7.2.12-amd64"))
    (machine.directory / "grub.cfg").write_text(
        "set default=\"${saved_entry}\"\nmenuentry 'mine' {\n linux /vmlinuz-7.2.12-amd64 ro\n}\n"
    )
    assert grub.pin(check=False)[1]["default_release"] == "7.2.12-amd64"
    (machine.directory / "grub.cfg").write_text(
        "set default=\"${saved_entry}\"\nmenuentry 'mine' {\n linux /vmlinuz-7.3.0 ro\n}\n"
        "menuentry 'other' {\n linux /vmlinuz-7.2.12-amd64 ro\n}\n"
    )
    assert grub.pin(check=True)[1]["starts_release"] == "7.3.0"


def test_pinning_makes_grub_read_the_saved_entry_where_it_took_a_number(
    machine: Grub, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.directory / "grub.cfg").write_text(BY_NUMBER)
    monkeypatch.setattr(grub, "nonce_of", lambda _: "an arm is up")
    assert grub.pin(check=True)[0]
    assert machine.variables == {}
    assert grub.pin(check=False)[0]
    assert "GRUB_DEFAULT=saved" in (machine.directory / "grub.d" / "mitigauge.cfg").read_text()
    assert machine.did("update-grub")
    newest = "gnulinux-advanced-a18b>gnulinux-7.3.0-amd64-advanced-a18b"
    assert machine.variables == {"saved_entry": newest}
    assert not grub.pin(check=False)[0]


def test_kexec_starts_the_entrys_kernel_and_leaves_grub_alone(machine: Grub) -> None:
    machine.variables = {"saved_entry": OLDER}
    changed, facts = grub.boot(params(method="kexec"), check=False)
    assert changed
    assert facts["kernel_release"] == "7.2.12-amd64"
    assert facts["cmdline"].split()[-3:] == ["vmscape=off", f"mitigauge.nonce={NONCE}", "panic=10"]
    assert machine.asked[-2:] == [
        "kexec --load /boot/vmlinuz-7.2.12-amd64 --initrd=/boot/initrd.img-7.2.12-amd64 "
        f"--command-line={facts['cmdline']}",
        " ".join((*grub.DETACHED, "sh", "-c", grub.REBOOT["kexec"])),
    ]
    assert machine.variables == {"saved_entry": OLDER}
    assert not (machine.directory / "custom.cfg").exists()


def test_the_host_does_not_reboot_when_no_kernel_was_loaded(machine: Grub) -> None:
    machine.takes_kexec = False
    with pytest.raises(grub.Refused, match="no kernel is loaded"):
        grub.boot(params(method="kexec"), check=False)
    assert not machine.did("systemd-run")


def test_a_host_without_kexec_is_told_what_to_install(
    machine: Grub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grub.shutil, "which", lambda _: None)
    with pytest.raises(grub.Refused, match="install kexec-tools"):
        grub.boot(params(method="kexec"), check=False)
    assert not machine.did("systemd-run")


def test_an_entry_with_two_initial_disks_cannot_be_started_by_kexec(machine: Grub) -> None:
    config = SAVED.replace("\tinitrd\t/", "\tinitrd\t/intel-uc.img /")
    (machine.directory / "grub.cfg").write_text(config)
    with pytest.raises(
        grub.Refused, match=r"has /boot/intel-uc.img, /boot/initrd.img-.*; boot by reset"
    ):
        grub.boot(params(method="kexec"), check=False)


def test_a_kernel_that_waits_to_be_started_is_unloaded(machine: Grub) -> None:
    assert not grub.unload()
    grub.boot(params(method="kexec"), check=False)
    assert grub.unload()
    assert not grub.unload()


def test_reboots_are_left_to_the_firmware_and_that_is_noted(
    machine: Grub, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = machine.directory / "kexec.d" / "mitigauge"
    noted: list[list[Path]] = []
    monkeypatch.setattr(grub, "KEXEC_GUARD", guard)
    monkeypatch.setattr(grub, "note_paths", noted.append)
    assert grub.guard_kexec(check=True)
    assert not guard.exists()
    assert grub.guard_kexec(check=False)
    assert noted == [[guard]]
    assert guard.read_text().endswith("LOAD_KEXEC=false\n")
    assert not grub.guard_kexec(check=False)


def of_case(name: str) -> str:
    return (CASES / f"{name}.grub.cfg").read_text()


def test_a_default_of_another_system_is_refused_by_its_name(machine: Grub) -> None:
    (machine.directory / "grub.cfg").write_text(of_case("39-xen-default"))
    with pytest.raises(grub.Refused, match=r"'Debian GNU/Linux, with Xen hypervisor', which is no"):
        grub.boot(params(cmdline="mitigations=off"), check=True)


WINDOWS = (
    "menuentry 'Windows Boot Manager' $menuentry_id_option 'osprober-1' {\n\tchainloader /b\n}\n"
)
MEMTEST = "menuentry memtest {\n\tlinux16 /memtest86+.bin\n}\n"


def entry(options: str, *, title: str = "Debian", path: str = "/vmlinuz-7.2") -> str:
    return f"menuentry '{title}' {{\n\tlinux\t{path} {options}\n}}\n"


@pytest.mark.parametrize(
    ("text", "default", "said"),
    [
        (entry("ro") + WINDOWS, "1", "'Windows Boot Manager', which is no Linux entry"),
        (entry("ro") + WINDOWS, "osprober-1", "'Windows Boot Manager', which is no Linux entry"),
        (WINDOWS + entry("ro"), "gone", "'Windows Boot Manager', which is no Linux entry"),
        (
            "submenu 'More' {\n" + WINDOWS + "}\n" + entry("ro"),
            "0",
            "'More > Windows Boot Manager'",
        ),
        (entry("ro") + entry("ro", title="Debian (recovery mode)"), "1", "for its repair"),
        (entry("ro single"), "0", "for its repair"),
        (entry("ro systemd.unit=rescue.target"), "0", "for its repair"),
        (entry("ro init=/bin/sh"), "0", "for its repair"),
        (entry("ro", path="/vmlinuz-0-rescue-77aa"), "0", "for its repair"),
    ],
)
def test_a_default_that_is_no_system_to_measure_on_is_refused(
    text: str, default: str, said: str
) -> None:
    config = f'set default="{default}"\n{text}'
    with pytest.raises(grub.Refused, match=said):
        grub.default_entry(grub.menu(config), config, "")


def test_entries_of_other_systems_have_their_place_in_the_menu() -> None:
    text = f'set default="2"\n{WINDOWS}{MEMTEST.replace("linux16", "knetbsd")}{entry("ro")}'
    assert grub.default_entry(grub.menu(text), text, "").release == "7.2"


def test_a_kernel_is_asked_for_by_its_release_whatever_signed_it(machine: Grub) -> None:
    (machine.directory / "grub.cfg").write_text(of_case("41-efi-signed-wanted"))
    _, facts = grub.boot(params(kernel="6.8.0-31-generic"), check=True)
    assert facts["kernel_release"] == "6.8.0-31-generic"
    text = grub.arm_entry(grub.menu(of_case("41-efi-signed-wanted"))[1], ["ro"])
    assert "linux\t/vmlinuz-6.8.0-31-generic.efi.signed ro\n" in text


def test_a_kernel_under_test_is_not_started_for_its_repair() -> None:
    text = entry("ro single", title="Rescue it") + entry("ro quiet")
    entries = grub.menu(text + entry("ro", path="/vmlinuz-7.3"))
    assert grub.entry_for(entries, entries[2], "7.2").options == ("ro", "quiet")


def test_options_stand_before_what_goes_to_init(machine: Grub) -> None:
    (machine.directory / "grub.cfg").write_text(of_case("40-double-dash"))
    _, facts = grub.boot(params(cmdline="mitigations=off"), check=True)
    assert facts["cmdline"] == (
        f"root=UUID=77aa ro quiet mitigations=off mitigauge.nonce={NONCE} panic=10 -- single"
    )
    with pytest.raises(grub.Refused, match="'--' of a mode"):
        grub.arm_options(["ro"], ["--", "single"], NONCE, watchdog=False)


def test_words_in_quotes_are_read_or_refused_by_name() -> None:
    [quoted] = grub.menu(entry("'root=UUID=77aa' \"ro\"", path='"/vmlinuz-7.2"'))
    assert (quoted.path, quoted.release, quoted.options) == (
        "/vmlinuz-7.2", "7.2", ("root=UUID=77aa", "ro"),
    )  # fmt: skip
    assert "linux\t/vmlinuz-7.2 ro\n" in grub.arm_entry(quoted, ["ro"])
    for options, said in (('dyndbg="file a +p"', "dyndbg=file a"), ('ro "quiet', '"quiet')):
        [odd] = grub.menu(entry(options))
        with pytest.raises(grub.Refused, match=f"kernel option '{said}"):
            grub.arm_options(odd.options, [], NONCE, watchdog=False)
    [odd] = grub.menu(entry("ro", path='"/my kernel"'))
    with pytest.raises(grub.Refused, match="the kernel '/my kernel' has a character"):
        grub.arm_entry(odd, ["ro"])


def test_grub_goes_on_to_another_kernel_where_it_cannot_load_the_arms(machine: Grub) -> None:
    # By number, as GRUB 2.06 and 2.12 take no name here; the menu's first is 7.3.0.
    assert grub.fallbacks(SAVED, "7.2.12-amd64") == [0]
    assert grub.fallbacks(SAVED, "7.3.0-amd64") == []
    machine.variables = {"saved_entry": OLDER}
    grub.boot(params(), check=False)
    written = (machine.directory / "custom.cfg").read_text()
    assert 'set fallback="0"\n' in written
    assert grub.without_ours(written) == ""


def test_a_menu_with_a_password_starts_the_arm_without_one() -> None:
    config = (CASES / "metal-superusers.cfg").read_text()
    entry = grub.default_entry(grub.menu(config), config, "")
    head = "menuentry 'Mitigauge: the arm under test' --unrestricted --id 'mitigauge-arm' {"
    assert head in grub.arm_entry(entry, ["ro"])
    assert head in (CASES / "metal-superusers.expected").read_text()


def test_a_menu_that_waits_for_a_key_boots_nothing_by_itself(machine: Grub) -> None:
    config = (CASES / "metal-timeout-forever.cfg").read_text()
    (machine.directory / "grub.cfg").write_text(config)
    with pytest.raises(grub.Refused, match=r"GRUB waits for a key \(set timeout=-1\)"):
        grub.boot(params(), check=False)
    assert not grub.waits_for_key(SAVED)
    assert not machine.did("systemd-run")


def program(*, certificates: int) -> bytes:
    """The head of a PE32+ program with so many bytes of signatures."""
    image = bytearray(0x400)
    image[:2], image[0x80:0x84] = b"MZ", b"PE\0\0"
    struct.pack_into("<I", image, 0x3C, 0x80)
    struct.pack_into(
        "<II", image, 0x80 + 24 + 112 + 32, 0x1000 if certificates else 0, certificates
    )
    return bytes(image)


def test_an_unsigned_kernel_is_refused_where_secure_boot_is_on(
    machine: Grub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grub.efi, "flag", lambda name, _="": name == "SecureBoot")
    monkeypatch.setattr(grub, "start_of_image", lambda _: program(certificates=0))
    with pytest.raises(grub.Refused, match=r"has no signature: GRUB would not load it\. Sign it"):
        grub.boot(params(), check=False)
    monkeypatch.setattr(grub, "start_of_image", lambda _: program(certificates=1480))
    assert grub.boot(params(), check=False)[0]
    assert not grub.is_signed(b"\x7fELF" + bytes(0x400))


def test_an_unsigned_kernel_is_taken_where_shim_checks_nothing(
    machine: Grub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grub.efi, "flag", lambda *_: True)
    monkeypatch.setattr(grub, "start_of_image", lambda _: program(certificates=0))
    assert grub.boot(params(), check=False)[0]


def test_without_dpkg_nothing_of_grub_is_pinned(
    machine: Grub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grub.efi, "why_not", lambda **_: "")
    monkeypatch.setattr(grub, "takes_packages", lambda: False)
    monkeypatch.setattr(grub, "nonce_of", lambda _: "an arm is up")
    before = (machine.directory / "grub.cfg").read_text()
    assert grub.pin(check=False)[0] is False
    assert set(grub.pin(check=False)[1].values()) == {os.uname().release}
    assert (machine.variables, machine.did("update-grub")) == ({}, False)
    assert (machine.directory / "grub.cfg").read_text() == before
