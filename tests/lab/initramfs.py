"""A root in memory whose only program says what the kernel shows, and ends the machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pipelines.adapters.sandbox import Sandbox

SAID = "SHOWN"
DIRECTORY, PROGRAM, DEVICE = 0o040755, 0o100755, 0o020600
# The console, where the first program finds its output (admin-guide/devices.txt of the kernel).
CONSOLE = (5, 1)
SOURCE = f"""
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>

int main(int count, char **files)
{{
	char line[512];

	mount("sysfs", "/sys", "sysfs", 0, NULL);
	FILE *file = fopen("/sys/devices/system/cpu/vulnerabilities/vmscape", "r");
	if (file && fgets(line, sizeof(line), file))
		printf("{SAID} %s", line);
	fflush(stdout);
	reboot(RB_AUTOBOOT);
	return 0;
}}
"""


def build(root: Path, directory: Path, source: str = SOURCE) -> Path:
    """Make it in *directory*, with the compiler of the build root *root*; the archive.

    *source*: of its only program.
    """
    work = directory / "init"
    work.mkdir(parents=True)
    (work / "init.c").write_text(source)
    log = directory / "init.log"
    status = Sandbox(root).run(
        ["gcc-14", "-static", "-O2", "-o", "init", "init.c"],
        log=log,
        writable={"/build/out": work},
        readable={},
        directory="/build/out",
        variables={},
    )
    assert status == 0, log.read_text()
    archive = directory / "initramfs"
    archive.write_bytes(packed((work / "init").read_bytes()))
    return archive


def packed(program: bytes, others: Mapping[str, bytes] | None = None) -> bytes:
    """An archive with the first program, and with others by name."""
    return b"".join(_entries(program, others or {}))


def _entries(program: bytes, others: Mapping[str, bytes]) -> Iterator[bytes]:
    yield _entry("dev", DIRECTORY)
    yield _entry("sys", DIRECTORY)
    yield _entry("dev/console", DEVICE, device=CONSOLE)
    yield _entry("init", PROGRAM, program)
    for name, content in others.items():
        yield _entry(name, PROGRAM, content)
    yield _entry("TRAILER!!!", 0)


def _entry(name: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    """A file in cpio's "newc" form (Documentation/driver-api/early-userspace/buffer-format.rst)."""
    label = name.encode() + b"\0"
    fields = (0, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(label), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + label
    return _padded(head) + _padded(content)


def _padded(part: bytes) -> bytes:
    return part + bytes(-len(part) % 4)
