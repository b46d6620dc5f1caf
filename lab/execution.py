"""How a host's instructions are run, and what its clock is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lab.hosts import HostSpec
from mitigauge.core.clock import Clock

PROGRAM = "qemu-system-x86_64"
# QEMU's `-icount shift`: an instruction takes 2 to the power of it in nanoseconds.
COUNTED_SHIFT = 1


@dataclass(frozen=True)
class Execution:
    """``accel`` is QEMU's name, ``kvm`` or ``tcg``; only ``tcg`` can count."""

    accel: str
    clock: Clock
    plugin: Path | None = None
    """What counts every block of a counted host (`lab.exact`); None: nothing does."""

    @property
    def counted(self) -> bool:
        """Whether the host's clock counts instructions."""
        return self.clock is Clock.COUNTED

    def arguments(self) -> list[str]:
        """What QEMU is told of it."""
        if self.accel != "tcg":
            return ["-accel", self.accel]
        if not self.counted:
            # Inner guests hang at their start when one thread emulates all processors.
            return ["-accel", "tcg,thread=multi"]
        # Not `sleep=off`: it skips idle time, and an SSH server gives a client up before
        # that has had the time to answer.
        return [
            *("-accel", "tcg,thread=single"),
            *("-icount", f"shift={COUNTED_SHIFT}"),
            # A timer of the HPET may then send NMIs: a profiler's, by counted time.
            *("-global", "hpet.msi=on"),
        ]

    def vcpus(self, spec: HostSpec) -> int:
        """Processors of the host. Counted ones would take turns: one is enough."""
        return 1 if self.counted else spec.vcpus


def execution_of(accel: str, asked: Clock | None) -> Execution:
    """Real where hardware virtualisation runs the host, counted where it is emulated.

    ``asked`` overrides it; a host that is to count is emulated.
    """
    if asked is Clock.COUNTED:
        return Execution("tcg", Clock.COUNTED)
    if asked is Clock.REAL or accel != "tcg":
        return Execution(accel, Clock.REAL)
    return Execution(accel, Clock.COUNTED)
