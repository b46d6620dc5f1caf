"""A kernel's package on a host without dpkg: unpacked below a folder of ours, and taken away."""

from __future__ import annotations

import errno
import io
import json
import lzma
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.loading import load
from tests.packages_made import package

files = load("ansible/module_utils/mitigauge_kernel_files.py")
listing = load("ansible/roles/kernel/library/kernel_list.py")
restore = load("ansible/roles/host_restore/library/host_restore.py")

RELEASE = "7.2.12-mg" + "0" * 32
NAME = f"linux-image-{RELEASE}"
OWN = "6.17.4-200.fc43.x86_64"
SHA256 = "ab" * 32
CONTENT = {
    f"./boot/vmlinuz-{RELEASE}": b"MZ image",
    f"./boot/System.map-{RELEASE}": b"map",
    f"./lib/modules/{RELEASE}/modules.builtin": b"kernel/fs/ext4/ext4.ko\n",
    f"./lib/modules/{RELEASE}/kernel/drivers/nvme/host/nvme.ko": b"ELF nvme",
    "./usr/share/doc/linux/copyright": b"GPL",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host like Fedora, with a kernel of its own; dracut and depmod are stood in for."""
    root, programs = tmp_path / "root", tmp_path / "programs"
    (root / "usr/lib/modules" / OWN).mkdir(parents=True)
    (root / "lib").symlink_to("usr/lib")
    (root / "lib/modules" / OWN / "vmlinuz").write_bytes(b"MZ own")
    (root / "lib/modules/6.1-removed").mkdir()
    programs.mkdir()
    for name, does in (
        ("depmod", f'test "$1" = {RELEASE}'),
        ("dracut", f'test "$1" = --force && test "$3" = {RELEASE} && echo disk > "$2"'),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setattr(files, "ROOT", root)
    monkeypatch.setattr(listing.efi, "ROOT", root)
    return root


def full_but(free_bytes: int) -> os.statvfs_result:
    """A file system of which so much is free."""
    return os.statvfs_result((1, 1, 1 << 40, free_bytes, free_bytes, 9, 9, 9, 0, 255))


def all_files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def deb(tmp_path: Path) -> Path:
    return package(tmp_path / f"{NAME}.deb", CONTENT)


def test_image_modules_and_initial_disk_are_there_and_nothing_else(
    root: Path, tmp_path: Path
) -> None:
    before = all_files(root)
    files.install(deb(tmp_path), RELEASE, SHA256, root)
    assert all_files(root) - before == {
        f"var/lib/mitigauge/kernels/{RELEASE}/vmlinuz",
        f"var/lib/mitigauge/kernels/{RELEASE}/initrd.img",
        f"var/lib/mitigauge/kernels/{RELEASE}/package.sha256",
        f"usr/lib/modules/{RELEASE}/modules.builtin",
        f"usr/lib/modules/{RELEASE}/kernel/drivers/nvme/host/nvme.ko",
        "var/lib/mitigauge/changes.json",
    }
    found = listing.efi.files_of(RELEASE)
    assert found.image.read_bytes() == b"MZ image"
    assert found.initial_disk.read_text() == "disk\n"


def test_a_host_without_dpkg_lists_its_own_kernels_and_ours(root: Path, tmp_path: Path) -> None:
    assert listing.packages_of(root) == {f"linux-image-{OWN}"}
    files.install(deb(tmp_path), RELEASE, SHA256, root)
    packages = listing.packages_of(root)
    assert packages == {f"linux-image-{OWN}", NAME}

    def lost(sha256: str) -> list[str]:
        origin = listing.partial(listing.origin_of, root)
        return list(listing.missing([NAME], packages, {NAME: sha256}, origin))

    assert lost(SHA256) == []
    assert lost("cd" * 32) == [NAME]
    assert {each["release"] for each in listing.kernels(root, OWN, packages)} == {OWN, RELEASE}


def test_one_that_was_cut_off_is_missing_and_is_installed_again(root: Path, tmp_path: Path) -> None:
    files.install(deb(tmp_path), RELEASE, SHA256, root)
    (root / files.FOLDER / RELEASE / files.MARK).unlink()
    assert listing.packages_of(root) == {f"linux-image-{OWN}"}
    files.install(deb(tmp_path), RELEASE, SHA256, root)
    assert NAME in listing.packages_of(root)


def test_a_restore_takes_all_of_it_away(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = all_files(root)
    files.install(deb(tmp_path), RELEASE, SHA256, root)
    monkeypatch.setattr(restore, "run", lambda *_words, **_options: "")
    said = restore.Host(root / "var/lib/mitigauge/changes.json", root).restore()
    assert all_files(root) == before
    assert {"name": f"kernel {RELEASE}", "what": "removed", "left": False} in said


def test_what_a_restore_cannot_remove_is_left_with_its_reason_and_removed_by_the_next(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = all_files(root)
    files.install(deb(tmp_path), RELEASE, SHA256, root)
    monkeypatch.setattr(restore, "run", lambda *_words, **_options: "")
    host = restore.Host(root / "var/lib/mitigauge/changes.json", root)
    unlink = os.unlink

    def fail_on_module(path: str, **options: Any) -> None:
        if str(path).endswith("nvme.ko"):
            raise OSError(errno.EIO, "Input/output error", path)
        unlink(path, **options)

    with monkeypatch.context() as broken:
        broken.setattr(os, "unlink", fail_on_module)
        first = {each["name"]: each for each in host.restore()}
    assert first[f"kernel {RELEASE}"]["left"]
    assert "Input/output error" in first[f"kernel {RELEASE}"]["what"]
    assert first["/var/lib/mitigauge"]["left"]
    # What lost some of its modules is not taken for a whole kernel.
    assert listing.packages_of(root) == {f"linux-image-{OWN}"}
    again = host.restore()
    assert {"name": f"kernel {RELEASE}", "what": "removed", "left": False} in again
    assert all_files(root) == before


def test_a_kernel_that_is_not_ours_is_neither_replaced_nor_removed(
    root: Path, tmp_path: Path
) -> None:
    (root / "lib/modules" / RELEASE).mkdir()
    with pytest.raises(files.PackageError, match=r"not unpacked by Mitigauge: remove it by hand"):
        files.install(deb(tmp_path), RELEASE, SHA256, root)
    assert not files.remove(OWN, root)
    assert not files.remove("../../lib/modules", root)
    assert (root / "lib/modules" / OWN / "vmlinuz").exists()


@pytest.mark.parametrize("program", ["depmod", "dracut"])
def test_where_a_program_fails_nothing_is_left(root: Path, tmp_path: Path, program: str) -> None:
    before = all_files(root)
    (tmp_path / "programs" / program).write_text("#!/bin/sh\necho no space >&2; exit 1\n")
    with pytest.raises(files.PackageError, match=f"{program} .*: no space"):
        files.install(deb(tmp_path), RELEASE, SHA256, root)
    assert all_files(root) - before == {"var/lib/mitigauge/changes.json"}


def test_without_a_program_for_initial_disks_it_says_which_there_are(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "programs/dracut").unlink()
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    monkeypatch.setattr(files, "_run", lambda *_words: None)
    with pytest.raises(files.PackageError, match="install one of mkinitcpio, dracut, mkinitramfs"):
        files.install(deb(tmp_path), RELEASE, SHA256, root)


def test_without_room_nothing_is_written(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = all_files(root)
    full = os.statvfs_result((4096, 4096, 1000, 10, 10, 9, 9, 9, 0, 255))
    monkeypatch.setattr(files.os, "statvfs", lambda _path: full)
    with pytest.raises(files.PackageError, match=r"0 MiB free, kernel .* needs 544 MiB there"):
        files.install(deb(tmp_path), RELEASE, SHA256, root)
    assert all_files(root) == before


def test_a_file_system_needs_room_for_what_goes_to_it_alone(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The modules on one of their own: the initial RAM disk goes to the other."""
    places = [Path("/dev/shm"), Path("/var/tmp")]
    elsewhere = [place for place in places if place.stat().st_dev != root.stat().st_dev]
    other = Path(tempfile.mkdtemp(dir=elsewhere[0]))
    try:
        assert other.stat().st_dev != root.stat().st_dev
        (root / "usr/lib/modules").rename(tmp_path / "modules")
        (root / "usr/lib/modules").symlink_to(other)
        room = {other: 300 << 20, root: 600 << 20}
        monkeypatch.setattr(
            files.os,
            "statvfs",
            lambda path: full_but(room[other if other == path.resolve() else root]),
        )
        files.install(deb(tmp_path), RELEASE, SHA256, root)
        files.remove(RELEASE, root)
        room[other] = 20 << 20
        with pytest.raises(files.PackageError, match=r"modules has 20 MiB free, .* needs 32 MiB"):
            files.install(deb(tmp_path), RELEASE, SHA256, root)
        room |= {other: 300 << 20, root: 300 << 20}
        with pytest.raises(files.PackageError, match=r"300 MiB free, .* needs 512 MiB there"):
            files.install(deb(tmp_path), RELEASE, SHA256, root)
    finally:
        shutil.rmtree(other)


def packed(*members: tarfile.TarInfo) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:xz") as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(bytes(member.size)))
    return stream.getvalue()


def member(name: str, size: int = 0, link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size = size
    if link:
        made.type, made.linkname = tarfile.SYMTYPE, link
    return made


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (packed(member("../../etc/cron.d/x", 1)), "leads elsewhere"),
        (packed(member(f"lib/modules/{RELEASE}/../../../etc/x", 1)), "leads elsewhere"),
        (packed(member("/etc/x", 1)), "leads elsewhere"),
        (packed(member("boot/vmlinuz-6.1", 1)), f"has no boot/vmlinuz-{RELEASE}"),
        (packed(member(f"boot/vmlinuz-{RELEASE}", 0, "/etc/shadow")), "has no boot/vmlinuz"),
        (lzma.compress(b"no archive" * 100), "damaged"),
        (b"not packed", "damaged"),
        (packed(member(f"boot/vmlinuz-{RELEASE}", 4 << 20))[:100], "damaged"),
    ],
)
def test_a_package_that_is_none_changes_nothing(
    root: Path, tmp_path: Path, data: bytes, said: str
) -> None:
    before = all_files(root)
    hostile = package(tmp_path / "x.deb", {}, data=data)
    with pytest.raises(files.PackageError, match=said):
        files.install(hostile, RELEASE, SHA256, root)
    assert all_files(root) == before


def test_links_lead_nowhere(root: Path, tmp_path: Path) -> None:
    data = packed(
        member(f"boot/vmlinuz-{RELEASE}", 9),
        member(f"lib/modules/{RELEASE}/build", 0, "/etc"),
        member(f"lib/modules/{RELEASE}/build/x", 3),
    )
    files.install(package(tmp_path / "x.deb", {}, data=data), RELEASE, SHA256, root)
    assert not (root / "lib/modules" / RELEASE / "build").is_symlink()
    assert (root / "lib/modules" / RELEASE / "build/x").read_bytes() == bytes(3)


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs dpkg-deb")
@pytest.mark.parametrize("packing", ["xz", "gzip", "none", "zstd"])
def test_what_dpkg_packs_is_read(root: Path, tmp_path: Path, packing: str) -> None:
    made = tmp_path / "made"
    for name, content in {**CONTENT, "./DEBIAN/control": CONTROL}.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_bytes(content)
    built = tmp_path / "real.deb"
    command = ["dpkg-deb", "--root-owner-group", f"-Z{packing}", "--build", made, built]
    subprocess.run(command, check=True, capture_output=True)
    if packing == "zstd":
        with pytest.raises(files.PackageError, match=r"packed as data.tar.zst, this host reads"):
            files.install(built, RELEASE, SHA256, root)
        return
    files.install(built, RELEASE, SHA256, root)
    assert (root / "lib/modules" / RELEASE / "modules.builtin").exists()
    noted = json.loads((root / "var/lib/mitigauge/changes.json").read_text())
    assert noted["kernels"] == {RELEASE: None}


CONTROL = f"Package: {NAME}\nVersion: 1\nArchitecture: amd64\nMaintainer: x <x@y>\n".encode()
CONTROL += b"Description: x\n"
