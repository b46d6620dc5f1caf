"""When to look, and how small p must be at each look so that the whole procedure keeps α."""

from __future__ import annotations

from collections.abc import Sequence

STANDARD_LOOKS = (4, 6, 8, 12, 16, 24, 32, 48, 64)


def looks_until(planned_blocks: int, looks: Sequence[int] | None = None) -> tuple[int, ...]:
    """The looks, in blocks, of a budget of *planned_blocks*; the last block is always one."""
    chosen = STANDARD_LOOKS if looks is None else looks
    return (*sorted({look for look in chosen if 0 < look < planned_blocks}), planned_blocks)


def look_levels(schedule: Sequence[int], *, contrasts: int, alpha: float) -> tuple[float, ...]:
    """The level that each look's Dunnett p is compared with."""
    del contrasts  # Bonferroni over the looks holds for any number of arms.
    return tuple(alpha / len(schedule) for _ in schedule)
