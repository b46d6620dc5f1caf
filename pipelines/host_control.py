"""What a run needs a host to do. Implemented over Ansible and the power interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mitigauge.core.errors import MitigaugeError
from mitigauge.core.wire.case import Case
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.runs.kernel_build import KernelBuild

Facts = Mapping[str, Any]
# Stands in the event log before each power cycle, whatever becomes of the step.
POWER_CYCLE = "the power is cycled"


class LabFault(MitigaugeError):
    """The lab failed, not the arm: unreachable host, broken play, lost job. Worth a retry."""


class Unanswered(LabFault):
    """The host did not answer. What runs on it may go on all the same: worth asking again."""


class LeaseGone(LabFault):
    """The lease is over, or may be: the step was stopped and says nothing of host or arm."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a run needs on its host, beside its tuning."""

    kernels: Sequence[str]
    workloads: Sequence[str]
    booted: Sequence[str] = ()
    """Those of the kernels that the host itself boots; the others are of guests alone."""
    guest: bool = False
    profiled: bool = False
    guest_profiled: bool = False
    guest_kernels: Sequence[str] = ()
    """Releases of guests' kernels, beside the one that all arms' guests run."""
    kexec: bool = False
    packages: Mapping[str, Path] = field(default_factory=dict)
    """Files of kernels that were built here or brought in, by release."""
    builds: Mapping[str, KernelBuild] = field(default_factory=dict)
    """Which build each of those files is."""


class HostControl(Protocol):
    """One host, as the steps see it. Every call may be made again safely.

    All raise :class:`LabFault` when the lab does not play along, :class:`Unanswered` where
    the host could not be spoken to, :class:`LeaseGone` where it may be another worker's now.
    """

    def prepare(self, needs: Needs) -> Facts:
        """Install what is needed and tune the host; what was done."""
        ...

    def arm(self, *, nonce: str, cmdline: str, kernel: str, method: BootMethod) -> Facts:
        """Boot a kernel with the options once; what fails falls back to the known-good one."""
        ...

    def answers(self) -> bool:
        """Whether the host greets on its SSH port right now."""
        ...

    def verify(self, reads: Sequence[str] = (), writes: Mapping[str, str] | None = None) -> Facts:
        """``proof`` and ``fingerprint`` of the system that is up.

        The proof's ``readings`` hold the texts of *reads*, files below the host's root; None for
        one that cannot be read. *writes*: what the files get before that, path → text, after
        all that were written to since the host came up have got back what they held; None to
        write nothing. ``refused`` then names those that took no writing.
        """
        ...

    def start(
        self,
        job: str,
        cases: Sequence[Case],
        directory: Path,
        *,
        wait_s: float,
        wanted: Callable[[], bool],
    ) -> Facts:
        """Start the measuring job detached, and wait for it and answer as ``poll`` does.

        One that exists already is left alone.
        """
        ...

    def poll(
        self, job: str, directory: Path, *, wait_s: float, wanted: Callable[[], bool]
    ) -> Facts:
        """The job's state; when finished its files are in ``directory`` as ``archive``.

        While it runs, waits on the host for *wait_s* seconds, or until not *wanted*, which is
        asked about every second.
        """
        ...

    def restore(self) -> Facts:
        """Undo the tuning, remove the boot entry."""
        ...

    def power_cycle(self) -> None:
        """Cut the power and give it back; the run's log gets POWER_CYCLE first."""
        ...

    def serial_offset(self) -> int | None:
        """Where the serial log ends now; None where there is no log."""
        ...

    def serial_log(self, since: int | None) -> str:
        """The serial log since *since*, its last MiB; empty where there is none, or no *since*."""
        ...

    def serial_tail(self, since: int | None) -> str:
        """Of the serial log since *since*, the 16 KiB that say most of a failed boot."""
        ...


HostFactory = Callable[[str, str, "RunLog"], HostControl]


class RunLog(Protocol):
    """Where a host's plays report to, and how they learn that they must stop."""

    def line(self, kind: str, text: str) -> None:
        """Append to the run's event log."""
        ...

    def alive(self) -> bool:
        """False once the lease is lost, or was not renewed in time: whatever goes on must stop."""
        ...

    def holds(self) -> bool:
        """Whether a host may be touched now; asks the database where the lease may be over."""
        ...
