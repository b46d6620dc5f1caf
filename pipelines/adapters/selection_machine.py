"""Machines of the emulator that boot a kernel, say which mitigations it chose, and end.

No disk, no network: the first program is the only one, in a root in memory.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mitigauge.core.errors import InvalidInput, MitigaugeError, NotReady
from mitigauge.core.hostile_text import quoted
from mitigauge.measurement.selection.cells import FOLDER, Cell, SelectionSpec
from mitigauge.measurement.selection.console import Shown, read_console
from pipelines.adapters.c_compiler import compile_program
from pipelines.adapters.initramfs import packed

PROGRAM = "qemu-system-x86_64"
SOURCE = FOLDER / "init.c"
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


@dataclass(frozen=True)
class SelectionMachine:
    """Boots cells of *spec*; *root* is its root in memory."""

    spec: SelectionSpec
    root: Path

    def boot(self, cell: Cell, image: Path) -> Shown:
        """What a boot of *image* (a vmlinuz) shows; one that does not end is done again.

        Raises NotReady without the emulator, InvalidInput for a processor that it lacks.
        """
        for _ in range(TRIES):
            shown = self._boot_once(cell, image)
            if shown.ended:
                break
        return shown

    def _boot_once(self, cell: Cell, image: Path) -> Shown:
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
    program, root = directory / "init", directory / "root"
    compile_program([SOURCE], ("-static", "-O2"), program, f"experiments/selection/{SOURCE.name}")
    functions = "".join(f"{each}\n" for each in spec.functions).encode()
    root.write_bytes(packed(program.read_bytes(), {"functions": functions}))
    return SelectionMachine(spec, root)


def image_of(package: bytes, release: str, directory: Path) -> Path:
    """The kernel's image out of its Debian package. Raises MitigaugeError for one without."""
    found, image = image_in(package, f"the package of {release}", directory)
    if found != release:
        raise MitigaugeError(f"the package of {release} has the image of {quoted(found, 100)}")
    return image


def image_in(package: bytes, name: str, directory: Path) -> tuple[str, Path]:
    """Release and image of the one kernel in a Debian package.

    *name*: what the package is called where it has none. Raises MitigaugeError.
    """
    own = directory / hashlib.sha256(name.encode()).hexdigest()[:16]
    file = own.with_suffix(".deb")
    file.write_bytes(package)
    done = subprocess.run(
        ["dpkg-deb", "-x", f"{file}", f"{own}"], capture_output=True, text=True, check=False
    )
    file.unlink()
    images = [each for each in own.glob("boot/vmlinuz-*") if each.is_file()]
    if done.returncode or len(images) != 1 or images[0].is_symlink():
        said = quoted(done.stderr, 200) if done.stderr else f"{len(images)} files /boot/vmlinuz-*"
        raise MitigaugeError(
            f"{name} is no kernel's package: {said}", hint="Give a linux-image-*.deb."
        )
    return images[0].name.removeprefix("vmlinuz-"), images[0]


def _run(command: list[str], console: IO[bytes], errors: IO[bytes]) -> bool:
    """Whether it ended by itself within its time."""
    try:
        subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=console, stderr=errors,
            timeout=BOOT_LIMIT_S, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise NotReady(f"no {PROGRAM}", hint="Install qemu-system-x86.") from None
    except subprocess.TimeoutExpired:
        return False
    return True
