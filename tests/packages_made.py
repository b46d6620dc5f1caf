"""Kernels' packages as Debian makes them, small, and as somebody would who means harm."""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import tarfile
from pathlib import Path

import zstandard

RELEASE = "6.1.0-test"
BUILD_ID = bytes(range(20))
LEAST_IMAGE = 0x250


def elf(*, notes_at: int = 4096, table_at: int = 64, build_id: bytes = BUILD_ID) -> bytes:
    """A 64-bit ELF file with a note and nothing else."""
    note = struct.pack("<III", 4, len(build_id), 3) + b"GNU\0" + build_id
    head = bytearray(64)
    head[:5] = b"\x7fELF\x02"
    struct.pack_into("<Q", head, 32, table_at)
    struct.pack_into("<HH", head, 54, 56, 1)
    entry = struct.pack("<IIQQQQQQ", 4, 0, notes_at, 0, 0, len(note), len(note), 4)
    return (bytes(head).ljust(table_at, b"\0") + entry).ljust(notes_at, b"\0") + note


def packed(content: bytes, kind: str) -> bytes:
    """*content* as a kernel packs itself."""
    if kind == "gzip":
        return gzip.compress(content)
    if kind == "xz":
        return lzma.compress(content, check=lzma.CHECK_CRC32)
    return zstandard.ZstdCompressor(level=19, write_content_size=False).compress(content)


def image(payload: bytes) -> bytes:
    """A bzImage around *payload*."""
    head = bytearray(1024)
    head[0x1F1] = 1
    head[0x202:0x206] = b"HdrS"
    # The length of what it unpacks to follows a payload, and is counted with it.
    struct.pack_into("<II", head, 0x248, 0, len(payload) + 4)
    return bytes(head) + payload + b"\0\0\0\1"


def package(path: Path, files: dict[str, bytes], *, data: bytes | None = None) -> Path:
    """A Debian package of *files*, or with *data* for its data.tar.xz."""
    data = lzma.compress(_tar(files)) if data is None else data
    control = lzma.compress(_tar({"./control": b"Package: x\nVersion: 1\nArchitecture: amd64\n"}))
    members = {"debian-binary": b"2.0\n", "control.tar.xz": control, "data.tar.xz": data}
    with path.open("wb") as file:
        file.write(b"!<arch>\n")
        for name, content in members.items():
            head = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n"
            file.write(head.encode() + content + b"\n" * (len(content) % 2))
    return path


def _tar(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()
