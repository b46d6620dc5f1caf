"""What `mitigauge host show` says of a host beside its fingerprints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mitigauge.reporting.pages.host_schemas import DriftView, HostView

MOST_DRIFTS = 5


def host_lines(host: HostView) -> Iterator[str]:
    """Time, noise, and when it became another machine."""
    of = host.hours
    if of.runs:
        yield (
            f"time of {of.runs} runs: {_hours(of.held_s)}, of which measuring "
            f"{_hours(of.measuring_s)}, booting {_hours(of.booting_s)}, wasted "
            f"{_hours(of.wasted_s)}; lost {_hours(of.lost_s)}"
        )
    for noise in host.noise:
        yield (
            f"noise, {noise.workload} {noise.metric}: {_percent(noise.boot_percent)} from boot to "
            f"boot, {_percent(noise.iteration_percent)} between iterations ({noise.cases} cases)"
        )
    for drift in host.drift[:MOST_DRIFTS]:
        yield from _drift(drift)
    if len(host.drift) > MOST_DRIFTS:
        yield f"{len(host.drift) - MOST_DRIFTS} changes before that; --json has all"


def _drift(drift: DriftView) -> Iterator[str]:
    back = ", as it was before" if drift.back else ""
    yield f"changed {drift.at:%Y-%m-%d %H:%M} UTC{back}:"
    for change in drift.changed:
        yield f"  {change.name}: {change.before or 'absent'} → {change.after or 'absent'}"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h"


def _percent(value: float | None) -> str:
    return "not known" if value is None else f"{value:.2f} %"
