"""Foreign programs in a sandbox: bubblewrap's namespaces, a user of their own, and limits.

Inside there is a root of its own, read-only, the directories that are named, no network, no
other process, no variable of ours. A control group holds memory and processes to their limits
where the machine has one; where it has none they are watched, twice a second, as time, disk and
output are everywhere. Whoever goes over a limit is ended with everything it started.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from mitigauge.core.errors import Interrupted, MitigaugeError, NotReady
from pipelines.adapters.control_group import control_group
from pipelines.adapters.disk_use import DEEPEST, disk_use, unlinked_bytes

# No account has it: what runs under it owns nothing and shares its limits with nobody.
BUILD_USER = 64180
INSIDE_USER = 1000
LOOK_S = 0.5
DISK_LOOK_S = 5.0
# Below the one a look at the disk does not wait, below the other the program is ended.
SHORT_OF_DISK = 1 << 30
LEAST_FREE = 256 << 20
DISK_IS_SHORT = "the disk has less than"
LONGEST_LINE = 2000
DRAINED_BYTES = 1 << 20
PATH = "/usr/local/bin:/usr/lib/ccache:/usr/bin:/usr/sbin:/bin:/sbin"


class LimitReached(MitigaugeError):
    """What ran in a sandbox went over one of its limits and was ended."""


class DiskShort(LimitReached):
    """The machine's disk is nearly full, whoever filled it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a program may take, all that it starts counted."""

    seconds: float = 3600.0
    memory_bytes: int = 8 << 30
    disk_bytes: int = 12 << 30
    """In the directories that it may write to, together."""
    files: int = 400_000
    """In those directories, folders among them; a kernel's tree has some 100,000."""
    file_bytes: int = 2 << 30
    output_bytes: int = 64 << 20
    processes: int = 2000


@dataclass(frozen=True)
class Sandbox:
    """A root directory whose programs may be run; *limits* hold for each call of run()."""

    root: Path
    limits: Limits = field(default_factory=Limits)

    def run(
        self,
        command: Sequence[str],
        *,
        log: Path,
        writable: Mapping[str, Path],
        readable: Mapping[str, Path],
        directory: str,
        variables: Mapping[str, str],
        on_line: Callable[[str], None] = lambda _line: None,
        why_to_stop: Callable[[], str] = lambda: "",
    ) -> int:
        """Run *command* to its end; its exit status. Its output is appended to *log*.

        *writable* and *readable*: directory inside → directory outside. *directory*: where it
        starts, inside. *why_to_stop* is asked every now and then, and ends it once it says
        something. Raises :class:`LimitReached` naming the limit, :class:`Interrupted` with what
        *why_to_stop* said, and :class:`NotReady` where there is no bubblewrap.
        """
        words = [*_unprivileged(), *self._prlimit()]
        words += [*self._bubblewrap(writable, readable, directory, variables), *command]
        for outside in writable.values():
            _give_away(outside)
        for outside in (self.root, *writable.values(), *readable.values()):
            _require_reachable(outside)
        limits = self.limits
        with log.open("ab") as out, control_group(limits.memory_bytes, limits.processes) as group:
            process = _started(group.starting(words) if group else words)
            reader = _Reader(process, out, limits.output_bytes, on_line)
            watch = _Watch(process, limits, tuple(writable.values()), reader, why_to_stop)
            try:
                reader.start()
                why = watch.until_over()
            finally:
                _end(process)
            reader.join()
            if not why and group and group.killed_for_memory():
                why = too_much_memory(limits)
        if why:
            kind = DiskShort if why.startswith(DISK_IS_SHORT) else LimitReached
            raise kind(why, hint=f"It ran in a sandbox: {' '.join(command)[:200]}")
        return process.returncode

    def _prlimit(self) -> list[str]:
        # Counted by user: a person's other programs count too.
        others = 0 if _is_root() else sum(1 for _ in processes_of(os.getuid()))
        number = self.limits.processes + others
        words = ["prlimit", "--core=0", f"--fsize={self.limits.file_bytes}", f"--nproc={number}"]
        return [*words, "--"]

    def _bubblewrap(
        self,
        writable: Mapping[str, Path],
        readable: Mapping[str, Path],
        directory: str,
        variables: Mapping[str, str],
    ) -> list[str]:
        words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
        words += ["--uid", str(INSIDE_USER), "--gid", str(INSIDE_USER), "--hostname", "build"]
        words += ["--ro-bind", str(self.root), "/", "--proc", "/proc", "--dev", "/dev"]
        # Files in memory: without a size each may take half of the machine's.
        for place, share in (("/tmp", 8), ("/run", 64), ("/dev/shm", 64)):
            words += ["--size", str(self.limits.memory_bytes // share), "--tmpfs", place]
        for inside, outside in readable.items():
            words += ["--ro-bind", str(outside), inside]
        for inside, outside in writable.items():
            words += ["--bind", str(outside), inside]
        given = {"PATH": PATH, "HOME": "/tmp", "LC_ALL": "C.UTF-8", **variables}
        for name, value in given.items():
            words += ["--setenv", name, value]
        return [*words, "--chdir", directory, "--"]


def require_bubblewrap() -> None:
    """Raise :class:`NotReady` where sandboxes cannot be made."""
    needed = (("bwrap", "bubblewrap"), ("prlimit", "util-linux"), ("setpriv", "util-linux"))
    for program, package in needed:
        if shutil.which(program) is None:
            raise NotReady(
                f"{program} is not installed, and nothing foreign is run without it",
                hint=f"apt-get install {package}",
            )


def _started(words: Sequence[str]) -> subprocess.Popen[bytes]:
    require_bubblewrap()
    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd="/",
        env={"PATH": os.environ.get("PATH", PATH)},
        start_new_session=True,
    )


def _unprivileged() -> list[str]:
    """Words that give up root's rights for those of a user that owns nothing."""
    if not _is_root():
        return []
    user = str(BUILD_USER)
    return ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--"]


def too_much_memory(limits: Limits) -> str:
    """Why a program was ended that took more memory than it may."""
    return f"it took more than {limits.memory_bytes >> 20} MiB of memory"


def _is_root() -> bool:
    return os.getuid() == 0


def _give_away(directory: Path) -> None:
    """A directory that the sandbox's user may write to."""
    directory.mkdir(parents=True, exist_ok=True)
    if _is_root():
        os.chown(directory, BUILD_USER, BUILD_USER)


def _require_reachable(directory: Path) -> None:
    """Raise :class:`NotReady` where the sandbox's user cannot get to a directory."""
    if not _is_root():
        return
    for parent in directory.absolute().parents:
        if not parent.stat().st_mode & 0o001:
            raise NotReady(
                f"{parent} is closed to others, so that builds cannot run below it",
                hint=f"chmod o+x {parent}, or put MITIGAUGE_HOME elsewhere.",
            )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End bubblewrap: its namespace, and so all in it, ends with it."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()


class _Reader(threading.Thread):
    """Takes in what is said, so that a pipe that is full stops nobody."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        log: BinaryIO,
        limit: int,
        on_line: Callable[[str], None],
    ) -> None:
        super().__init__(daemon=True)
        self._process, self._log, self._limit, self._on_line = process, log, limit, on_line
        self.taken = 0

    @property
    def over(self) -> bool:
        """Whether more was said than may be."""
        return self.taken > self._limit

    def run(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as said:
            while piece := said.readline(LONGEST_LINE):
                self.taken += len(piece)
                if self.over:
                    break
                self._log.write(piece)
                self._on_line(piece.decode(errors="replace").rstrip())
            # Line by line, a program that prints without end would leave no time for whoever
            # is to end it.
            while said.read(DRAINED_BYTES):
                pass


class _Watch:
    """Looks after the limits of one process and all that it started."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        limits: Limits,
        directories: Sequence[Path],
        reader: _Reader,
        why_to_stop: Callable[[], str],
    ) -> None:
        self._process, self._limits, self._reader = process, limits, reader
        self._why_to_stop = why_to_stop
        self._directories = directories
        self._began = self._disk_at = time.monotonic()

    def until_over(self) -> str:
        """Wait for the end; why it is to be ended, empty where it ended by itself.

        Raises :class:`Interrupted` where it is ended from outside.
        """
        while True:
            try:
                self._process.wait(LOOK_S)
            except subprocess.TimeoutExpired:
                interrupted = self._why_to_stop()
                if interrupted:
                    raise Interrupted(interrupted) from None
                why = self._why()
                if why:
                    return why
            else:
                # It may have taken its share and ended between two looks.
                return self._said_too_much() or self._disk_why(())

    def _why(self) -> str:
        limits, now = self._limits, time.monotonic()
        if self._said_too_much():
            return self._said_too_much()
        if now - self._began > limits.seconds:
            return f"it took longer than {limits.seconds:.0f} s"
        family = family_of(self._process.pid)
        if sum(family.values()) > limits.memory_bytes:
            return too_much_memory(limits)
        if len(family) > limits.processes:
            return f"it started more than {limits.processes} processes"
        if now - self._disk_at >= DISK_LOOK_S or self._free() < SHORT_OF_DISK:
            self._disk_at = now
            return self._disk_why(family)
        return ""

    def _disk_why(self, family: Iterable[int]) -> str:
        limits, use = self._limits, disk_use(self._directories)
        if use.used_bytes + unlinked_bytes(family) > limits.disk_bytes:
            return f"it took more than {limits.disk_bytes >> 20} MiB of disk"
        if use.files > limits.files:
            return f"it made more than {limits.files} files"
        if use.too_deep:
            return f"it made folders within folders, more than {DEEPEST} deep"
        # What it hides better still would fill the machine's disk.
        if self._free() < LEAST_FREE:
            return f"{DISK_IS_SHORT} {LEAST_FREE >> 20} MiB left"
        return ""

    def _said_too_much(self) -> str:
        if not self._reader.over:
            return ""
        return f"it printed more than {self._limits.output_bytes >> 10} KiB"

    def _free(self) -> int:
        """Bytes that are left of the disk."""
        return min((shutil.disk_usage(d).free for d in self._directories), default=1 << 40)


def family_of(pid: int) -> dict[int, int]:
    """Bytes of memory by process, of one and all below it; shared pages count for each."""
    page = os.sysconf("SC_PAGE_SIZE")
    children: dict[int, list[int]] = {}
    held: dict[int, int] = {}
    for each, parent, pages in _processes():
        children.setdefault(parent, []).append(each)
        held[each] = pages * page
    found, queue = {}, [pid]
    while queue:
        each = queue.pop()
        if each in held:
            found[each] = held[each]
        queue += children.get(each, [])
    return found


def processes_of(user: int) -> Iterator[int]:
    """Processes of a user."""
    for entry in os.scandir("/proc"):
        try:
            if entry.name.isdigit() and entry.stat().st_uid == user:
                yield int(entry.name)
        except OSError:
            continue  # it has just ended


def _processes() -> Iterator[tuple[int, int, int]]:
    """(process, its parent, its resident pages) of every process there is."""
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            stat = Path(entry.path, "stat").read_text(errors="replace")
            pages = int(Path(entry.path, "statm").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            continue  # it has just ended
        yield int(entry.name), int(stat.rpartition(")")[2].split()[1]), pages


def remove(directory: Path) -> None:
    """Remove what a sandbox left, however deep it made it: Python's own way would end in that."""
    subprocess.run(["rm", "-rf", "--", str(directory)], check=False, stderr=subprocess.DEVNULL)
