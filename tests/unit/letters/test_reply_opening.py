"""How many boots an answer to a series says: those that happened."""

from __future__ import annotations

from mitigauge.reporting.letters.reply.reply import Addressees, _opening
from mitigauge.reporting.pages.schemas import ArmView, ComparisonView, ExperimentView


def opening(*arms: tuple[int, int, int], planned: int) -> str:
    """Of arms with so many boots that showed their mode, did not, and failed."""
    views = [
        ArmView.model_construct(boots_effective=e, boots_not_effective=n, boots_failed=f)
        for e, n, f in arms
    ]
    view = ExperimentView.model_construct(
        comparisons=[ComparisonView.model_construct(arms=views)], boots_total=planned
    )
    return _opening(Addressees("v2", "", "", "", (), (), ()), view)


def test_what_was_planned_and_not_booted_is_no_boot() -> None:
    """Verdicts stopped it after four blocks of six."""
    assert "measured in 8 boots, each of which" in opening((4, 0, 0), (4, 0, 0), planned=12)


def test_boots_that_count_for_nothing_are_said() -> None:
    said = opening((4, 0, 0), (2, 1, 1), planned=8)
    assert "measured in 6 boots, each of which showed that its mode was in force; 2 more" in said
    assert "count for nothing" in said
