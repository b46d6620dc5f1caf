"""The role boot_mode's reading module, and the role kernel's."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.loading import load

proof = load("ansible/roles/boot_mode/library/boot_proof.py")
kernel = load("ansible/roles/kernel/library/kernel_list.py")

origin = load("ansible/module_utils/mitigauge_kernel_packages.py")

RELEASE = "7.2.12-amd64"
STATUS = """\
Package: linux-image-7.2.12-amd64
Status: install ok installed
Version: 7.2.12-1

Package: linux-image-7.1.0-amd64
Status: deinstall ok config-files

Package: linux-perf
Status: hold ok installed
"""


def note(name: bytes, kind: int, body: bytes) -> bytes:
    """One ELF note."""
    padded = [part + bytes(-len(part) % 4) for part in (name, body)]
    return struct.pack("<III", len(name), len(body), kind) + padded[0] + padded[1]


NOTES = (
    note(b"Linux\0", 257, b"\0" * 5)
    + note(b"Xen\0", 3, b"not it")
    + note(b"GNU\0", 3, bytes.fromhex("ab01" * 10))
)


@pytest.mark.parametrize("module", [proof, kernel])
def test_the_build_id_is_the_gnu_note_among_others(module: Any) -> None:
    assert module.build_id(NOTES) == "ab01" * 10
    assert module.build_id(NOTES[:24]) is None
    assert module.build_id(b"") is None


def test_taint_is_shown_by_letter() -> None:
    assert proof.taint_flags(0) == []
    assert proof.taint_flags(1 << 2 | 1 << 4 | 1 << 12) == ["S", "M", "O"]


def test_the_nonce_is_a_word_of_the_command_line() -> None:
    assert proof.nonce_of("ro mitigauge.nonce=n1 panic=10") == "n1"
    assert proof.nonce_of("ro xmitigauge.nonce=n1") is None


def test_microcode_is_absent_where_the_processor_shows_none() -> None:
    assert proof.microcode_of("processor : 0\nmicrocode\t: 0x2b000639\n") == "0x2b000639"
    assert proof.microcode_of("processor : 0\n") is None


def test_vulnerability_files_are_read_by_name(tmp_path: Path) -> None:
    assert proof.vulnerabilities(tmp_path / "none") == {}
    (tmp_path / "vmscape").write_text("Mitigation: IBPB before exit to userspace\n")
    (tmp_path / "mds").write_bytes(b"Not affected\xff\n")
    assert proof.vulnerabilities(tmp_path) == {
        "mds": "Not affected\N{REPLACEMENT CHARACTER}",
        "vmscape": "Mitigation: IBPB before exit to userspace",
    }


def test_a_watchdog_says_whether_it_runs(tmp_path: Path) -> None:
    assert proof.watchdog(tmp_path / "none") is None
    for name, text in {"identity": "i6300ESB timer", "state": "active", "timeout": "120"}.items():
        (tmp_path / name).write_text(text + "\n")
    assert proof.watchdog(tmp_path) == {
        "identity": "i6300ESB timer",
        "state": "active",
        "timeout_s": 120,
    }


def test_settings_are_read_and_nothing_else(tmp_path: Path) -> None:
    parameter = tmp_path / "sys/module/kvm/parameters/x"
    parameter.parent.mkdir(parents=True)
    parameter.write_text("N" * 9000 + "\n")
    read = proof.readings(tmp_path, ["sys/module/kvm/parameters/x", "proc/sys/vm/none"])
    assert read == {"sys/module/kvm/parameters/x": "N" * 4096, "proc/sys/vm/none": None}
    for name in ("etc/shadow", "proc/sys/../../etc/shadow", "sys/module/a/parameters/b/../c"):
        with pytest.raises(ValueError, match="no file that proves a setting"):
            proof.readings(tmp_path, [name])


def test_the_proof_of_this_very_system_has_every_fact() -> None:
    facts = proof.proof([])
    assert facts["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert facts["uptime_s"] > 0
    assert facts["nonce"] is None


def test_a_kernel_is_listed_with_what_its_image_says(tmp_path: Path) -> None:
    image = bytearray(0x400)
    image[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", image, 0x20E, 0x100)
    image[0x300:0x320] = b"7.2.12 (x@y) #1 SMP Debian\0".ljust(0x20, b"\0")
    for name, content in {f"vmlinuz-{RELEASE}": bytes(image), "vmlinuz-6.1": b""}.items():
        path = tmp_path / "boot" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    (tmp_path / "sys/kernel").mkdir(parents=True)
    (tmp_path / "sys/kernel/notes").write_bytes(NOTES)
    packages = kernel.installed_packages(STATUS)
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").write_text(STATUS)
    (tmp_path / "boot/grub").mkdir()
    (tmp_path / "boot/grub/grub.cfg").touch()
    assert kernel.packages_of(tmp_path) == packages
    assert kernel.kernels(tmp_path, RELEASE, packages) == [
        {"release": "6.1", "package": None, "version": None, "build_id": None},
        {
            "release": RELEASE,
            "package": f"linux-image-{RELEASE}",
            "version": "#1 SMP Debian",
            "build_id": "ab01" * 10,
        },
    ]


def test_a_removed_package_is_missing_and_a_held_one_is_not() -> None:
    wanted = ["linux-perf", "linux-image-7.1.0-amd64", f"linux-image-{RELEASE}", "linux-none"]
    packages = kernel.installed_packages(STATUS)
    assert kernel.missing(wanted, packages, {}, {}.get) == ["linux-image-7.1.0-amd64", "linux-none"]


def test_a_package_that_came_from_another_file_is_missing() -> None:
    name = f"linux-image-{RELEASE}"
    packages, digests = kernel.installed_packages(STATUS), {name: "aa"}
    assert kernel.missing([name], packages, digests, {name: "aa"}.get) == []
    assert kernel.missing([name], packages, digests, {name: "bb"}.get) == [name]
    assert kernel.missing([name], packages, digests, {}.get) == [name]
    assert kernel.missing(["linux-perf"], packages, digests, {}.get) == []


def test_where_a_package_came_from_is_forgotten_once_another_is_installed(tmp_path: Path) -> None:
    notes, listed = tmp_path / "notes.json", tmp_path / f"linux-image-{RELEASE}.list"
    name = f"linux-image-{RELEASE}"
    listed.write_text("/.\n")
    assert origin.installed_from(name, notes, tmp_path) is None
    origin.note(name, "aa", notes, tmp_path)
    assert origin.installed_from(name, notes, tmp_path) == "aa"
    os.utime(listed, ns=(0, listed.stat().st_mtime_ns + 1))
    assert origin.installed_from(name, notes, tmp_path) is None
    origin.note(name, "bb", notes, tmp_path)
    listed.unlink()
    assert origin.installed_from(name, notes, tmp_path) is None


@pytest.mark.parametrize("text", ["", "[]", '{"linux-image-7.2.12-amd64": 3}', "\0"])
def test_notes_that_are_torn_tell_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.json").write_text(text)
    found = origin.installed_from(f"linux-image-{RELEASE}", tmp_path / "notes.json", tmp_path)
    assert found is None
