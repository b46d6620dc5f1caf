"""A case as the control side asks for it: case.json, and an entry of a job's cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypedDict

FILE: Final = "case.json"
# Between what several files of a guest must say; no vulnerability's text has it.
BETWEEN_STATES: Final = " & "
# Of a guest's kernel: the release that its host runs, whichever that is.
AS_HOST: Final = "as-host"
# What such a release looks like, which is part of a file's name too.
GUEST_RELEASE: Final = r"[a-zA-Z0-9][a-zA-Z0-9.+~_-]{0,100}"
# Of a parameter whose value each arm sets of the guest, by a setting of the same name.
BY_ARM: Final = "arm"
HIGHEST_HZ: Final = 5000
# Of each processor's time, by which a host is asked whether it tells that from nothing.
SLOWED_PERCENT: Final = 2
MOST_SLOWED_PERCENT: Final = 20
# What a profiled pass may take besides its run: what perf does before and after it.
PROFILE_MARGIN_S: Final = 500


class Measured(TypedDict):
    """What every case has."""

    case_id: str
    workload: str
    parameters: Mapping[str, Any]
    iterations: int
    warmup: int
    timeout_s: int


class Profiled(Measured, total=False):
    """What its profiled passes are to be; no `profile_hz` is no such pass."""

    profile_hz: int | None
    profile_guest: bool


class PassCase(Profiled, total=False):
    """case.json of one pass."""

    profiled: bool
    counted: bool
    """Whether the work is done once in each window that the emulator counts, and nothing else."""
    guest: Mapping[str, str]
    """What the case's guest is to get, by name."""


class Case(Profiled, total=False):
    """A case of a job."""

    profile_off_cpu: bool
    exact: bool
    """Whether a pass after the profiled ones is counted, where the host's emulator can."""
    guest: Mapping[str, str]
    collect: Sequence[str]
    """Collectors beside its timed pass."""
    slowed_percent: int
    """What a program takes of each processor's time beside its timed pass; 0: there is none."""


# Type of each field that every case has.
REQUIRED: Final[Mapping[str, type]] = {
    "case_id": str, "workload": str, "parameters": dict,
    "iterations": int, "warmup": int, "timeout_s": int,
}  # fmt: skip


def limit_s(
    timeout_s: int, profile_hz: int | None, *, off_cpu: bool | None, exact: bool | None = None
) -> int:
    """Seconds after which a case has ended for certain, all of its further passes included."""
    passes = bool(profile_hz) * (1 + bool(off_cpu)) + bool(exact)
    return timeout_s + passes * (timeout_s + PROFILE_MARGIN_S)
