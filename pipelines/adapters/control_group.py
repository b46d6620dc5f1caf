"""A control group of the kernel's: what holds all that a program starts to its memory and number.

Both versions of the interface: cgroup v2 (Documentation/admin-guide/cgroup-v2.rst) and, where a
machine still mounts the controllers one by one, v1 (Documentation/admin-guide/cgroup-v1/). Files in
memory (tmpfs) count as memory in both.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
NAME = "mitigauge"
# Enters each group, then becomes the program: before it gives up its rights.
ENTER = (
    'for group in $GROUPS_OF_BUILD; do echo $$ >"$group/cgroup.procs" || exit 125; done; exec "$@"'
)


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """One group that programs may be started in; *directories*: one, or one a controller."""

    directories: Sequence[Path]

    def starting(self, command: Sequence[str]) -> list[str]:
        """The words that start a command within the group; root must start them."""
        groups = " ".join(str(directory) for directory in self.directories)
        return ["/bin/sh", "-c", ENTER.replace("$GROUPS_OF_BUILD", groups), "sh", *command]

    def killed_for_memory(self) -> bool:
        """Whether the kernel ended a process of the group since its memory was used up."""
        for directory in self.directories:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    words = dict(
                        line.split()[:2] for line in (directory / name).read_text().splitlines()
                    )
                    if int(words.get("oom_kill", 0)):
                        return True
        return False


@contextmanager
def control_group(memory_bytes: int, processes: int) -> Iterator[ControlGroup | None]:
    """A group with these limits, gone again afterwards; None where none can be made."""
    made: list[Path] = []
    try:
        yield _make_group(memory_bytes, processes, made)
    finally:
        for directory in made:
            _remove(directory)


def _make_group(memory_bytes: int, processes: int, made: list[Path]) -> ControlGroup | None:
    name = f"{NAME}-{uuid.uuid4().hex[:12]}"
    try:
        for parent, limits in _parents(memory_bytes, processes):
            directory = parent / name
            directory.mkdir()
            made.append(directory)
            for file, value in limits.items():
                _limit(directory / file, value)
    except OSError:
        return None
    return ControlGroup(tuple(made)) if made else None


def _parents(memory_bytes: int, processes: int) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """Where groups are made, and the limits that each takes. Raises OSError where none can be."""
    memory, number = str(memory_bytes), str(processes)
    if (ROOT / "cgroup.controllers").exists():
        # A group with processes of its own may not hand controllers on: not within ours.
        _limit(ROOT / "cgroup.subtree_control", "+memory +pids")
        yield ROOT, {"memory.max": memory, "memory.swap.max": "0", "pids.max": number}
        return
    own = {
        controller: path
        for line in OWN.read_text().splitlines()
        for controller in line.split(":")[1].split(",")
        if (path := line.split(":", 2)[2])
    }
    if "memory" not in own or "pids" not in own:
        raise FileNotFoundError("no control groups for memory and processes")
    yield _below(own, "memory"), {"memory.limit_in_bytes": memory}
    yield _below(own, "pids"), {"pids.max": number}


def _below(own: Mapping[str, str], controller: str) -> Path:
    """This process's own group of a controller: limits of those above it hold below it too."""
    return ROOT / controller / own[controller].lstrip("/")


def _limit(file: Path, value: str) -> None:
    # Swap is not counted where the kernel was built without.
    if file.name == "memory.swap.max" and not file.exists():
        return
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)


def _remove(directory: Path) -> None:
    """Its processes have ended; the kernel may need a moment to know."""
    for _ in range(50):
        try:
            directory.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            with suppress(OSError, InterruptedError):
                os.sched_yield()
            continue
        return
