"""Collectors: their names, what they leave beside a case, and the names of their columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypedDict

CPU: Final = "cpu"
MEMORY: Final = "memory"
DISK: Final = "disk"
NETWORK: Final = "network"
SCHEDSTAT: Final = "schedstat"
EXITS: Final = "exits"
EXIT_REASONS: Final = "exit-reasons"
POWER: Final = "power"
FREQUENCY: Final = "frequency"
THROTTLING: Final = "throttling"
NAMES: Final = (
    CPU, MEMORY, DISK, NETWORK, SCHEDSTAT, EXITS, EXIT_REASONS, POWER, FREQUENCY, THROTTLING,
)  # fmt: skip
# Reading costs these alone; counting exits costs each exit something.
CHEAP: Final = (CPU, MEMORY, DISK, NETWORK, SCHEDSTAT, POWER, FREQUENCY, THROTTLING)

# Within a case's directory, and the file in it that says what the host has not.
DIRECTORY: Final = "collected"
SUMMARY_FILE: Final = "collected.json"
# Of a longer case every second sample goes, and from then on they are taken half as often.
MOST_SAMPLES: Final = 2048
# Reasons of exits are the only columns that a host chooses; it has some twenty.
MOST_COLUMNS: Final = 60

# A column counts up for ever, or says what is so now.
Kind = Literal["count", "level"]
COUNT: Final[Kind] = "count"
LEVEL: Final[Kind] = "level"


class Head(TypedDict):
    """First line of a collector's file; columns are (name, kind)."""

    collector: str
    columns: list[tuple[str, Kind]]


class Summary(TypedDict):
    """collected.json."""

    absent: Mapping[str, str]
    processors: int
    spent_ns: int
    lasted_ns: int
    samples: int


# Ticks of /proc/stat, in the kernel's order; the last is a part of the first.
TICKS: Final = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest")
SWITCHES: Final = "switches"
# Lines of /proc/meminfo.
MEMINFO: Final = ("MemTotal", "MemAvailable", "Dirty", "AnonPages", "Cached", "Slab")
DISKSTATS: Final = ("reads", "read_sectors", "writes", "written_sectors", "busy_ms")
INTERFACES: Final = (
    "rx_bytes", "rx_packets", "rx_drops", "tx_bytes", "tx_packets", "tx_drops",
)  # fmt: skip
TURNS: Final = ("run_ns", "wait_ns", "slices")
# Counters of KVM in debugfs.
KVM: Final = (
    "exits", "io_exits", "mmio_exits", "halt_exits", "irq_exits", "irq_window_exits",
    "signal_exits", "request_irq_exits", "hypercalls", "halt_wakeup", "insn_emulation",
)  # fmt: skip
VCPUS: Final = "vcpus"
TO_USERSPACE: Final = "to_userspace"
# Before the number of a reason: of exits to user space, and of all exits.
USERSPACE_PREFIX: Final = "userspace."
EXIT_PREFIX: Final = "exit."
# Whether the reasons are AMD's.
SVM: Final = "svm"
ENERGY: Final = "energy_uj"
KHZ: Final = ("mean_khz", "least_khz")
SCOPES: Final = ("core", "package")
# Columns by collector, but for the reasons of exits.
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    CPU: (*TICKS, SWITCHES),
    MEMORY: MEMINFO,
    DISK: DISKSTATS,
    NETWORK: INTERFACES,
    SCHEDSTAT: TURNS,
    EXITS: (*KVM, VCPUS, TO_USERSPACE),
    EXIT_REASONS: (SVM,),
    POWER: (ENERGY,),
    FREQUENCY: KHZ,
    THROTTLING: SCOPES,
}


def file_of(name: str) -> str:
    """The collector's file."""
    return f"{name}.txt"
