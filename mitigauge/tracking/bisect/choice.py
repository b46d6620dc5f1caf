"""Which points to boot next: those that are expected to tell most for what they cost.

The information I of one block over a set of points is bounded from below by pairs of hypotheses
(Kolchinsky & Tracey, "Estimating mixture entropy with pairwise distances", Entropy 19, 2017, with
the Bhattacharyya distance of two normals of equal variance):

    I ≥ −Σ_i p_i ln Σ_j p_j exp(−d²_ij / 8),
    d² = (Σ_p Δ_p² − ρ/(1 + m ρ) (Σ_p Δ_p)²) / (1 + h),

where Δ_p is by how many σ the hypotheses differ at point p, m how many points the block has, and
ρ → ∞: nothing is taken for granted about the level of a block. With two hypotheses of equal mass
this is plain bisection; with noise it spreads the points of a block over the posterior's quantiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from mitigauge.tracking.bisect.evidence import Evidence
from mitigauge.tracking.bisect.likelihood import Floats

QUANTILES = 5
MOST_BETWEEN = 3
BLOCKS = (1, 2)
# What a step costs beside its boots, in boots: installing, judging, a block that is cut short.
STEP_BOOTS = 0.5
MOST_HYPOTHESES = 24


@dataclass(frozen=True, slots=True)
class Choice:
    """Places to boot in each of ``blocks`` blocks; ``bits``: a lower bound of what they tell."""

    places: tuple[int, ...]
    blocks: int
    bits: float


@dataclass(frozen=True, slots=True)
class _Hypotheses:
    """``mass[h]``, and ``level[h, place]`` in σ at the places that may be booted."""

    mass: Floats
    level: Floats


def choose(evidence: Evidence, *, boots_left: int, build_boots: float) -> Choice | None:
    """The best choice within *boots_left*; ``None`` where nothing that can be booted tells more."""
    between = _candidates_to_boot(evidence)
    if not between:
        return None
    last = evidence.cells.last
    places = (0, *between, last)
    hypotheses = _hypotheses(evidence, places)
    designs = _designs(len(between))
    overlap = np.exp(-_distances(hypotheses, designs) / (8.0 * (1.0 + evidence.point)))
    new = np.array([place not in evidence.measured for place in places], dtype=np.float64)
    sizes = designs.sum(axis=1)
    best, best_rate = None, 0.0
    for blocks in BLOCKS:
        bits = _bits(hypotheses.mass, overlap**blocks)
        cost = blocks * sizes + build_boots * (designs @ new) + STEP_BOOTS
        rate = np.where(blocks * sizes <= boots_left, bits / cost, 0.0)
        at = int(np.argmax(rate))
        if rate[at] > best_rate * (1 + 1e-9):
            chosen = tuple(places[column] for column in np.flatnonzero(designs[at]))
            best, best_rate = Choice(chosen, blocks, float(bits[at])), float(rate[at])
    return best


def _candidates_to_boot(evidence: Evidence) -> tuple[int, ...]:
    """Places at the quantiles of where a change is, and on both sides of the likeliest cell."""
    by_cell = _mass_by_cell(evidence)
    whole = float(by_cell.sum())
    last = evidence.cells.last
    if whole <= 0 or last < 2:
        return ()
    below = np.cumsum(by_cell) / whole
    levels = np.arange(1, QUANTILES) / QUANTILES
    # The place before or after the cell in which a quantile lies, whichever halves better.
    after = np.searchsorted(below, levels - 1e-12) + 1
    before_mass = np.concatenate([[0.0], below])
    nearer = np.where(
        levels - before_mass[after - 1] < before_mass[after] - levels, after - 1, after
    )
    likeliest = int(np.argmax(by_cell)) + 1
    chosen = {*nearer.tolist(), likeliest - 1, likeliest}
    return tuple(sorted(place for place in chosen if 0 < place < last))


def _mass_by_cell(evidence: Evidence) -> Floats:
    """Probability that a change is in each cell: a single one, or one of several."""
    by_segment = evidence.singles + evidence.left
    by_segment = by_segment + evidence.pairs.sum(axis=0) + evidence.pairs.sum(axis=1)
    weights = np.array(evidence.cells.weights)
    segments = np.searchsorted(evidence.measured, np.arange(1, weights.size + 1))
    whole = np.maximum(evidence.weight[segments], 1e-300)
    return np.asarray(by_segment[segments] * weights / whole)


def _hypotheses(evidence: Evidence, places: Sequence[int]) -> _Hypotheses:
    """The likeliest hypotheses, told apart as far as *places* and what was measured do."""
    cuts = np.array(sorted({*places, *evidence.measured}))
    weights = np.array(evidence.cells.weights)
    cells = np.arange(1, weights.size + 1)
    interval = np.searchsorted(cuts, cells)
    inside = np.zeros(cuts.size)
    np.add.at(inside, interval, weights)
    # Interval i is the cells after cut i − 1 up to cut i, all in one segment.
    segment = np.searchsorted(evidence.measured, cuts)
    part = inside / np.maximum(evidence.weight[segment], 1e-300)
    above = (np.array(places)[None, :] >= cuts[:, None]).astype(np.float64)
    rise = _rises(evidence)
    # Whether a revert fails shows in no point that may be booted here.
    masses = [(evidence.singles + evidence.left)[segment] * part, np.array([evidence.none])]
    levels = [above * rise[segment][:, None], np.zeros((1, len(places)))]
    if evidence.several > 1e-3:
        rows, columns = np.triu_indices(cuts.size, 1)
        one, two = segment[rows], segment[columns]
        masses.append(evidence.pairs[one, two] * part[rows] * part[columns])
        levels.append(
            above[rows] * evidence.first[one, two][:, None]
            + above[columns] * evidence.second[one, two][:, None]
        )
    mass, level = np.concatenate(masses), np.concatenate(levels)
    top = np.argsort(-mass, kind="stable")[:MOST_HYPOTHESES]
    whole = max(float(mass[top].sum()), 1e-300)
    return _Hypotheses(mass[top] / whole, level[top] / max(evidence.deviation, 1e-12))


def _rises(evidence: Evidence) -> Floats:
    """The effect of a step in each segment; the likeliest one's where none was measured."""
    likeliest = float(evidence.rise[int(np.argmax(evidence.singles))])
    return np.maximum(np.where(evidence.rise > 0, evidence.rise, likeliest), evidence.floor)


@lru_cache(maxsize=64)
def _designs(between: int) -> Floats:
    """Sets of points as rows of 0 and 1: up to three between the ends, with one end or both."""
    rows = []
    for count in range(1, min(MOST_BETWEEN, between) + 1):
        for inner in combinations(range(1, between + 1), count):
            for ends in ((0,), (between + 1,), (0, between + 1)):
                row = np.zeros(between + 2)
                row[list(inner + ends)] = 1.0
                rows.append(row)
    return np.array(rows)


def _distances(hypotheses: _Hypotheses, designs: Floats) -> Floats:
    """d² of each pair of hypotheses in one block, ``[pair, design]``."""
    level = hypotheses.level
    difference = (level[:, None, :] - level[None, :, :]).reshape(-1, level.shape[1])
    sums = difference @ designs.T
    return np.asarray(np.maximum(difference**2 @ designs.T - sums**2 / designs.sum(axis=1), 0.0))


def _bits(mass: Floats, overlap: Floats) -> Floats:
    """The bound of I by design, in bits."""
    count = mass.size
    mixed = np.tensordot(overlap.reshape(count, count, -1), mass, axes=([1], [0]))
    return np.asarray(-(mass @ np.log2(np.maximum(mixed, 1e-300))))
