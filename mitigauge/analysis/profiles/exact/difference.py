"""Two operations compared, function by function and instruction by instruction. Pure.

Nothing is sampled, so nothing has a q: where every boot counted the same, the difference is a whole
number of instructions. Where boots differ, it has the interval of their means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

import numpy as np

from mitigauge.analysis.profiles.diff.align import aligned
from mitigauge.analysis.profiles.diff.significance import compare_groups
from mitigauge.analysis.profiles.exact.operation import (
    FunctionTotals,
    Key,
    LineRuns,
    OperationTotals,
)

Names = Mapping[str, str]
Interval = tuple[float, float] | tuple[None, None]


def mean_of(side: FunctionTotals | LineRuns | None) -> float:
    """An operation's runs on a side; 0 where it has none."""
    return side.mean if side else 0.0


class FunctionPair(NamedTuple):
    """A function on both sides; None where a side runs nothing of it.

    There are thousands of them, sorted, filtered and shown by the same figures: each is worked out
    once, by :func:`pair_of`.
    """

    key: Key
    was: str
    """Its name in A's kernel, where B's has another one."""
    a: FunctionTotals | None
    b: FunctionTotals | None
    means: tuple[float, float]
    """Instructions an operation in A and in B."""
    difference: float
    """The same, B − A."""
    steady: int
    """Of the instructions that each operation runs, B − A."""
    exact: int | None
    """The difference as a whole number; None where a side does not run the same each time."""

    @property
    def key_of_a(self) -> Key:
        """By which A's kernel knows it."""
        module, name = self.key
        return module, self.was or name


def pair_of(key: Key, was: str, a: FunctionTotals | None, b: FunctionTotals | None) -> FunctionPair:
    """A function's pair, with its figures."""
    means = mean_of(a), mean_of(b)
    steady = (b.steady if b else 0) - (a.steady if a else 0)
    exact = steady if (a is None or a.is_whole) and (b is None or b.is_whole) else None
    return FunctionPair(key, was, a, b, means, means[1] - means[0], steady, exact)


@dataclass(frozen=True, slots=True)
class LinePair:
    """An instruction on both sides; None where a side lacks it."""

    a: LineRuns | None
    b: LineRuns | None

    @property
    def difference(self) -> float:
        """Runs an operation, B − A."""
        return mean_of(self.b) - mean_of(self.a)


def function_pairs(a: OperationTotals, b: OperationTotals, renamed: Names) -> list[FunctionPair]:
    """Every function of either side, the largest difference first.

    *renamed*: names in A's kernel → names in B's.
    """
    of_a: dict[Key, tuple[str, FunctionTotals]] = {}
    for (module, name), function in a.functions.items():
        now = renamed.get(name, name)
        of_a[module, now] = (name if now != name else "", function)
    pairs = []
    for key in {*of_a, *b.functions}:
        was, left = of_a.get(key, ("", None))
        pairs.append(pair_of(key, was, left, b.functions.get(key)))
    return sorted(pairs, key=lambda pair: (-abs(pair.steady), -abs(pair.difference), pair.key))


def line_pairs(left: Sequence[LineRuns], right: Sequence[LineRuns]) -> list[LinePair]:
    """The instructions of a function side by side, in the order of their places."""
    matched = aligned([each.line.normal for each in left], [each.line.normal for each in right])
    return [
        LinePair(None if i is None else left[i], None if j is None else right[j])
        for i, j in matched
    ]


def interval_of(a: Sequence[float], b: Sequence[float]) -> Interval:
    """The 95 % interval of a difference of means of boots; none without two boots a side, or where
    all of them counted the same."""
    return intervals_of([(a, b)])[0]


def intervals_of(sides: Sequence[tuple[Sequence[float], Sequence[float]]]) -> list[Interval]:
    """The same of many differences at once, all of the same boots."""
    if not sides:
        return []
    compared = compare_groups(*(np.array(values) for values in zip(*sides, strict=True)))
    return [
        (low, high) if isfinite(low) and isfinite(high) else (None, None)
        for low, high in zip(compared.low.tolist(), compared.high.tolist(), strict=True)
    ]
