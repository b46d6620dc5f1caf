"""Where GRUB's environment may lie, and boot loaders that are not GRUB, by name."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mitigauge.core.clock import Clock
from mitigauge.measurement.fleet.check import State, items
from tests.loading import load
from tests.unit.fleet.test_check import GOOD, NOW

module = load("ansible/roles/host_check/library/host_check.py")
grub = load("ansible/module_utils/mitigauge_grub.py")

CONFIG = Path(__file__).parents[1] / "fixtures/grub/saved.cfg"


def with_grub(root: Path) -> Path:
    """A root with GRUB as Debian lays it out."""
    (root / "boot/grub").mkdir(parents=True)
    shutil.copy(CONFIG, root / "boot/grub/grub.cfg")
    (root / "boot/grub/grubenv").write_text(f"{'# GRUB Environment Block':#<1024}")
    return root


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("boot/loader/loader.conf", "systemd-boot"),
        ("boot/efi/loader/loader.conf", "systemd-boot"),
        ("boot/grub2/grub.cfg", "Fedora"),
        ("boot/extlinux/extlinux.conf", "extlinux"),
    ],
)
def test_a_boot_loader_that_is_not_grub_is_named(tmp_path: Path, file: str, said: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).touch()
    loader = module.boot_loader(tmp_path)
    assert said in loader["refused"]
    found = items({**GOOD, "boot_loader": loader}, now=NOW, clock=Clock.REAL)
    missing = {item.name: item for item in found}["one-shot boot"]
    assert missing.state is State.MISSING
    assert said in missing.found
    assert "install grub" in missing.mend


def test_grub_that_lies_there_but_started_nothing_is_not_believed(tmp_path: Path) -> None:
    root = with_grub(tmp_path)
    info = root / module.LOADER_INFO
    info.parent.mkdir(parents=True)
    info.write_bytes(b"\x06\0\0\0" + "systemd-boot 257.7-1\0".encode("utf-16-le"))
    assert "started by systemd-boot 257.7-1" in module.boot_loader(root)["refused"]
    info.write_bytes(b"\x06\0\0\0" + "GRUB 2.12\0".encode("utf-16-le"))
    assert "started by" not in (module.boot_loader(root)["refused"] or "")


def test_a_host_without_any_loader_says_which_file_is_missing(tmp_path: Path) -> None:
    assert "grub.cfg" in module.boot_loader(tmp_path)["refused"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("/dev/md127", "software RAID"),
        ("/dev/mapper/vg0-root", "LVM"),
        ("/dev/dm-0", "LVM"),
        ("/dev/loop3", "loop device"),
    ],
)
def test_a_layer_between_grub_and_its_blocks_is_named(source: str, said: str) -> None:
    assert said in grub.unwritable(source, "ext4", 1024)


@contextmanager
def mounted(directory: Path, filesystem: str) -> Iterator[Path]:
    """A file system of that kind in a file, mounted."""
    image, place = directory / "image", directory / "mounted"
    with image.open("wb") as file:
        file.truncate(128 << 20)
    subprocess.run([f"mkfs.{filesystem}", "-q", str(image)], check=True, capture_output=True)
    place.mkdir()
    done = subprocess.run(
        ["mount", "-o", "loop", str(image), str(place)], check=False, capture_output=True
    )
    if done.returncode:
        pytest.skip(f"no loop device to mount: {done.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")
@pytest.mark.parametrize(
    ("filesystem", "said"), [("btrfs", "lies on btrfs"), ("ext4", "a file behind a loop device")]
)
def test_a_real_file_system_is_read_as_the_host_shows_it(
    tmp_path: Path, filesystem: str, said: str
) -> None:
    if shutil.which(f"mkfs.{filesystem}") is None:
        pytest.skip(f"mkfs.{filesystem} is missing")
    with mounted(tmp_path, filesystem) as place:
        assert said in module.boot_loader(with_grub(place))["refused"]
