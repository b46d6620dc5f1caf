"""What a run's host did with its time: boot, measure, and all else. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from mitigauge.measurement.fleet.boot_method import BootMethod


@dataclass(frozen=True, slots=True)
class Booted:
    """Boots by one method: how many, and their seconds from the reboot to the SSH greeting."""

    boots: int
    seconds: float


@dataclass(slots=True)
class HostTime:
    """Seconds of one run, by the database's clock but for measuring, which the host times.

    Where the host's clock counts instructions, measuring is from its job's start to what came of
    it, by the database's clock too.
    """

    total_s: float
    measuring_s: float = 0.0
    booted: dict[BootMethod, Booted] = field(default_factory=dict)

    @property
    def booting_s(self) -> float:
        """Seconds in which the host was on its way up."""
        return sum(of.seconds for of in self.booted.values())

    @property
    def other_s(self) -> float:
        """The rest: preparing, plays before and after a boot, judging, restoring, waiting."""
        return max(self.total_s - self.booting_s - self.measuring_s, 0.0)
