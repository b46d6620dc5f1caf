"""What counts in the emulator and marks on its hosts: compiled here, kept by what it is made of."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from lab.exact.serve import marks_of
from lab.execution import PROGRAM

SOURCES = Path(__file__).resolve().parent
PLUGIN, MARKS = "plugin.c", "marks.c"
NAMES = (PLUGIN, MARKS, "interface.h")
COMPILER = "cc"
OPTIONS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared")
LIMIT_S = 60.0
# QEMU's versions by the interface of its plugins, see interface.h.
OLD_BELOW, NEW_FROM = (9, 0), (9, 2)


class NoPluginError(Exception):
    """There are no exact counts here; the text says why."""


def interface_of(said: str) -> int:
    """The interface's version for what ``qemu --version`` says; NoPluginError for another one."""
    found = re.search(r"version (\d+)\.(\d+)", said)
    if not found:
        raise NoPluginError(f"{PROGRAM} --version says no version: {said[:100]!r}")
    version = (int(found[1]), int(found[2]))
    if version < OLD_BELOW:
        return 1
    if version >= NEW_FROM:
        return 4
    raise NoPluginError(
        f"QEMU {version[0]}.{version[1]} has an interface for plugins that is not known here"
    )


def ensure_plugin(cache: Path) -> Path:
    """The plugin's file below *cache*, compiled if it is not there, its marks beside it.

    Raises NoPluginError, which says why there is none.
    """
    interface = interface_of(_output_of([PROGRAM, "--version"]))
    content = b"\0".join((SOURCES / name).read_bytes() for name in NAMES)
    digest = hashlib.sha256(f"{interface} {OPTIONS}".encode() + content).hexdigest()[:16]
    file = cache / f"exact-{digest}.so"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        _compile(interface, file)
    return file


def _compile(interface: int, file: Path) -> None:
    """Leave *file* only where QEMU has loaded it once."""
    if shutil.which(COMPILER) is None:
        raise NoPluginError("no C compiler is there: install gcc and libc6-dev")
    with tempfile.TemporaryDirectory(dir=file.parent) as work:
        plugin = Path(work) / file.name
        for source, made in ((PLUGIN, plugin), (MARKS, marks_of(plugin))):
            defined = f"-DPLUGIN_INTERFACE={interface}"
            _output_of([COMPILER, *OPTIONS, defined, str(SOURCES / source), "-o", str(made)])
        _try(plugin)
        marks_of(plugin).replace(marks_of(file))
        plugin.replace(file)


def _try(plugin: Path) -> None:
    """Load it into a machine without anything in it, which is ended at once."""
    machine = ["-machine", "none", "-accel", "tcg", "-nodefaults", "-display", "none"]
    watched = ["-chardev", "stdio,id=said", "-mon", "chardev=said,mode=readline"]
    _output_of([PROGRAM, *machine, *watched, "-plugin", f"{plugin},out=/"], given="quit\n")


def _output_of(command: list[str], given: str = "") -> str:
    """What a program prints; NoPluginError with its last words where it fails."""
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except FileNotFoundError:
        raise NoPluginError(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise NoPluginError(f"{command[0]} did not end within {LIMIT_S:.0f} s") from None
    if done.returncode:
        last = (done.stderr or done.stdout).strip()[-400:]
        raise NoPluginError(f"{command[0]} ended with {done.returncode}: {last}")
    return done.stdout
