"""A profiled pass as a host leaves it: its directories, profile.json and perf's text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypedDict

# Within a case's directory.
DIRECTORY: Final = "profile"
# Who was sampled: the processors of host or guest; or where the host's threads waited. All but the
# host's have a directory of that name below the profile's.
System = Literal["host", "guest", "off-cpu"]
HOST: Final[System] = "host"
GUEST: Final[System] = "guest"
OFF_CPU: Final[System] = "off-cpu"

FILE: Final = "profile.json"
# perf's text, and the suffix that its compressor gives it.
TEXT: Final = "perf.script"
CaptureName = Literal["perf.script.zst", "perf.script.gz"]
SUFFIXES: Final[Mapping[str, str]] = {"zstd": "zst", "gzip": "gz"}
# How the pass went.
Ok = Literal["ok"]
Failed = Literal["failed"]
OK: Final[Ok] = "ok"
FAILED: Final[Failed] = "failed"

# Comes once for every NMI on every processor, out of whatever it interrupted.
NMI_EVENT: Final = "nmi:nmi_handler"
# The C function that every x86 NMI enters, and the assembly that calls it (two of its labels in a
# row where a frame pointer leads through it).
NMI_HANDLER: Final = b"exc_nmi"
NMI_ENTRIES: Final = frozenset({b"asm_exc_nmi", b"end_repeat_nmi", b"repeat_nmi", b"first_nmi"})
# The source of NMIs that needs no connection: the host's own timer.
OWN_NMIS: Final = "hpet"


class Begun(TypedDict):
    """What profile.json has, however the pass ended; `detail`: why there is no capture."""

    state: str
    detail: str
    hz: int


class Profile(Begun, total=False):
    """profile.json."""

    event: str
    period_ns: int
    """Of events that tell no period: the time between two."""
    perf: str
    seconds: float
    lost: int
    counters: Mapping[str, float]
    capture: str
    capture_bytes: int
