"""Which parts of a function differ between two kernels, by its basic blocks. Pure.

Builds note them. A basic block, here a block, is what runs as one: from a place that something
jumps to, or behind a jump, to the next such place. It is the same in both where its instructions
are, and where no block that it leads to and that is the same has another one in its place. So
whoever runs only blocks that are the same runs nothing that differs, wherever they lie.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from mitigauge.core.errors import InvalidInput

# Bytes, whether the next one may follow, the digest of its instructions, and blocks it names.
NOTED = re.compile(r"([0-9]{1,9})([-.])([0-9a-f]{12})((?:>[0-9]{1,9})*)")
# Blocks of the one times those of the other beyond which they are not matched with each other: a
# function whose blocks are all alike takes so many steps, several times.
MOST_MATCHED = 1_000_000


class Range(NamedTuple):
    """Bytes of a function, from its start: *begin* is the first one, *end* behind the last."""

    begin: int
    end: int


class Block(NamedTuple):
    """One block. *targets*: numbers of blocks that it names; behind the last one is none."""

    place: Range
    follows: bool
    """Whether the next block may run behind it."""
    code: str
    targets: tuple[int, ...]


def blocks_of(noted: str) -> list[Block]:
    """What a build noted of one function. Raises InvalidInput for what no build notes."""
    found: list[Block] = []
    begin = 0
    for word in noted.split(","):
        said = NOTED.fullmatch(word)
        if said is None:
            raise InvalidInput(f"{word[:40]!r} is no block", hint="Build the kernel again.")
        end = begin + int(said[1])
        targets = tuple(int(each) for each in said[4].split(">")[1:])
        found.append(Block(Range(begin, end), said[2] == "-", said[3], targets))
        begin = end
    return found


def differing(before: str, after: str) -> list[Range] | None:
    """The bytes of a function before that differ after, or lead to new code; in order.

    None where nothing tells what leads to new code: then whoever runs the function may differ.
    """
    old, new = blocks_of(before), blocks_of(after)
    same = _matched([each.code for each in old], [each.code for each in new])
    # Where it begins is named by callers alone, and the end of both by nobody.
    if same.get(0) != 0 or not _is_all_new_code_entered(new, set(same.values())):
        return None
    same[len(old)] = len(new)
    return [
        block.place
        for number, block in enumerate(old)
        if number not in same
        or not _is_same(_leads_to(old, number), _leads_to(new, same[number]), same)
    ]


def _is_same(led: Sequence[int], leads: Sequence[int], same: Mapping[int, int]) -> bool:
    """Whether a block that *led* there *leads* to the same blocks now.

    Where it led to one that differs, it did so only if that one ran.
    """
    return len(led) == len(leads) and all(
        to not in same or same[to] == now for to, now in zip(led, leads, strict=True)
    )


def _is_all_new_code_entered(new: Sequence[Block], known: set[int]) -> bool:
    """Whether each block that the old function lacks is led to by others, from *known* ones on.

    Else what leads there is not told by the code: a fault, say.
    """
    waiting = list(known)
    reached = set(known)
    while waiting:
        number = waiting.pop()
        for to in _leads_to(new, number):
            if to < len(new) and to not in reached:
                reached.add(to)
                waiting.append(to)
    return len(reached) == len(new)


def _leads_to(blocks: Sequence[Block], number: int) -> list[int]:
    """Numbers of the blocks that one names, then of that which may follow it."""
    following = [number + 1] if blocks[number].follows else []
    return [*blocks[number].targets, *following]


def _matched(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Number of an old block → number of the new one that stands for it, in one order."""
    first = _alike(old, new)
    last = _alike(old[first:][::-1], new[first:][::-1])
    found = {number: number for number in range(first)}
    for number in range(1, last + 1):
        found[len(old) - number] = len(new) - number
    between = old[first : len(old) - last], new[first : len(new) - last]
    if len(between[0]) * len(between[1]) > MOST_MATCHED:
        return found
    matcher = SequenceMatcher(None, *between, autojunk=False)
    for a, b, length in matcher.get_matching_blocks():
        found |= {first + a + step: first + b + step for step in range(length)}
    return found


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many are the same from the start on."""
    for number, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return number
    return min(len(one), len(other))
