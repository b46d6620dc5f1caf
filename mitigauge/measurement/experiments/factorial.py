"""Factorial designs: which knobs are on in which arm, so that few boots tell what each costs. Pure.

A knob has two modes, low and high. An arm is a point x of {0, 1}^m; knob j is high there where x
and the knob's mask have an odd number of bits in common. Every mask has an odd number of bits, so
that

- x = 0 has all knobs low, and x = 11…1 has all of them high;
- a main effect is in no pair: masks are odd, and the sum of two of them is even (resolution IV,
  Box and Hunter, Technometrics 3, 1961).

Masks are chosen so that the wanted pairs are not in one another either; a pair that was not wanted
may be in one that was (:meth:`Design.shared`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

Pair = tuple[str, str]

MOST_KNOBS = 16
MOST_POINTS = 32
MOST_PAIRS = 15
# A tenth of a second; a design that takes longer to find is taken for none.
MOST_STEPS = 20_000
NONE, ALL = "none", "all"


@dataclass(frozen=True, slots=True)
class Point:
    """One arm: its name, and whether each knob is high, in their order."""

    name: str
    high: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Design:
    """The knobs' masks, and the arms that follow from them."""

    knobs: tuple[str, ...]
    pairs: tuple[Pair, ...]
    masks: tuple[int, ...]
    bits: int

    @property
    def points(self) -> list[Point]:
        """All arms; the first has every knob low, the last every knob high."""
        found = [
            tuple((x & mask).bit_count() % 2 == 1 for mask in self.masks)
            for x in range(2**self.bits)
        ]
        found.sort(key=lambda high: (sum(high), [not each for each in high]))
        return [Point(_name(self.knobs, high), high) for high in found]

    def shared(self) -> dict[Pair, list[Pair]]:
        """The wanted pairs, each with those that cannot be told from it."""
        mask_of = dict(zip(self.knobs, self.masks, strict=True))
        every = list(combinations(self.knobs, 2))
        return {
            pair: [
                other
                for other in every
                if set(other) != set(pair)
                and mask_of[other[0]] ^ mask_of[other[1]] == mask_of[pair[0]] ^ mask_of[pair[1]]
            ]
            for pair in self.pairs
        }


def _name(knobs: Sequence[str], high: Sequence[bool]) -> str:
    """What is on, or what is not, whichever is shorter."""
    on = [knob for knob, is_high in zip(knobs, high, strict=True) if is_high]
    off = [knob for knob, is_high in zip(knobs, high, strict=True) if not is_high]
    if not on:
        return NONE
    if not off:
        return ALL
    return ".".join(on) if len(on) <= len(off) else f"{ALL}-but-{'.'.join(off)}"


@lru_cache(maxsize=64)
def design_of(knobs: tuple[str, ...], pairs: tuple[Pair, ...], most: int = MOST_POINTS) -> Design:
    """The smallest design that tells all knobs and the wanted pairs from each other.

    Raises ValueError where more than *most* arms would be needed.
    """
    least = len(knobs) + len(pairs) + 1
    bits = 1
    while 2**bits <= most:
        if 2**bits >= least or bits == len(knobs):
            masks = _masks(knobs, pairs, bits)
            if masks is not None:
                return Design(knobs, pairs, masks, bits)
        bits += 1
    raise ValueError(
        f"{len(knobs)} knobs and {len(pairs)} pairs need more than {most} arms: leave out pairs "
        "or knobs"
    )


def _masks(knobs: Sequence[str], pairs: Sequence[Pair], bits: int) -> tuple[int, ...] | None:
    """A mask for each knob, the first that fit; None where none were found."""
    places = {knob: i for i, knob in enumerate(knobs)}
    wanted = [(places[a], places[b]) for a, b in pairs]
    return _Search(len(knobs), wanted, bits).masks(())


@dataclass(slots=True)
class _Search:
    """Depth first, over masks that differ in more than the names of their bits."""

    count: int
    wanted: Sequence[tuple[int, int]]
    bits: int
    steps: int = 0

    def masks(self, chosen: tuple[int, ...]) -> tuple[int, ...] | None:
        """*chosen* made longer until each knob has one; None where that leads nowhere."""
        if len(chosen) == self.count:
            return chosen
        for mask in self._candidates(chosen):
            self.steps += 1
            longer = (*chosen, mask)
            if self.steps > MOST_STEPS:
                return None
            if _apart(self.wanted, longer):
                found = self.masks(longer)
                if found is not None:
                    return found
        return None

    def _candidates(self, chosen: tuple[int, ...]) -> Iterator[int]:
        """A bit that none has, and what the bits that some have make; all else is a renaming."""
        used = max((mask.bit_length() for mask in chosen), default=0)
        if used < self.bits:
            yield 1 << used
        for mask in range(1, 1 << used):
            if mask.bit_count() % 2 and mask not in chosen:
                yield mask


def _apart(wanted: Sequence[tuple[int, int]], masks: Sequence[int]) -> bool:
    """Whether the pairs whose knobs have masks already differ from each other."""
    sums = list(_sums(wanted, masks))
    return len(set(sums)) == len(sums)


def _sums(wanted: Sequence[tuple[int, int]], masks: Sequence[int]) -> Iterator[int]:
    for a, b in wanted:
        if max(a, b) < len(masks):
            yield masks[a] ^ masks[b]
