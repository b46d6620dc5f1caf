"""Both sides' exact stacks as frames of one tree, and as functions. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mitigauge.analysis.profiles.diff.compare import GONE, NEW, SMALLEST_SHARE
from mitigauge.analysis.profiles.diff.significance import Floats
from mitigauge.analysis.profiles.exact.stacks import Attributed, summed
from mitigauge.analysis.profiles.store.tree import Ints, Layout

ROOT = "all"
NOT_SAMPLED = "[not sampled]"
# Where there are more, the narrowest are left out, and their instructions told.
MOST_FRAMES = 200_000


@dataclass(frozen=True, slots=True)
class Frames:
    """Frames, callers first; ``name`` is an index into ``names``, ``parent`` one here."""

    names: list[str]
    parent: Ints
    name: Ints
    a: Floats
    """Instructions an operation, inclusive; with *b*, exact to the rounding of a double."""
    b: Floats
    pruned_frames: int
    pruned: tuple[float, float]

    @property
    def flags(self) -> NDArray[np.uint8]:
        """Which frames are new or gone."""
        new, gone = (self.a == 0) & (self.b > 0), (self.a > 0) & (self.b == 0)
        flags: NDArray[np.uint8] = (NEW * new + GONE * gone).astype(np.uint8)
        return flags


@dataclass(frozen=True, slots=True)
class Functions:
    """Instructions an operation by name: a function's own, and with all it calls."""

    name: Ints
    own: tuple[Floats, Floats]
    total: tuple[Floats, Floats]


def frames_of(
    layout: Layout,
    a: Attributed,
    b: Attributed,
    names: Mapping[int, str],
    *,
    most: int = MOST_FRAMES,
) -> Frames:
    """The frames of both sides, those that no sample saw under one at the root.

    *names*: by symbol. Frames without instructions on either side are left out.
    """
    sums = [_running(layout, side) for side in (a, b)]
    inclusive = [running[layout.end] - running[:-1] for running in sums]
    weight = inclusive[0] + inclusive[1]
    there = weight > 0
    kept = there if there.sum() <= most else weight > SMALLEST_SHARE * weight[0]
    kept[0] = True
    places = np.flatnonzero(kept)
    index = np.full(layout.size, -1, np.int32)
    index[places] = np.arange(len(places), dtype=np.int32)
    above = layout.parent[places]
    number = _Numbers()
    frames = Frames(
        names=number.names,
        parent=np.where(above >= 0, index[above], -1).astype(np.int32),
        name=number.of_symbols(layout.symbol[places], names),
        a=inclusive[0][places],
        b=inclusive[1][places],
        pruned_frames=int((there & ~kept).sum()),
        pruned=(_own(sums[0], ~kept), _own(sums[1], ~kept)),
    )
    return _with_not_sampled(frames, a, b, number)


def _own(running: Floats, places: NDArray[np.bool_]) -> float:
    return float(np.diff(running)[places].sum())


def _running(layout: Layout, side: Attributed) -> Floats:
    """Item *i* is what the stacks before place *i* ran."""
    sums = np.zeros(layout.size + 1)
    np.cumsum(summed(side.place, side.instructions, layout.size), out=sums[1:])
    return sums


class _Numbers:
    """Numbers names as they come; the root's is 0."""

    def __init__(self) -> None:
        self.names = [ROOT]
        self._number: dict[str, int] = {}

    def of(self, name: str) -> int:
        """The number of a name, a new one if need be. Nothing is called as the root is."""
        if name not in self._number:
            self._number[name] = len(self.names)
            self.names.append(name)
        return self._number[name]

    def of_symbols(self, symbols: Ints, names: Mapping[int, str]) -> Ints:
        """The numbers of the names of *symbols*; of -1 the root's."""
        distinct, back = np.unique(symbols, return_inverse=True)
        numbers = [0 if each < 0 else self.of(names[each]) for each in distinct.tolist()]
        return np.array(numbers, np.int32)[back]


def _with_not_sampled(frames: Frames, a: Attributed, b: Attributed, number: _Numbers) -> Frames:
    """The same with what no sample saw, which the root then holds too."""
    missing = sorted({*a.not_sampled, *b.not_sampled})
    if not missing:
        return frames
    group = len(frames.parent)
    sides = []
    for frame, side in ((frames.a, a), (frames.b, b)):
        each = np.array([side.not_sampled.get(name, 0.0) for name in missing])
        values = np.concatenate([frame, [each.sum()], each])
        values[0] += each.sum()
        sides.append(values)
    added = [number.of(name) for name in (NOT_SAMPLED, *missing)]
    return Frames(
        names=frames.names,
        parent=np.append(frames.parent, [0, *([group] * len(missing))]).astype(np.int32),
        name=np.append(frames.name, added).astype(np.int32),
        a=sides[0],
        b=sides[1],
        pruned_frames=frames.pruned_frames,
        pruned=frames.pruned,
    )


def functions_of(frames: Frames) -> Functions:
    """The functions of *frames*; one that calls itself counts once in its total."""
    size = len(frames.names)
    outer = _outermost(frames)
    own, total = [], []
    for values in (frames.a, frames.b):
        inside = summed(frames.parent[1:], values[1:], len(values))
        # What is left by rounding is nothing.
        left = np.where(values - inside > 1e-6, values - inside, 0.0)
        own.append(summed(frames.name, left, size)[1:])
        total.append(summed(frames.name[outer], values[outer], size)[1:])
    return Functions(
        name=np.arange(1, size, dtype=np.int32),
        own=(own[0], own[1]),
        total=(total[0], total[1]),
    )


def _outermost(frames: Frames) -> Ints:
    """Frames that stand in no other one of their name. Callers come first, subtrees in one run."""
    parent, name = frames.parent.tolist(), frames.name.tolist()
    end = list(range(1, len(parent) + 1))
    for at in range(len(parent) - 1, 0, -1):
        end[parent[at]] = max(end[parent[at]], end[at])
    until = [0] * len(frames.names)
    found = []
    for at, behind in enumerate(end):
        if at >= until[name[at]]:
            until[name[at]] = behind
            found.append(at)
    return np.array(found, np.int32)
