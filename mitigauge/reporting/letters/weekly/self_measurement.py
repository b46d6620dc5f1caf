"""What was measured of the measuring itself: noise, time, false alarms. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from statistics import median
from typing import Any

from mitigauge.core.clock import Clock
from mitigauge.core.natural_order import natural_order
from mitigauge.core.stats.rates import rate_interval
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.host_time import HostTime
from mitigauge.reporting.letters.weekly.data import AaLine, Aside, HostHours, NoiseLine
from mitigauge.reporting.letters.weekly.repository import RunLine


def _place(group: tuple[tuple[str, bool, str, str, str], Any]) -> tuple[Any, ...]:
    (host_class, emulated, clock, workload, metric), _ = group
    names = [natural_order(name) for name in (host_class, workload, metric)]
    return names[0], emulated, clock, *names[1:]


def noise_lines(found: Iterable[Any], start: datetime) -> list[NoiseLine]:
    """Noise by host class, workload and metric; rows before *start* are what it is set beside."""
    groups: dict[tuple[str, bool, str, str, str], list[Any]] = defaultdict(list)
    for row in found:
        groups[row.host_class, row.emulated, row.clock, row.workload, row.metric].append(row)
    lines = []
    for (host_class, emulated, clock, workload, metric), rows in sorted(groups.items(), key=_place):
        now = [row for row in rows if row.concluded_at >= start]
        if not now:
            continue
        before = [row for row in rows if row.concluded_at < start]
        means = [row.boot_mean_percent for row in now if row.boot_mean_percent is not None]
        lines.append(
            NoiseLine(
                host_class=host_class,
                emulated=emulated,
                counted=clock == Clock.COUNTED,
                workload=workload,
                metric=metric,
                cases=len(now),
                boot_percent=_median(row.boot_percent for row in now),
                iteration_percent=_median(row.iteration_percent for row in now),
                worst_percent=max(means, default=None),
                before_percent=_median(row.boot_percent for row in before),
            )
        )
    return lines


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def host_hours(
    ended: Sequence[RunLine],
    times: Mapping[int, HostTime],
    boots: Iterable[Sequence[Any]],
    aside: Sequence[Aside],
    hosts: Mapping[int, Host],
) -> list[HostHours]:
    """What each host did with its time, in runs that ended and in times without any."""
    made = {run_id: (int(count), float(wasted)) for run_id, count, wasted in boots}
    runs: dict[int, list[int]] = defaultdict(list)
    for run in ended:
        runs[run.host_id].append(run.id)
    lost: dict[tuple[str, str], float] = defaultdict(float)
    for time in aside:
        lost[time.environment, time.host] += time.seconds
    lines = []
    for host in hosts.values():
        own = runs.get(host.id, [])
        known = [times[run_id] for run_id in own if run_id in times]
        gone = lost.get((host.environment, host.name), 0.0)
        if not own and not gone:
            continue
        lines.append(
            HostHours(
                host=host.name,
                environment=host.environment,
                emulated=host.emulated,
                runs=len(own),
                boots=sum(made.get(run_id, (0, 0.0))[0] for run_id in own),
                held_s=sum(time.total_s for time in known),
                measuring_s=sum(time.measuring_s for time in known),
                booting_s=sum(time.booting_s for time in known),
                other_s=sum(time.other_s for time in known),
                wasted_s=sum(made.get(run_id, (0, 0.0))[1] for run_id in own),
                lost_s=gone,
            )
        )
    return sorted(lines, key=lambda line: (line.environment, natural_order(line.host)))


def aa_lines(found: Iterable[Sequence[Any]]) -> list[AaLine]:
    """False alarms by host class, those of this week and all that were ever counted."""
    lines = []
    for host_class, comparisons, alarms, comparisons_ever, alarms_ever, days in found:
        low, high = rate_interval(alarms_ever, comparisons_ever, groups=days)
        lines.append(
            AaLine(
                host_class=host_class,
                comparisons=comparisons,
                alarms=alarms,
                ci_low_percent=100 * low,
                ci_high_percent=100 * high,
                comparisons_ever=comparisons_ever,
                alarms_ever=alarms_ever,
                host_days=days,
            )
        )
    return lines
