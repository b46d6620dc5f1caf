"""How often each operation runs something, told apart from what interrupts run. Pure.

Standard library alone: the confined reader imports it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

# Where an interrupt of the hardware enters the kernel (arch/x86/include/asm/idtentry.h).
_ENTRIES = re.compile(r"asm_(?:sysvec_\w+|common_interrupt|spurious_interrupt|exc_nmi)")
# Operations of which one may be interrupted: beyond it, nobody can tell what interrupts add.
_SELDOM = 100


class WindowOf(NamedTuple):
    """A window: its operations, and instructions of the entries of its interrupts."""

    operations: int
    interrupts: int


def windows_of(
    operations: int, count: int, runs: Iterable[tuple[str, Sequence[int]]]
) -> list[WindowOf]:
    """The *count* windows of one boot. *runs*: functions' names and instructions by window."""
    entries = [by_window for name, by_window in runs if _ENTRIES.fullmatch(name)]
    return [WindowOf(operations, sum(each[place] for each in entries)) for place in range(count)]


def runs_of_each(runs: Sequence[int], windows: Sequence[WindowOf]) -> int | None:
    """How often each operation runs what ran so often in each of the *windows*; None: it differs.

    Two things make a window's number other than whole, and each is counted: its two ends lie within
    an operation, and an interrupt may run the same code, which is no more often than its entry has
    instructions. Together they may come to one of a hundred operations. What runs more often is
    not the same number of times in each operation, as far as anybody can tell.
    """
    found = {_whole(count, of) for count, of in zip(runs, windows, strict=True)}
    return found.pop() if len(found) == 1 else None


def is_run_of_each(whole: int, runs: Sequence[int], windows: Sequence[WindowOf]) -> bool:
    """Whether *whole* runs of each operation leave less than another one in each window.

    Of code of which *whole* is known by another count, of what jumps there.
    """
    return all(
        0 <= count - whole * of.operations < of.operations
        for count, of in zip(runs, windows, strict=True)
    )


def _whole(runs: int, of: WindowOf) -> int | None:
    few = of.operations // _SELDOM
    ends = runs // of.operations + 2
    whole = (runs + min(few, ends)) // of.operations
    more = runs - whole * of.operations
    return whole if more <= min(few, ends + of.interrupts) else None
