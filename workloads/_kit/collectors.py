"""What can be read of a host each second beside a case: counters and levels, by kind.

A source is made once, keeps its files open, and answers with whole numbers by column. A column
counts up for ever (`count`), or says what is so now (`level`). What a host has not raises
:class:`Absent` with the reason. Standard library only; runs on the host.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from collections.abc import Iterable
from pathlib import Path

from _kit.wire import collectors as wire
from _kit.wire.collectors import COUNT, LEVEL, Kind

Row = dict[str, int]
DEBUGFS, TRACEFS = Path("/sys/kernel/debug"), Path("/sys/kernel/tracing")
CPUS = Path("/sys/devices/system/cpu")
# Of processors whose files are read one by one; more of them tell nothing more of one case.
MOST_PROCESSORS = 16
PIECE = 1 << 16


class Absent(Exception):
    """This host does not have it; the text says what is missing."""


class OpenFile:
    """A file of /proc or /sys that is read again and again."""

    def __init__(self, path: Path) -> None:
        """Raises :class:`Absent` where it cannot be opened."""
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise Absent(f"{path}: {error.strerror}") from None

    def whole(self) -> bytes:
        """All of it, as it is now."""
        parts, at = [], 0
        while part := os.pread(self._descriptor, PIECE, at):
            parts.append(part)
            at += len(part)
        return b"".join(parts)

    def number(self) -> int:
        """The number that it holds."""
        return int(os.pread(self._descriptor, 64, 0))


class Number:
    """A file of debugfs with one number, which can be read only once each time it is opened."""

    def __init__(self, path: Path) -> None:
        """Raises :class:`Absent` where it cannot be read."""
        self._path = path
        try:
            self.number()
        except OSError as error:
            raise Absent(f"{path}: {error.strerror}") from None

    def number(self) -> int:
        """The number that it holds."""
        descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return int(os.read(descriptor, 64))
        finally:
            os.close(descriptor)


class Source:
    """One kind of figures. A column that no kind is named for is a count."""

    levels: frozenset[str] = frozenset()

    def read(self) -> Row:
        """The figures as they are now, by column."""
        raise NotImplementedError

    def close(self) -> None:
        """Undo what reading needed."""

    def kind(self, column: str) -> Kind:
        """Whether the column counts or is a level."""
        return LEVEL if column in self.levels else COUNT


class Cpu(Source):
    """Ticks of all processors by what they did; and context switches."""

    def __init__(self) -> None:
        self._stat = OpenFile(Path("/proc/stat"))

    def read(self) -> Row:
        text = self._stat.whole()
        row = dict(zip(wire.TICKS, map(int, text[: text.index(b"\n")].split()[1:])))
        at = text.find(b"\nctxt ")
        if at >= 0:
            row[wire.SWITCHES] = int(text[at + 6 : text.index(b"\n", at + 1)])
        return row


class Memory(Source):
    """KiB of memory by use."""

    names = tuple(name.encode() for name in wire.MEMINFO)
    levels = frozenset(wire.MEMINFO)

    def __init__(self) -> None:
        self._meminfo = OpenFile(Path("/proc/meminfo"))

    def read(self) -> Row:
        row = {}
        for line in self._meminfo.whole().splitlines():
            name, _, rest = line.partition(b":")
            if name in self.names:
                row[name.decode()] = int(rest.split()[0])
        return row


class Disk(Source):
    """What all disks did: requests, sectors of 512 bytes, milliseconds with one under way."""

    places = (3, 5, 7, 9, 12)
    # Their requests come to a disk, too, or they are memory.
    others = re.compile(r"(loop|ram|zram|dm-|md)\d*")

    def __init__(self) -> None:
        found = os.listdir("/sys/block") if Path("/sys/block").is_dir() else []
        self._disks = {name.encode() for name in found if not self.others.match(name)}
        if not self._disks:
            raise Absent("no disk in /sys/block")
        self._diskstats = OpenFile(Path("/proc/diskstats"))

    def read(self) -> Row:
        return summed(
            wire.DISKSTATS,
            (
                [int(fields[place]) for place in self.places]
                for fields in map(bytes.split, self._diskstats.whole().splitlines())
                if fields[2] in self._disks
            ),
        )


class Network(Source):
    """What all interfaces but the loopback received and sent."""

    places = (0, 1, 3, 8, 9, 11)

    def __init__(self) -> None:
        self._dev = OpenFile(Path("/proc/net/dev"))

    def read(self) -> Row:
        def interfaces() -> Iterable[list[int]]:
            for line in self._dev.whole().splitlines()[2:]:
                name, _, rest = line.partition(b":")
                if name.strip() != b"lo":
                    fields = rest.split()
                    yield [int(fields[place]) for place in self.places]

        return summed(wire.INTERFACES, interfaces())


class Schedstat(Source):
    """Of all processors: nanoseconds that tasks ran, that they waited to run, and their turns."""

    def __init__(self) -> None:
        self._schedstat = OpenFile(Path("/proc/schedstat"))

    def read(self) -> Row:
        return summed(
            wire.TURNS,
            (
                [int(word) for word in line.split()[7:10]]
                for line in self._schedstat.whole().splitlines()
                if line.startswith(b"cpu")
            ),
        )


class Power(Source):
    """Energy of all packages by RAPL, in microjoules."""

    def __init__(self) -> None:
        zones = sorted(Path("/sys/class/powercap").glob("intel-rapl:*"))
        packages = [zone for zone in zones if re.fullmatch(r"intel-rapl:\d+", zone.name)]
        if not packages:
            raise Absent("no RAPL in /sys/class/powercap")
        self._energy = [OpenFile(package / "energy_uj") for package in packages]
        self._range = [OpenFile(package / "max_energy_range_uj").number() for package in packages]
        self._last = [file.number() for file in self._energy]
        self._total = 0

    def read(self) -> Row:
        now = [file.number() for file in self._energy]
        for before, after, most in zip(self._last, now, self._range):
            # It begins again at its range's end.
            self._total += after - before if after >= before else after + most - before
        self._last = now
        return {wire.ENERGY: self._total}


class Frequency(Source):
    """kHz of the job's processors, as the kernel's driver tells."""

    levels = frozenset(wire.KHZ)

    def __init__(self) -> None:
        paths = [CPUS / f"cpu{cpu}/cpufreq/scaling_cur_freq" for cpu in processors()]
        self._files = [OpenFile(path) for path in paths if path.exists()]
        if not self._files:
            raise Absent("no cpufreq driver tells a frequency")

    def read(self) -> Row:
        khz = [file.number() for file in self._files]
        return dict(zip(wire.KHZ, (sum(khz) // len(khz), min(khz))))


class Throttling(Source):
    """How often the job's processors, and their packages, were slowed for heat."""

    def __init__(self) -> None:
        self._files = {
            scope: [
                OpenFile(path)
                for cpu in processors()
                if (path := CPUS / f"cpu{cpu}/thermal_throttle/{scope}_throttle_count").exists()
            ]
            for scope in wire.SCOPES
        }
        if not any(self._files.values()):
            raise Absent("the kernel counts no thermal throttling here")

    def read(self) -> Row:
        return {scope: sum(f.number() for f in files) for scope, files in self._files.items()}


class Histogram:
    """Counts of a tracepoint by one of its fields, made by the kernel as the events happen.

    In a tracing instance of our own, which nobody else's tracing sees.
    """

    entry = re.compile(rb"\{ \w+: *(\d+) \} hitcount: *(\d+)")

    def __init__(self, event: str, key: str) -> None:
        mounted("tracefs", TRACEFS)
        self._instance = TRACEFS / f"instances/mitigauge-{os.getpid()}-{event}"
        directory = self._instance / f"events/kvm/{event}"
        if not (TRACEFS / f"events/kvm/{event}").is_dir():
            raise Absent(f"no tracepoint kvm:{event}; is KVM's module loaded?")
        remove_left(f"mitigauge-*-{event}")
        try:
            self._instance.mkdir()
            self._trigger, self._asked = directory / "trigger", f"hist:keys={key}:size=256"
            self._trigger.write_text(self._asked)
        except OSError as error:
            self.close()
            raise Absent(
                f"no histogram of kvm:{event} (CONFIG_HIST_TRIGGERS): {error.strerror}"
            ) from None
        self._hist = OpenFile(directory / "hist")

    def read(self) -> dict[int, int]:
        """Value of the field → how often it came."""
        return {int(value): int(hits) for value, hits in self.entry.findall(self._hist.whole())}

    def close(self) -> None:
        """Count no more."""
        remove_instance(self._instance)


class Exits(Source):
    """Exits from guests as KVM counts them itself, and those to user space by their reason.

    A guest that ends takes KVM's counts with it.
    """

    levels = frozenset({wire.VCPUS})
    # Looking for virtual processors costs more than all counters.
    vcpus_every = 4

    def __init__(self) -> None:
        self._directory = DEBUGFS / "kvm"
        self._files: dict[str, Number] = {}
        self._to_userspace: Histogram | None = None
        self._sampled, self._vcpus = 0, 0
        missing = []
        for part in (self._open_counters, self._open_histogram):
            try:
                part()
            except Absent as error:
                missing.append(str(error))
        if len(missing) == 2:
            raise Absent("; ".join(missing))

    def _open_counters(self) -> None:
        mounted("debugfs", DEBUGFS)
        paths = [self._directory / name for name in wire.KVM]
        self._files = {path.name: Number(path) for path in paths if path.exists()}
        if not self._files:
            raise Absent(f"no counters in {self._directory}; is KVM's module loaded?")

    def _open_histogram(self) -> None:
        self._to_userspace = Histogram("kvm_userspace_exit", "reason")

    def read(self) -> Row:
        row = {name: file.number() for name, file in self._files.items()}
        if self._files and self._sampled % self.vcpus_every == 0:
            self._vcpus = vcpus_in(self._directory)
        self._sampled += 1
        row[wire.VCPUS] = self._vcpus
        if self._to_userspace:
            reasons = self._to_userspace.read()
            row[wire.TO_USERSPACE] = sum(reasons.values())
            row |= {f"{wire.USERSPACE_PREFIX}{reason}": hits for reason, hits in reasons.items()}
        return row

    def close(self) -> None:
        if self._to_userspace:
            self._to_userspace.close()


class ExitReasons(Source):
    """Every exit by the processor's reason: some tenth of a microsecond more for each of them."""

    levels = frozenset({wire.SVM})

    def __init__(self) -> None:
        self._svm = int(Path("/sys/module/kvm_amd").is_dir())
        self._exits = Histogram("kvm_exit", "exit_reason")

    def read(self) -> Row:
        row = {f"{wire.EXIT_PREFIX}{reason}": hits for reason, hits in self._exits.read().items()}
        return {wire.SVM: self._svm, **row}

    def close(self) -> None:
        self._exits.close()


SOURCES: dict[str, type[Source]] = {
    wire.CPU: Cpu,
    wire.MEMORY: Memory,
    wire.DISK: Disk,
    wire.NETWORK: Network,
    wire.SCHEDSTAT: Schedstat,
    wire.EXITS: Exits,
    wire.EXIT_REASONS: ExitReasons,
    wire.POWER: Power,
    wire.FREQUENCY: Frequency,
    wire.THROTTLING: Throttling,
}


def summed(names: tuple[str, ...], rows: Iterable[list[int]]) -> Row:
    """The rows' sums by name."""
    sums = [0] * len(names)
    for row in rows:
        for place, value in enumerate(row):
            sums[place] += value
    return dict(zip(names, sums))


def processors() -> list[int]:
    """The last of the processors that the job may use: workloads measure on these."""
    return sorted(allowed())[-MOST_PROCESSORS:]


def allowed() -> set[int]:
    """Processors of the job. Asked before the collectors move elsewhere."""
    if not _allowed:
        _allowed.update(os.sched_getaffinity(0))
    return _allowed


_allowed: set[int] = set()


def vcpus_in(directory: Path) -> int:
    """Virtual processors of all guests, as KVM lists them."""
    found = 0
    for guest in os.listdir(directory):
        if "-" in guest:
            with contextlib.suppress(OSError):
                names = os.listdir(directory / guest)
                found += sum(name.startswith("vcpu") for name in names)
    return found


# include/uapi/linux/sched.h and mount.h
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18


def mounted(kind: str, at: Path) -> None:
    """See to it that a file system is there, for this process alone where the host has it not."""
    if any(at.iterdir()) if at.is_dir() else False:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    apart = libc.unshare(CLONE_NEWNS) or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    if apart or libc.mount(kind.encode(), bytes(at), kind.encode(), 0, None):
        raise Absent(f"{kind} cannot be mounted: {os.strerror(ctypes.get_errno())}")


def remove_left(pattern: str) -> None:
    """Remove instances, `mitigauge-PROCESS-NAME`, whose process was killed."""
    for instance in (TRACEFS / "instances").glob(pattern):
        if not Path("/proc", instance.name.split("-")[1]).exists():
            remove_instance(instance)


def remove_instance(instance: Path) -> None:
    """Remove a tracing instance, and with it what it counts."""
    with contextlib.suppress(OSError):
        for trigger in instance.glob("events/kvm/*/trigger"):
            for line in trigger.read_text().splitlines():
                if line.startswith("hist:"):
                    trigger.write_text(f"!{line.partition(' [')[0]}")
        instance.rmdir()
