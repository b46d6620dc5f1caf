"""Machines of the emulator that boot a kernel, say which mitigations it chose, and end.

No disk, no network: the first program is the only one, in a root in memory.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mitigauge.core.errors import InvalidInput, MitigaugeError, NotReady
from mitigauge.core.hostile_text import quoted
from mitigauge.measurement.selection.cells import FOLDER, Cell, SelectionSpec
from mitigauge.measurement.selection.console import Shown, read_console

PROGRAM, COMPILER = "qemu-system-x86_64", "cc"
SOURCE = FOLDER / "init.c"
COMPILE_LIMIT_S = 60.0
BOOT_LIMIT_S = 120.0
CONSOLE_LIMIT = 4 << 20
MEMORY_MB = 256
_MACHINE = (
    "-nodefaults", "-no-user-config", "-machine", "q35,smm=off", "-accel", "tcg,thread=single",
    "-display", "none", "-vga", "none", "-m", str(MEMORY_MB), "-serial", "stdio", "-no-reboot",
    "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
)  # fmt: skip
# Where functions are must not differ from boot to boot.
# A busy machine's emulated timer fails the kernel's check of it.
_WORDS = (
    "console=ttyS0,115200", "nokaslr", "maxcpus=1", "panic=-1", "quiet", "no_timer_check",
)  # fmt: skip
# A boot that does not come to its end is the emulator's fault as often as the kernel's.
TRIES = 3
# Modes of a root's entries (inode(7)), and the console's device (admin-guide/devices.txt).
_DIRECTORY, _PROGRAM, _FILE, _DEVICE = 0o040755, 0o100755, 0o100644, 0o020600
_CONSOLE = (5, 1)


@dataclass(frozen=True)
class SelectionMachine:
    """Boots cells of *spec*; *root* is its root in memory."""

    spec: SelectionSpec
    root: Path

    def shown(self, cell: Cell, image: Path) -> Shown:
        """What a boot of *image* (a vmlinuz) shows; one that does not end is done again.

        Raises NotReady without the emulator, InvalidInput for a processor that it lacks.
        """
        for _ in range(TRIES):
            shown = self._booted(cell, image)
            if shown.ended:
                break
        return shown

    def _booted(self, cell: Cell, image: Path) -> Shown:
        words = [*_WORDS, *cell.words]
        command = [
            PROGRAM, *_MACHINE, "-cpu", cell.processor.cpu, "-kernel", f"{image}",
            "-initrd", f"{self.root}", "-append", " ".join(words),
        ]  # fmt: skip
        with tempfile.TemporaryFile() as console, tempfile.TemporaryFile() as errors:
            ended = _run(command, console, errors)
            console.seek(0)
            text = console.read(CONSOLE_LIMIT).decode(errors="replace")
            errors.seek(0)
            said = errors.read(2000).decode(errors="replace").strip()
        if ended and not text:
            # It began with no boot: the emulator refused what it was told.
            cpu = quoted(cell.processor.cpu, 100)
            raise InvalidInput(
                f"the emulator does not take {cpu}: {quoted(said, 200)}",
                hint=f"`{PROGRAM} -cpu help` lists its processors.",
            )
        return read_console(text, self.spec)


def selection_machine(spec: SelectionSpec, directory: Path) -> SelectionMachine:
    """Its root is made in *directory*. Raises NotReady where no compiler makes its program."""
    root = directory / "root"
    root.write_bytes(b"".join(_entries(_compiled(directory), spec)))
    return SelectionMachine(spec, root)


def image_of(package: bytes, release: str, directory: Path) -> Path:
    """The kernel's image out of its Debian package. Raises MitigaugeError for one without."""
    own = directory / hashlib.sha256(release.encode()).hexdigest()[:16]
    file = own.with_suffix(".deb")
    file.write_bytes(package)
    done = subprocess.run(
        ["dpkg-deb", "-x", f"{file}", f"{own}"], capture_output=True, text=True, check=False
    )
    image = own / "boot" / f"vmlinuz-{release}"
    if done.returncode or not image.is_file():
        raise MitigaugeError(f"the package of {release} has no image: {quoted(done.stderr, 200)}")
    return image


def _run(command: list[str], console: object, errors: object) -> bool:
    """Whether it ended by itself within its time."""
    try:
        subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=console, stderr=errors,  # type: ignore[call-overload]
            timeout=BOOT_LIMIT_S, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise NotReady(f"no {PROGRAM}", hint="Install qemu-system-x86.") from None
    except subprocess.TimeoutExpired:
        return False
    return True


def _compiled(directory: Path) -> bytes:
    program = directory / "init"
    command = [COMPILER, "-static", "-O2", "-o", f"{program}", f"{SOURCE}"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=COMPILE_LIMIT_S, check=False
        )
    except FileNotFoundError:
        raise NotReady(f"no compiler `{COMPILER}`", hint="Install gcc and libc6-dev.") from None
    if done.returncode:
        raise NotReady(
            f"{SOURCE.name} does not compile: {quoted(done.stderr, 300)}",
            hint="Install gcc and libc6-dev.",
        )
    return program.read_bytes()


def _entries(program: bytes, spec: SelectionSpec) -> Iterator[bytes]:
    for name in ("dev", "proc", "sys"):
        yield _entry(name, _DIRECTORY)
    yield _entry("dev/console", _DEVICE, device=_CONSOLE)
    yield _entry("init", _PROGRAM, program)
    yield _entry("functions", _FILE, "".join(f"{each}\n" for each in spec.functions).encode())
    yield _entry("TRAILER!!!", 0)


def _entry(name: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    """A file in cpio's "newc" form (Documentation/driver-api/early-userspace/buffer-format.rst)."""
    label = name.encode() + b"\0"
    fields = (0, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(label), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + label
    return _padded(head) + _padded(content)


def _padded(part: bytes) -> bytes:
    return part + bytes(-len(part) % 4)
