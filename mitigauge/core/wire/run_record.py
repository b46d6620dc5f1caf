"""run.json: what a workload's `run` tells of a pass besides its raw files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypedDict

from .result import LabFault

FILE: Final = "run.json"


class Begun(TypedDict):
    """What it has from the beginning."""

    workload: str
    started_at: str
    lab_faults: list[LabFault]


class Ended(Begun, total=False):
    """What it has at the end, however that comes."""

    finished_at: str
    exit_code: int


class PaceRecord(TypedDict):
    """How slow the processor was beside each iteration, and which of them count."""

    limit: float
    loops: int
    fastest_s: float
    slowdowns: list[float]
    counted: list[int]


class RunRecord(Ended, total=False):
    """What it may have; a workload adds fields of its own."""

    tools: Mapping[str, str]
    guest: Mapping[str, str]
    """What the guest got of what its arm sets."""
    pace: PaceRecord
    measured: list[Any]
    """[began, ended] of the iterations by the monotonic clock, or a list of such pairs."""
    repeat_with: Mapping[str, Any]
    """Parameters with which another pass does the same work."""
    sha256: Mapping[str, str]
    """Digests of raw files, taken where they were written."""


# Names of the fields that are read one by one.
TOOLS: Final = "tools"
GUEST: Final = "guest"
PACE: Final = "pace"
MEASURED: Final = "measured"
REPEAT_WITH: Final = "repeat_with"
SHA256: Final = "sha256"


def windows(measured: object) -> list[object]:
    """What `measured` holds, as a list of pairs; no pair was looked at."""
    if isinstance(measured, list) and measured and isinstance(measured[0], list):
        return list(measured)
    return [measured]
