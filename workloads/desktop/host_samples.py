"""What the host does beside the desktops, once a second: processors, vCPU threads, energy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from _kit import host_cpu
from _kit.contract import CaseError

EVERY_S = 1.0
POWERCAP = Path("/sys/class/powercap")


def rapl_packages(root: Path = POWERCAP) -> list[Path]:
    """RAPL's folders of whole processor packages (Documentation/power/powercap/powercap.rst)."""
    found = []
    for folder in sorted(root.glob("intel-rapl:*")):
        name = folder / "name"
        if folder.name.count(":") == 1 and name.exists() and "package" in name.read_text():
            found.append(folder)
    return found


def require_rapl(root: Path = POWERCAP) -> list[Path]:
    """The packages; CaseError where this host has none, or does not let us read them."""
    packages = rapl_packages(root)
    if not packages:
        raise CaseError(
            f"no RAPL package in {root}: this host cannot tell power; say power: without"
        )
    for folder in packages:
        try:
            (folder / "energy_uj").read_text()
        except OSError as error:
            raise CaseError(f"{folder}/energy_uj: {error.strerror}: say power: without") from None
    return packages


class HostSamples:
    """Counters since the boot; differences are the parser's."""

    def __init__(self, packages: list[Path]) -> None:
        self.packages, self.threads = packages, list[Path]()
        self.taken: list[dict[str, Any]] = []

    def watch(self, process: int, threads: list[int]) -> None:
        """Count these threads, which are virtual processors."""
        self.threads += [Path(f"/proc/{process}/task/{thread}/schedstat") for thread in threads]

    def take(self, at: float, level: int) -> None:
        """One sample, `at` seconds after the pass began, with `level` sessions."""
        ticks = host_cpu.read_ticks()
        ran, waited = 0, 0
        for path in self.threads:
            # Time on a processor and time waiting for one, in ns
            # (Documentation/scheduler/sched-stats.rst).
            run_ns, wait_ns, _ = path.read_text().split()
            ran, waited = ran + int(run_ns), waited + int(wait_ns)
        energy = [int((folder / "energy_uj").read_text()) for folder in self.packages]
        self.taken.append(
            {
                "at": round(at, 6), "level": level, "busy": ticks.busy, "all": ticks.all,
                "ran_ns": ran, "waited_ns": waited, "energy_uj": energy,
            }
        )  # fmt: skip

    def ranges(self) -> list[int]:
        """Where each package's counter begins anew, in µJ."""
        return [int((folder / "max_energy_range_uj").read_text()) for folder in self.packages]
