"""Pieces of assembly, assembled to bare code that may lie anywhere."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from mitigauge.core.errors import InvalidInput, NotReady
from mitigauge.core.hostile_text import quoted

LARGEST = 32_000
LIMIT_S = 30.0
TOOLS = ("as", "objcopy", "readelf")


def assembled(source: Path, directory: Path, name: str) -> Path:
    """The code of *source* as a file below *directory*.

    Raises :class:`InvalidInput` naming the assembler's complaint, for code that is empty, too long,
    or refers to what is not in it; :class:`NotReady` where binutils are not there.
    """
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise NotReady(f"{missing[0]} is not here", hint="Install binutils.")
    if not source.is_file():
        raise InvalidInput(f"{source} is no file", hint="experiments/snippets has some.")
    made, code = directory / f"{name}.o", directory / f"{name}.bin"
    _called(["as", "--64", "-o", str(made), str(source.resolve())], source)
    if "R_X86_64" in _called(["readelf", "--relocs", "--wide", str(made)], source):
        raise InvalidInput(
            f"{source} refers to something outside itself",
            hint="A piece of code runs at many places: it may name its own labels alone.",
        )
    _called(["objcopy", "-O", "binary", "-j", ".text", str(made), str(code)], source)
    length = code.stat().st_size if code.exists() else 0
    if not 0 < length <= LARGEST:
        raise InvalidInput(
            f"{source} has {length} bytes of code", hint=f"Give 1 to {LARGEST} bytes in .text."
        )
    return code


def _called(command: list[str], source: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        said = quoted(done.stderr.strip()[:400], 400)
        raise InvalidInput(
            f"{source} does not assemble: {said}", hint="Write it as GNU as takes it (AT&T)."
        )
    return done.stdout
