"""What a lab image is made of, and the hash that names it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from lab.hosts import System

SUITE = "trixie"
KERNEL_LINE = "7.2"
DISK_MIB = 8192

# An installer compiles what looks like Python, in the image's files too; none of it goes there.
COMPILED = "__pycache__"
IMAGE_SOURCES = Path(__file__).resolve().parent / "image"
SERVERS = Path(__file__).resolve().parent / "servers"
SERVER_DISK_MIB = 5120


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what is in the image but the archive's own state."""

    suite: str
    kernel_line: str
    packages: tuple[str, ...]
    disk_mib: int
    key: Path
    host_key: Path
    sources: Path = IMAGE_SOURCES
    system: System = System.LAB

    @property
    def digest(self) -> str:
        """Short hash over all of it, file contents and modes included."""
        lines = [
            f"suite {self.suite}",
            f"kernel {self.kernel_line}",
            f"packages {' '.join(self.packages)}",
            f"disk {self.disk_mib}",
            f"authorized {public_half(self.key).read_text('utf-8').strip()}",
            f"host {public_half(self.host_key).read_text('utf-8').strip()}",
        ]
        for file in sorted(path for path in self.sources.rglob("*") if path.is_file()):
            if COMPILED in file.parts:
                continue
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            executable = bool(file.stat().st_mode & 0o100)
            lines.append(f"{file.relative_to(self.sources)} {executable:d} {content}")
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def recipe_for(system: System, key: Path, host_key: Path) -> Recipe:
    """The recipe of this checkout for hosts of that system."""
    return server_recipe(system, key, host_key) if system.is_server else lab_recipe(key, host_key)


def public_half(key: Path) -> Path:
    """``KEY.pub`` beside a private key."""
    return key.with_name(key.name + ".pub")


def read_package_list(file: Path) -> tuple[str, ...]:
    """Names in ``file``, one a line; comments and empty lines left out."""
    lines = (line.split("#", 1)[0].strip() for line in file.read_text("utf-8").splitlines())
    return tuple(line for line in lines if line)


def server_recipe(system: System, key: Path, host_key: Path) -> Recipe:
    """The recipe of a host that stands for a server."""
    sources = SERVERS / system
    return Recipe(
        suite=SUITE,
        kernel_line="",
        packages=read_package_list(sources / "packages.txt"),
        disk_mib=SERVER_DISK_MIB,
        key=key,
        host_key=host_key,
        sources=sources,
        system=system,
    )


def lab_recipe(key: Path, host_key: Path) -> Recipe:
    """The recipe of this checkout for these private keys, whose public halves lie beside them."""
    return Recipe(
        suite=SUITE,
        kernel_line=KERNEL_LINE,
        packages=read_package_list(IMAGE_SOURCES / "packages.txt"),
        disk_mib=DISK_MIB,
        key=key,
        host_key=host_key,
    )
