"""A disk for a guest: a raw file of the host, written in full beforehand, that nobody else sees.

The file has no name once it is open, so that nothing is left of it whatever happens.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from _kit.contract import CaseError
from _kit.guest import Addition

BLOCK = 1 << 20
# What a host's file system keeps free beside the disk.
SPARE_BYTES = 64 << 20
# Where the file lies: a folder of the host. Without it, beside the case's output.
FOLDER_VARIABLE = "MITIGAUGE_DISK_FOLDER"
# QEMU's words for how it reads and writes the file.
AIO = ("native", "io_uring", "threads")
# How a guest sees the file: /dev/vda, or /dev/sda behind a SCSI controller.
DEVICES = {
    "virtio-blk": ["-device", "virtio-blk-pci,drive=disk0,iothread=io0"],
    "virtio-scsi": [
        "-device", "virtio-scsi-pci,id=scsi0,iothread=io0",
        "-device", "scsi-hd,bus=scsi0.0,drive=disk0",
    ],
}  # fmt: skip


class DataDisk(NamedTuple):
    """The open file, and how QEMU may use it."""

    descriptor: int
    size: int
    folder: Path
    filesystem: str
    is_direct: bool

    @property
    def cache(self) -> str:
        """QEMU's word: `none` goes past the host's page cache, `writeback` through it."""
        return "none" if self.is_direct else "writeback"

    def addition(self, aio: str, device: str = "virtio-blk") -> Addition:
        """What gives a guest the disk as one of DEVICES, served by a thread of its own."""
        if aio == "native" and not self.is_direct:
            raise CaseError(
                f"aio=native needs O_DIRECT, which {self.filesystem} in {self.folder} has not: "
                f"choose aio threads or io_uring, or name another folder in {FOLDER_VARIABLE}"
            )
        file = f"/proc/{os.getpid()}/fd/{self.descriptor}"
        direct = "on" if self.is_direct else "off"
        return Addition(
            [
                "-object", "iothread,id=io0",
                "-blockdev", f"driver=file,node-name=file0,filename={file},aio={aio},"
                f"cache.direct={direct}",
                "-blockdev", f"driver=raw,node-name=disk0,file=file0,cache.direct={direct}",
                *DEVICES[device],
            ]
        )  # fmt: skip

    def told(self) -> dict[str, str]:
        """For the result's tools: what a figure of this disk depends on."""
        return {"disk_cache": self.cache, "disk_filesystem": self.filesystem}


def folder_for(output: Path) -> Path:
    """Where the file goes: FOLDER_VARIABLE, else the folder of the case's output."""
    folder = Path(os.environ.get(FOLDER_VARIABLE) or output.resolve())
    if not folder.is_dir():
        raise CaseError(f"{FOLDER_VARIABLE} names {folder}, which is no folder")
    return folder


def filesystem_of(folder: Path, mountinfo: str) -> str:
    """Type of the file system, from the text of /proc/self/mountinfo (proc_pid_mountinfo(5))."""
    best, found = -1, "unknown"
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        point = before.split()[4].encode().decode("unicode_escape")
        if len(point) > best and folder.is_relative_to(point):
            best, found = len(point), after.split()[0]
    return found


def opens_direct(path: Path) -> bool:
    """Whether the file system takes O_DIRECT."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_DIRECT))
    except OSError:
        return False
    return True


def require_room(folder: Path, size: int) -> None:
    """CaseError where `size` bytes would fill the file system."""
    room = os.statvfs(folder)
    free = room.f_bavail * room.f_frsize
    if free < size + SPARE_BYTES:
        raise CaseError(
            f"{folder} has {free >> 20} MiB free, the guest's disk takes {size >> 20} and leaves "
            f"{SPARE_BYTES >> 20}: make room, or name another folder in {FOLDER_VARIABLE}"
        )


def fill(descriptor: int, size: int) -> None:
    """Write `size` bytes: a file that was only reserved is read without its disk."""
    with mmap.mmap(-1, BLOCK) as block:  # aligned, as O_DIRECT wants it
        block.write(os.urandom(BLOCK))
        for place in range(0, size, BLOCK):
            # No two blocks alike, for what removes duplicates.
            block[0:8] = place.to_bytes(8, "little")
            if os.pwrite(descriptor, block, place) != BLOCK:
                raise OSError(28, "No space left on device")
    os.fsync(descriptor)


@contextlib.contextmanager
def made(output: Path, size: int) -> Iterator[DataDisk]:
    """A disk of `size` bytes, a multiple of BLOCK, for as long as it is used."""
    folder = folder_for(output)
    require_room(folder, size)
    descriptor, name = tempfile.mkstemp(prefix=".mitigauge-disk-", dir=folder)
    direct = -1
    try:
        try:
            is_direct = opens_direct(Path(name))
            if is_direct:
                direct = os.open(name, os.O_RDWR | os.O_DIRECT)
        finally:
            os.unlink(name)
        try:
            fill(direct if is_direct else descriptor, size)
        except OSError as error:
            raise CaseError(f"the guest's disk in {folder}: {error.strerror}") from None
        filesystem = filesystem_of(folder, Path("/proc/self/mountinfo").read_text())
        yield DataDisk(descriptor, size, folder, filesystem, is_direct)
    finally:
        os.close(descriptor)
        if direct >= 0:
            os.close(direct)
