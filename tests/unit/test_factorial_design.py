"""Factorial designs: every knob and wanted pair is clear of the others, in few arms."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.measurement.experiments.factorial import ALL, MOST_KNOBS, NONE, Design, design_of

KNOBS = ("pti", "bhi", "mds", "swapgs", "its", "ssb", "ibpb", "l1d")


def signs(design: Design) -> dict[object, np.ndarray]:
    """The column of each knob and each pair, by the arms alone."""
    table = np.array([[1 if high else -1 for high in point.high] for point in design.points])
    columns: dict[object, np.ndarray] = dict(zip(design.knobs, table.T, strict=True))
    for a, b in combinations(range(len(design.knobs)), 2):
        columns[design.knobs[a], design.knobs[b]] = table[:, a] * table[:, b]
    return columns


@given(st.integers(2, MOST_KNOBS), st.data())
def test_knobs_are_clear_of_each_other_and_of_every_pair(count: int, data: st.DataObject) -> None:
    knobs = tuple(f"k{i}" for i in range(count))
    every = list(combinations(knobs, 2))
    pairs = tuple(data.draw(st.lists(st.sampled_from(every), unique=True, max_size=5)))
    design = design_of(knobs, pairs)
    columns = signs(design)
    assert len(design.points) in {4, 8, 16, 32}
    assert len({point.high for point in design.points}) == len(design.points)
    for one, other in combinations([*knobs, *pairs], 2):
        assert columns[one] @ columns[other] == 0
    for knob in knobs:
        assert columns[knob].sum() == 0
        for pair in every:
            assert columns[knob] @ columns[pair] == 0


def test_eight_knobs_take_sixteen_arms_among_them_none_and_all() -> None:
    points = design_of(KNOBS, (("pti", "bhi"), ("pti", "mds"))).points
    assert len(points) == 16
    assert (points[0].name, points[-1].name) == (NONE, ALL)
    assert not any(points[0].high)
    assert all(points[-1].high)
    names = [point.name for point in points]
    assert len(set(names)) == 16
    assert all(len(name) <= 63 for name in names)


def test_pairs_that_cannot_be_told_apart_are_named() -> None:
    design = design_of(KNOBS[:6], (("pti", "bhi"),))
    [(pair, others)] = design.shared().items()
    columns = signs(design)
    assert pair == ("pti", "bhi")
    alike = [
        other for other in combinations(design.knobs, 2)
        if other != pair and abs(columns[other] @ columns[pair]) == len(design.points)
    ]  # fmt: skip
    assert others == alike != []


def test_too_many_pairs_are_refused_at_once() -> None:
    every = tuple(combinations(KNOBS, 2))
    with pytest.raises(ValueError, match="need more than 32 arms: leave out pairs"):
        design_of(KNOBS, every[:16])
    with pytest.raises(ValueError, match="more than 8 arms"):
        design_of(KNOBS, (), 8)
