"""A guest's initramfs and kernel, byte by byte."""

from __future__ import annotations

import gzip
import lzma
import stat
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

Entry = tuple[int, bytes]
# Type and owner of the ELF note with the PVH entry point.
PVH_NOTE = struct.pack("<I", 18) + b"Xen\0"


def newc(entries: dict[str, Entry]) -> bytes:
    """Archive in cpio's `newc` format, byte for byte the same for the same entries.

    `entries` maps a path without leading slash to (st_mode, content); for a
    symbolic link the content is its target.
    """
    out = bytearray()

    def add(inode: int, name: str, mode: int, content: bytes) -> None:
        raw = name.encode() + b"\0"
        links = 2 if stat.S_ISDIR(mode) else 1
        fields = (inode, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(raw), 0)
        out.extend(b"070701" + b"".join(b"%08X" % field for field in fields) + raw)
        out.extend(b"\0" * (-len(out) % 4))
        out.extend(content)
        out.extend(b"\0" * (-len(out) % 4))

    for inode, (name, (mode, content)) in enumerate(sorted(entries.items()), start=1):
        add(inode, name, mode, content)
    add(0, "TRAILER!!!", 0, b"")
    return bytes(out)


def with_directories(files: dict[str, Entry]) -> dict[str, Entry]:
    """`files` and every directory above them."""
    entries = dict(files)
    for name in files:
        for parent in Path(name).parents:
            if str(parent) != ".":
                entries[str(parent)] = (stat.S_IFDIR | 0o755, b"")
    return entries


def unzstd(data: bytes) -> bytes:
    """Unpack with the zstd program; Python's own comes with 3.14."""
    return subprocess.run(["zstd", "-dcq"], input=data, check=True, capture_output=True).stdout


def unpacked_module(path: Path) -> tuple[str, bytes]:
    """File name without compression suffix, and the module's own bytes."""
    readers: dict[str, Callable[[bytes], bytes]] = {
        ".xz": lzma.decompress,
        ".gz": gzip.decompress,
        ".zst": unzstd,
    }
    reader = readers.get(path.suffix)
    content = path.read_bytes()
    return (path.stem, reader(content)) if reader else (path.name, content)


def unpacked_kernel(vmlinuz: bytes) -> bytes:
    """The ELF kernel inside a bzImage, which spares every guest start its unpacking.

    `vmlinuz` itself where it cannot be unpacked here or QEMU could not start it
    unpacked (that takes the PVH entry note). Offsets: Documentation/arch/x86/boot.rst.
    """
    readers: dict[bytes, Callable[[bytes], bytes]] = {
        b"\x1f\x8b": lambda data: zlib.decompressobj(wbits=31).decompress(data),
        b"\xfd7": lambda data: lzma.LZMADecompressor().decompress(data),
        b"\x28\xb5": unzstd,
    }
    offset, length = struct.unpack_from("<II", vmlinuz, 0x248)
    begin = ((vmlinuz[0x1F1] or 4) + 1) * 512 + offset
    # The last four bytes are the unpacked size, put there by the kernel's build.
    payload = vmlinuz[begin : begin + length - 4]
    reader = readers.get(payload[:2])
    try:
        kernel = reader(payload) if reader else b""
    except (OSError, zlib.error, lzma.LZMAError, subprocess.CalledProcessError):
        return vmlinuz
    return kernel if kernel[:4] == b"\x7fELF" and PVH_NOTE in kernel else vmlinuz
