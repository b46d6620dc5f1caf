"""How one list of lines becomes another, within a bound. Pure.

Myers' greedy algorithm ("An O(ND) Difference Algorithm", 1986): its work grows with what differs,
and is counted; the standard library's grows with the square of the lengths, or worse.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# Lines that differ between two lists, and steps of all comparisons of a series together.
MOST_EDITS = 1500
MOST_STEPS = 4_000_000

Opcode = tuple[str, int, int, int, int]


class TooMany(Exception):
    """More differs than is compared."""


@dataclass(slots=True)
class Budget:
    """Steps that are left."""

    left: int = MOST_STEPS

    def spend(self, steps: int) -> None:
        """Raises TooMany where there are not so many."""
        self.left -= steps
        if self.left < 0:
            raise TooMany


def opcodes(old: Sequence[Hashable], new: Sequence[Hashable], budget: Budget) -> list[Opcode]:
    """As ``SequenceMatcher.get_opcodes`` has them. Raises TooMany."""
    budget.spend(len(old) + len(new))
    numbers: dict[Hashable, int] = {}
    a, b = ([numbers.setdefault(each, len(numbers)) for each in lines] for lines in (old, new))
    begin = _same(zip(a, b, strict=False))
    end = _same(zip(reversed(a[begin:]), reversed(b[begin:]), strict=False))
    pairs = _pairs(a[begin : len(a) - end], b[begin : len(b) - end], budget)
    return list(
        _between(
            [
                *((n, n) for n in range(begin)),
                *((x + begin, y + begin) for x, y in pairs),
                *((len(a) - n, len(b) - n) for n in range(end, 0, -1)),
            ],
            len(a),
            len(b),
        )
    )


def grouped(found: Sequence[Opcode], around: int = 3) -> Iterator[list[Opcode]]:
    """Opcodes in hunks with so many equal lines around."""
    matcher: SequenceMatcher[str] = SequenceMatcher(None, "", "")
    matcher.opcodes = list(found)  # type: ignore[attr-defined]
    yield from matcher.get_grouped_opcodes(around)


def _same(pairs: Iterator[tuple[int, int]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _pairs(a: Sequence[int], b: Sequence[int], budget: Budget) -> list[tuple[int, int]]:
    """Places of equal lines, in their order, as many as can be."""
    furthest = {1: 0}
    steps: list[array[int]] = []
    for edits in range(min(len(a) + len(b), MOST_EDITS) + 1):
        budget.spend(edits + 1)
        steps.append(array("i", (furthest.get(k, -1) for k in range(-edits - 1, edits + 2))))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            while x < len(a) and 0 <= x - k < len(b) and a[x] == b[x - k]:
                x += 1
            furthest[k] = x
            if x >= len(a) and x - k >= len(b):
                return _walked_back(steps, len(a), len(b))
    raise TooMany


def _walked_back(steps: Sequence[array[int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for edits in range(len(steps) - 1, -1, -1):
        furthest, zero, k = steps[edits], edits + 1, x - y
        down = k == -edits or (k != edits and furthest[zero + k - 1] < furthest[zero + k + 1])
        before = k + 1 if down else k - 1
        from_x = furthest[zero + before]
        from_y = from_x - before
        while x > max(from_x, 0) and y > max(from_y, 0) and edits >= 0:
            if edits and (x, y) == (from_x + (not down), from_y + down):
                break
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = (from_x, from_y) if edits else (x, y)
    return pairs[::-1]


def _between(pairs: Sequence[tuple[int, int]], a: int, b: int) -> Iterator[Opcode]:
    """Runs of equal lines, and what stands between them."""
    x = y = at = 0
    while at <= len(pairs):
        to = pairs[at] if at < len(pairs) else (a, b)
        if to != (x, y):
            tag = "replace" if to[0] > x and to[1] > y else "delete" if to[0] > x else "insert"
            yield tag, x, to[0], y, to[1]
        begin = at
        while at < len(pairs) and pairs[at] == (to[0] + at - begin, to[1] + at - begin):
            at += 1
        if at > begin:
            yield "equal", to[0], to[0] + at - begin, to[1], to[1] + at - begin
        x, y = to[0] + at - begin, to[1] + at - begin
        at += at == len(pairs) and at == begin
        if at == len(pairs) and (x, y) == (a, b):
            return
