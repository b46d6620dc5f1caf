"""What is drawn and told of a collector's columns: rates, shares and levels. Pure.

A rate is a count's increase over time. Between two samples a count is taken to grow evenly, so
that a window may begin and end anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from mitigauge.core.wire import collectors as wire
from mitigauge.measurement.collectors.samples import Samples

Doubles = NDArray[np.float64]
Window = tuple[float, float]
NS: Final = 1e9
SECTOR: Final = 512
KIB: Final = 1024


@dataclass(frozen=True, slots=True)
class Figure:
    """One quantity of a collector."""

    name: str
    title: str
    unit: str
    kind: Literal["rate", "share", "level"]
    of: tuple[str, ...]
    """Columns that are added up."""
    over: tuple[str, ...] = ()
    """Of a share: columns of the whole."""
    less: tuple[str, ...] = ()
    """Columns that are taken away."""
    scale: float = 1.0
    common: bool = True
    """Whether it is drawn even where it is nothing throughout."""


# What guests take is in `user` already.
_ALL = tuple(name for name in wire.TICKS if name != "guest")
FIGURES: Final[dict[str, tuple[Figure, ...]]] = {
    wire.CPU: (
        Figure("busy", "Processors busy", "%", "share",
               ("user", "nice", "system", "irq", "softirq", "steal"), _ALL),
        Figure("kernel", "In the kernel", "%", "share", ("system", "irq", "softirq"), _ALL),
        Figure("guest", "In guests", "%", "share", ("guest",), _ALL, common=False),
        Figure("steal", "Taken by others", "%", "share", ("steal",), _ALL, common=False),
        Figure("switches", "Context switches", "1/s", "rate", ("switches",)),
    ),
    wire.MEMORY: (
        Figure("used", "Memory in use", "byte", "level", ("MemTotal",), less=("MemAvailable",),
               scale=KIB),
        Figure("dirty", "Memory to be written back", "byte", "level", ("Dirty",), scale=KIB,
               common=False),
    ),
    wire.DISK: (
        Figure("requests", "Disk requests", "1/s", "rate", ("reads", "writes"), common=False),
        Figure("read", "Read from disks", "B/s", "rate", ("read_sectors",), scale=SECTOR,
               common=False),
        Figure("written", "Written to disks", "B/s", "rate", ("written_sectors",), scale=SECTOR,
               common=False),
    ),
    wire.NETWORK: (
        Figure("received", "Received", "B/s", "rate", ("rx_bytes",), common=False),
        Figure("sent", "Sent", "B/s", "rate", ("tx_bytes",), common=False),
    ),
    wire.SCHEDSTAT: (
        Figure("waiting", "Waiting for a processor", "ms/s", "rate", ("wait_ns",), scale=1e-6),
        Figure("slices", "Turns on a processor", "1/s", "rate", ("slices",)),
    ),
    wire.EXITS: (
        Figure("to-userspace", "Exits to user space", "1/s", "rate", ("to_userspace",)),
        Figure("exits", "Exits from guests", "1/s", "rate", ("exits",)),
        Figure("vcpus", "Virtual processors", "", "level", ("vcpus",), common=False),
    ),
    wire.POWER: (
        Figure("power", "Power of the packages", "W", "rate", ("energy_uj",), scale=1e-6),
    ),
    wire.FREQUENCY: (
        Figure("mean", "Frequency", "Hz", "level", ("mean_khz",), scale=1e3),
        Figure("least", "Slowest processor", "Hz", "level", ("least_khz",), scale=1e3),
    ),
    wire.THROTTLING: (
        Figure("throttled", "Slowed for heat", "1/s", "rate", ("core", "package"), common=False),
    ),
}  # fmt: skip


def span(series: Samples, window: Window | None) -> Window:
    """The part of *window* that was sampled, in seconds; all that was where there is none."""
    first, last = series.times_ns[0] / NS, series.times_ns[-1] / NS
    if window is None:
        return first, last
    began, ended = max(window[0], first), min(window[1], last)
    return (began, ended) if ended > began else (first, last)


def mean(series: Samples, figure: Figure, window: Window | None) -> float | None:
    """The figure over the window; None where a column of it is missing."""
    began, ended = span(series, window)
    values = binned(series, figure, np.array([began, ended]))
    return None if values is None or not np.isfinite(values[0]) else float(values[0])


def binned(series: Samples, figure: Figure, edges: Doubles) -> Doubles | None:
    """The figure between each two *edges* (seconds, ascending); NaN where nothing was sampled."""
    total = _added(series, figure.of)
    less = _added(series, figure.less) if figure.less else 0.0
    if total is None or less is None:
        return None
    wanted, times = total - less, series.times_ns / NS
    if figure.kind == "level":
        found = _levels(times, wanted, edges) * figure.scale
    else:
        found = np.diff(np.interp(edges, times, wanted)) * figure.scale
        if figure.kind == "rate":
            found = found / np.diff(edges)
        else:
            whole = _added(series, figure.over)
            if whole is None:
                return None
            grown = np.diff(np.interp(edges, times, whole))
            found = np.divide(
                100.0 * found, grown, out=np.full_like(found, np.nan), where=grown > 0
            )
    outside: NDArray[np.bool_] = (edges[1:] <= times[0]) | (edges[:-1] >= times[-1])
    shown: Doubles = np.where(outside, np.nan, found)
    return shown


def rates(series: Samples, prefix: str, window: Window | None) -> dict[str, float]:
    """What follows *prefix* in a count's name → its increase a second."""
    edges = np.array(span(series, window))
    times = series.times_ns / NS
    found = {}
    for name, values in zip(series.columns, series.values, strict=True):
        if name.startswith(prefix):
            (grown,) = np.diff(np.interp(edges, times, values.astype(np.float64)))
            found[name.removeprefix(prefix)] = float(grown / (edges[1] - edges[0]))
    return found


def figures_of(series: Samples) -> Iterable[Figure]:
    """The figures that its collector is drawn by."""
    return FIGURES.get(series.collector, ())


def _added(series: Samples, columns: Sequence[str]) -> Doubles | None:
    found = [series.column(name) for name in columns]
    if not found or any(column is None for column in found):
        return None
    total: Doubles = np.sum(np.array(found, np.float64), axis=0)
    return total


def _levels(times: Doubles, values: Doubles, edges: Doubles) -> Doubles:
    """Mean level between each two edges: a level stays until the next sample."""
    area = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(times))])
    inside = np.clip(edges, times[0], times[-1])
    # Between samples the area grows as the level of the one before says.
    levels: Doubles = np.divide(
        np.diff(np.interp(inside, times, area)),
        np.diff(inside),
        out=np.full(len(edges) - 1, np.nan),
        where=np.diff(inside) > 0,
    )
    return levels
