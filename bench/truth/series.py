"""What a series with known changes is, and what a detector says of one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Truth:
    """One change of level; places are positions among the values, from 0."""

    first: int
    """The first value that is not at the old level."""
    last: int
    """The first value at the new level; that of a step is *first*."""
    size: float


@dataclass(frozen=True, slots=True)
class Known:
    """A series with its changes."""

    kind: str
    values: Values
    changes: tuple[Truth, ...]
    weeks: Places
    """When each value was taken; a gap leaves weeks out."""


@dataclass(frozen=True, slots=True)
class Found:
    """A change that a detector says: the first value after it, its size, and 95 % of that."""

    place: int
    size: float
    low: float
    high: float


Answer = list[Found]
"""All that is said of one series."""
