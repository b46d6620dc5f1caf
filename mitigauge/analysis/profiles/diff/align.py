"""Two sequences side by side: the longest common subsequence. Pure.

Found row by row (Wagner and Fischer, J. ACM 21, 1974), each row as a running maximum: an item that
is not matched takes the best of what stands before it. What both have in common at their ends is
taken off first, since two builds of a function are alike but for some places.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

Pair = tuple[int | None, int | None]
# The product of both lengths between the common ends: two bytes of memory each.
MOST_CELLS = 1 << 24


def aligned(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """Each item of *a* and of *b* once, in order: (index in a, index in b); None where one lacks.

    Of items that only one side has, those of *a* come first. What is too long between the common
    ends (*MOST_CELLS*) is not matched at all.
    """
    head = _common(a, b)
    tail = _common(a[head:][::-1], b[head:][::-1])
    end_a, end_b = len(a) - tail, len(b) - tail
    pairs: list[Pair] = [(i, i) for i in range(head)]
    matched = _matched(a[head:end_a], b[head:end_b])
    at_a, at_b = head, head
    for i, j in [*((head + i, head + j) for i, j in matched), (end_a, end_b)]:
        pairs += [(k, None) for k in range(at_a, i)]
        pairs += [(None, k) for k in range(at_b, j)]
        if (i, j) != (end_a, end_b):
            pairs.append((i, j))
        at_a, at_b = i + 1, j + 1
    return pairs + [(end_a + i, end_b + i) for i in range(tail)]


def _common(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """How many items both begin with."""
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def _matched(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of a longest common subsequence, ascending."""
    if not a or not b or len(a) * len(b) > MOST_CELLS:
        return []
    number: dict[Hashable, int] = {}
    left, right = (
        np.array([number.setdefault(item, len(number)) for item in items]) for items in (a, b)
    )
    longest = _longest(left, right)
    pairs = []
    i, j = len(a), len(b)
    while i and j:
        if left[i - 1] == right[j - 1]:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif longest[i - 1, j] >= longest[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


def _longest(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.uint16]:
    """``[i, j]``: how long it is for the first *i* of *left* and the first *j* of *right*."""
    longest = np.zeros((len(left) + 1, len(right) + 1), np.uint16)
    for i, item in enumerate(left):
        before = longest[i]
        best = np.maximum(before[1:], before[:-1] + (right == item))
        np.maximum.accumulate(best, out=longest[i + 1, 1:])
    return longest
