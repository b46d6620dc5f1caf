"""What our modules answer, as types: a host that is not ours any more answers what it likes.

What is missing, of another type or too long is a fault of the lab, told by name. What a
module of ours does not say is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from mitigauge.measurement.runs.boot_evidence import (
    BootProof,
    Count,
    Line,
    Seconds,
    Word,
    WrittenEntry,
)
from pipelines.answers import parse_answer
from pipelines.host_control import Facts, LabFault


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class BootAnswer(WrittenEntry):
    """Of boot_entry: the entry that was written."""

    model_config = ConfigDict(strict=True)

    previous_boot_id: Word | None


class ProofAnswer(BootProof):
    """Of boot_proof: which boot is up."""

    model_config = ConfigDict(strict=True)

    boot_id: Word | None
    kernel_release: Word


class AppliedAnswer(_Answer):
    """Of runtime_settings: files that could not be written to, each with the kernel's words."""

    refused: dict[Word, Line] = Field(default_factory=dict, max_length=200)


class Distribution(_Answer):
    """Of os-release."""

    id: Word | None
    version: Word | None


class BootLoader(_Answer):
    """What GRUB would do with a one-shot entry; *refused*: why it could not."""

    refused: Line | None
    default_release: Word | None = None
    releases: list[Word] = Field(default_factory=list, max_length=200)
    next_entry: Word | None = None


class Firmware(_Answer):
    """How the firmware would start a kernel once; *refused*: why it could not.

    *partition*: the EFI system partition, with where it is mounted and its bytes, None: nowhere.
    *next*: what the firmware starts next, where that is none of ours. *hides_variables*: it was
    started by EFI, and shows none of its variables. *shim_checks*: shim asks for signatures.
    """

    refused: Line | None
    secure_boot: bool | None = None
    shim_checks: bool
    hides_variables: bool
    partition: Line | None = None
    place: Line | None = None
    free_bytes: Count | None = None
    needed_bytes: Count | None = None
    next: Word | None = None
    first_is_ours: bool = False


class Processor(_Answer):
    """What changes the time of the same work. *numa_nodes*: those that have processors."""

    model: Word | None = None
    smt: Word | None
    turbo: bool | None
    governors: list[Word] = Field(max_length=200)
    energy_preferences: list[Word] = Field(max_length=200)
    numa_nodes: Count
    packages: Count
    present: Line | None
    online: Line | None
    idle_states: list[Word] = Field(max_length=50)


class CheckAnswer(_Answer):
    """Of host_check: what a run would find."""

    user: Count
    os: Distribution
    dpkg: bool
    initial_disk_maker: Word | None
    python: Word
    kernel_release: Word
    boot_id: Word | None = None
    boot_loader: BootLoader
    firmware: Firmware
    free_bytes: dict[Word, Count] = Field(max_length=20)
    watchdog: Line | None
    programs: dict[Word, Line | None] = Field(max_length=50)
    now: Annotated[float, Field(ge=0, le=1e11, allow_inf_nan=False)]
    synchronised: bool | None
    kvm: bool
    processor: Processor
    config: Annotated[str, Field(max_length=1 << 20)] | None
    modules: list[Word] = Field(max_length=2000)
    drivers: dict[Word, Line] = Field(max_length=200)
    lockdown: Word | None
    crash_kernel: bool
    consoles: list[Word] = Field(max_length=50)
    dkms: list[Word] = Field(max_length=50)
    unsteady: list[Word] = Field(max_length=50)
    numa_balancing: Word | None
    changed: bool
    vulnerabilities: dict[Word, Line] = Field(max_length=200)
    readings: dict[Word, Line | None] = Field(max_length=200)


class PricesAnswer(_Answer):
    """Of price_probe: a line for each process, and what the processor says of itself."""

    lines: list[Annotated[str, Field(max_length=4000)]] = Field(max_length=20_000)
    cpuinfo: Annotated[str, Field(max_length=20_000)]
    caches: Line
    kernel: Word


class JobAnswer(_Answer):
    """Of workload_job: how a job stands. Where its archive lies is ours to say."""

    state: Word
    detail: Line = ""
    current_case: Word | None = None
    profiling: bool = False
    seconds: Seconds | None = None


class PutBack(_Answer):
    """One thing that was put back, or is *left* as it is."""

    name: Line
    what: Line
    left: bool


class RestoreAnswer(_Answer):
    """Of host_restore: everything that was put back."""

    put_back: list[PutBack] = Field(max_length=10_000)


class FingerprintAnswer(_Answer):
    """Of host_fingerprint: facts by name, of any kind that JSON has."""

    fingerprint: dict[Word, JsonValue] = Field(default_factory=dict, max_length=500)


def typed(model: type[BaseModel], said: object, what: str) -> Facts:
    """*said* as *model* has it, without what it does not name.

    Raises :class:`LabFault` naming the first thing that does not fit; *what* names the answer.
    """
    return parse_answer(model, said, what).model_dump(exclude_unset=True)


def part(facts: Mapping[str, Any], key: str, playbook: str) -> object:
    """What *facts* hold under *key*; raises :class:`LabFault` where there is nothing."""
    if key not in facts:
        raise LabFault(f"{playbook} returned no {key!r}", hint="See the play's events.")
    return facts[key]
