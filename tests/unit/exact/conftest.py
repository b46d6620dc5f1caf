"""A program that a real emulator runs with the plugin."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lab.exact.plugin import ensure_plugin
from lab.execution import PROGRAM, Execution
from mitigauge.core.clock import Clock

SOURCE = Path(__file__).with_name("program.S")
FAULTS = Path(__file__).with_name("faults.S")
# isa-debug-exit: what is written is doubled, and one added.
ENDED_WELL = 1


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin, compiled for the QEMU of this machine."""
    return ensure_plugin(tmp_path_factory.mktemp("plugins"))


@pytest.fixture(scope="session")
def windows(plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with what the emulator counted of program.S."""
    return counted(plugin, tmp_path_factory.mktemp("windows"))


@pytest.fixture(scope="session")
def windows_of_faults(plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with what the emulator counted of faults.S."""
    return counted(plugin, tmp_path_factory.mktemp("faults"), source=FAULTS)


def counted(plugin: Path, directory: Path, source: Path = SOURCE) -> Path:
    """Run *source* with the plugin, which leaves its windows in *directory*."""
    program = directory / "program"
    link = ["-m32", "-nostdlib", "-static", "-no-pie", "-Wl,-Ttext=0x100000,--build-id=none"]
    subprocess.run(["cc", *link, str(source), "-o", str(program)], check=True)
    done = subprocess.run(
        [
            PROGRAM,
            *("-nodefaults", "-no-user-config", "-display", "none", "-machine", "pc", "-m", "64"),
            *Execution("tcg", Clock.COUNTED).arguments()[:4],
            *("-device", "isa-debug-exit,iobase=0xf4,iosize=1", "-kernel", str(program)),
            *("-plugin", f"{plugin},out={directory}"),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == ENDED_WELL, done.stderr
    return directory
