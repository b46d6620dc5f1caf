"""Roots in memory: archives that a kernel unpacks as its first root."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_DIRECTORY, _PROGRAM, _DEVICE = 0o040755, 0o100755, 0o020600
# The console, where the first program finds its output (admin-guide/devices.txt of the kernel).
_CONSOLE = (5, 1)


def packed(program: bytes, others: Mapping[str, bytes] | None = None) -> bytes:
    """An archive with the first program, with other files by name, and where /proc and /sys go."""
    return b"".join(_entries(program, others or {}))


def _entries(program: bytes, others: Mapping[str, bytes]) -> Iterator[bytes]:
    for directory in ("dev", "proc", "sys"):
        yield _entry(directory, _DIRECTORY)
    yield _entry("dev/console", _DEVICE, device=_CONSOLE)
    yield _entry("init", _PROGRAM, program)
    for name, content in others.items():
        yield _entry(name, _PROGRAM, content)
    yield _entry("TRAILER!!!", 0)


def _entry(name: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    """A file in cpio's "newc" form (Documentation/driver-api/early-userspace/buffer-format.rst)."""
    label = name.encode() + b"\0"
    fields = (0, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(label), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + label
    return _padded(head) + _padded(content)


def _padded(part: bytes) -> bytes:
    return part + bytes(-len(part) % 4)
