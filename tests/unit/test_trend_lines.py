"""Which kernels are one line of a trend: never by a word that anybody chose."""

from __future__ import annotations

from mitigauge.tracking.trends.values import line_of

ONE, OTHER = ["a" * 64, "b" * 64], ["c" * 64]


def test_tried_revisions_of_one_number_are_lines_of_their_own() -> None:
    """`try` called each of them v3, whatever it was v3 of."""
    lines = {line_of(None, patches, "linux 7.2", "lab") for patches in (ONE, OTHER, ONE[::-1])}
    assert len(lines) == 3
    assert line_of(None, ONE, "linux 7.2", "lab") == line_of(None, list(ONE), "linux 7.2", "lab")


def test_revisions_of_a_series_are_one_line_whatever_they_are_called() -> None:
    assert line_of(7, ONE, "linux 7.2", "lab") == line_of(7, OTHER, "linux 7.3", "lab")
    assert line_of(7, ONE, "linux 7.2", "lab") != line_of(8, ONE, "linux 7.2", "lab")


def test_a_base_without_patches_is_a_line_by_what_it_is_built_from() -> None:
    assert line_of(None, [], "linux 7.2", "lab") == "built from linux 7.2, lab"
    assert line_of(None, [], "linux 7.2", "") == "built from linux 7.2"
