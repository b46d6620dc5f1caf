"""Exact totals in the shape of sampled stacks. Pure.

Of each function the ledger knows how many instructions an operation runs, and the samples by whom
it was called. A stack gets of its leaf's instructions what its samples are of all samples with that
leaf: what a function costs is exact, how that is spread over its callers is estimated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mitigauge.analysis.profiles.diff.compare import BootProfile
from mitigauge.analysis.profiles.diff.significance import Floats
from mitigauge.analysis.profiles.exact.nowhere import UNKNOWN_KERNEL, UNKNOWN_USER
from mitigauge.analysis.profiles.exact.operation import FunctionTotals, OperationTotals
from mitigauge.analysis.profiles.store.functions import INLINED_MARK, KERNEL_MARK, UNKNOWN
from mitigauge.analysis.profiles.store.pack import Longs
from mitigauge.analysis.profiles.store.tree import Ints, Layout

# Of blocks that found no room in the emulator's table: in the sum, and in no function.
NO_FUNCTION = "[in no function]"

Code = tuple[str, bool]
"""A function's name as stacks have it, and whether it is the kernel's.

Stacks do not say more: functions of one name in two of the kernel's modules, or in two files, are
one.
"""


@dataclass(frozen=True, slots=True)
class Sampled:
    """Stacks of one side, all of its boots together."""

    place: Ints
    """Of each stack's leaf in the tree."""
    weight: Floats


@dataclass(frozen=True, slots=True)
class Attributed:
    """Instructions an operation by stack, and by name those of functions that no sample saw."""

    place: Ints
    instructions: Floats
    not_sampled: Mapping[str, float]

    @property
    def total(self) -> float:
        """All that an operation runs."""
        return float(self.instructions.sum()) + sum(self.not_sampled.values())


def totals_of(operation: OperationTotals, shown: Callable[[str], str]) -> dict[Code, float]:
    """Instructions an operation of each function.

    *shown*: the name that stacks have for a function.
    """
    totals: dict[Code, float] = defaultdict(float)
    for function in operation.functions.values():
        totals[shown(_spelled(function)), function.is_kernel] += function.mean
    totals[NO_FUNCTION, True] += operation.in_no_function
    return dict(totals)


def _spelled(function: FunctionTotals) -> str:
    """As perf's stacks have it: what no symbol covers goes by its file."""
    if function.name:
        return function.name
    if function.module in (UNKNOWN_KERNEL, UNKNOWN_USER):
        return UNKNOWN.decode()
    return f"[{function.module}]"


def sampled(layout: Layout, boots: Sequence[BootProfile], *, merged: bool) -> Sampled:
    """The stacks of *boots*; *merged*: with normalised names."""
    place = layout.merged_place if merged else layout.place
    nodes: Longs = np.concatenate([boot.nodes for boot in boots])
    weights = np.concatenate([boot.counts for boot in boots]).astype(float)
    places, stack = np.unique(place[nodes], return_inverse=True)
    return Sampled(places, summed(stack, weights, len(places)))


def summed(at: NDArray[np.integer], values: Floats, size: int) -> Floats:
    """The sums of the *values* of each number below *size*."""
    sums = np.zeros(size)
    sums[:] = np.bincount(at, values, minlength=size)
    return sums


def symbols_of(layout: Layout, sides: Sequence[Sampled]) -> list[int]:
    """Symbols of all frames of the stacks."""
    touched = np.zeros(layout.size + 1, np.int32)
    for side in sides:
        touched[side.place + 1] = 1
    before = np.cumsum(touched, dtype=np.int32)
    there = before[layout.end] > before[:-1]
    found = np.unique(layout.symbol[there])
    return [int(symbol) for symbol in found if symbol >= 0]


def attributed(
    layout: Layout, side: Sampled, names: Mapping[int, str], totals: Mapping[Code, float]
) -> Attributed:
    """*totals* over the stacks of *side*; *names*: of :func:`symbols_of`, by symbol.

    A stack whose leaf is in no ledger gets nothing: what ran outside the windows.
    """
    codes = list(totals)
    amounts = np.array([totals[code] for code in codes], float)
    code = _codes(layout, side.place, names, {code: at for at, code in enumerate(codes)})
    known = (code >= 0) & (side.weight > 0)
    place, weight, code = side.place[known], side.weight[known], code[known]
    whole = summed(code, weight, len(codes))
    not_sampled: dict[str, float] = defaultdict(float)
    for at in np.flatnonzero((whole == 0) & (amounts > 0)).tolist():
        not_sampled[codes[at][0]] += float(amounts[at])
    return Attributed(place, amounts[code] * (weight / whole[code]), dict(not_sampled))


def _codes(
    layout: Layout, places: Ints, names: Mapping[int, str], index: Mapping[Code, int]
) -> Ints:
    """Which code the leaf of each stack is, by *index*; -1 for what is in no ledger."""
    by_symbol = _by_symbol(names, index)
    leaf = _not_inlined(layout, places, by_symbol.inlined)
    symbol = layout.symbol[leaf]
    kernel, user = by_symbol.kernel[symbol], by_symbol.user[symbol]
    in_kernel = _in_kernel(layout, by_symbol.only_kernel)[leaf]
    code = np.where(in_kernel | (user < 0), kernel, user)
    # The outermost frame is a thread, whatever it calls itself.
    return np.where(layout.parent[leaf] > 0, code, -1).astype(np.int32)


@dataclass(frozen=True, slots=True)
class _BySymbol:
    """What names tell of symbols. The last item is the root's, which has the symbol -1."""

    kernel: Ints
    user: Ints
    only_kernel: NDArray[np.bool_]
    inlined: NDArray[np.bool_]


def _by_symbol(names: Mapping[int, str], index: Mapping[Code, int]) -> _BySymbol:
    size = max(names, default=0) + 2
    symbols = np.fromiter(names, np.int64, len(names))
    marked = np.array([name.endswith(KERNEL_MARK) for name in names.values()], np.bool_)
    kernel = [index.get((name.removesuffix(KERNEL_MARK), True), -1) for name in names.values()]
    user = [index.get((name, False), -1) for name in names.values()]
    found = _BySymbol(
        kernel=np.full(size, -1, np.int32),
        user=np.full(size, -1, np.int32),
        only_kernel=np.zeros(size, np.bool_),
        inlined=np.zeros(size, np.bool_),
    )
    found.kernel[symbols] = kernel
    found.user[symbols] = np.where(marked, -1, user)
    # What has no name of its own, as `[unknown]`, is nobody's alone.
    named = np.array([not name.startswith("[") for name in names.values()], np.bool_)
    only = named & (found.kernel[symbols] >= 0) & (found.user[symbols] < 0)
    found.only_kernel[symbols] = marked | only
    found.inlined[symbols] = [name.endswith(INLINED_MARK) for name in names.values()]
    return found


def _not_inlined(layout: Layout, places: Ints, inlined: NDArray[np.bool_]) -> Ints:
    """The frames whose code holds that of the leaves: an inlined function's is its caller's."""
    leaf = places.copy()
    while (within := inlined[layout.symbol[leaf]] & (layout.parent[leaf] > 0)).any():
        leaf[within] = layout.parent[leaf[within]]
    return leaf


def _in_kernel(layout: Layout, only_kernel: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """By place, whether a frame or one of its callers is the kernel's, which calls no others."""
    # Symbols beyond those with names are of no stack here; the last name is the root's, and none.
    symbol = np.minimum(layout.symbol, len(only_kernel) - 1)
    begins = np.flatnonzero(only_kernel[symbol] & (layout.parent > 0))
    change = -np.bincount(layout.end[begins], minlength=layout.size + 1)
    change[begins] += 1
    within: NDArray[np.bool_] = np.cumsum(change[:-1]) > 0
    return within
