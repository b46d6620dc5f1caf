"""Arms against an arm that the spec did not name as the baseline, of the same boots. Pure.

Nobody planned these comparisons, so each is exploratory: one look at the end, and one false
discovery rate over all metrics, cases and arms against that arm on one host.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mitigauge.analysis.verdicts.cells import MOST_REBASED, Cell, Missing, cells_of
from mitigauge.analysis.verdicts.judgement import CaseQuestion, CountedBoot, Design, judge_run
from mitigauge.core.stats.bounds import Uncounted
from mitigauge.measurement.results.repository import Mean


@dataclass(frozen=True, slots=True)
class ArmEvents:
    """What of the hardware an arm works by, as far as it costs nothing on this host."""

    mode: str
    events: frozenset[str]


def rebased_cells(
    design: Design,
    events: Mapping[int, ArmEvents],
    asked: Sequence[CaseQuestion],
    boots: Sequence[CountedBoot],
    means: Sequence[Mean],
    missing: Mapping[int, Missing],
) -> Iterator[tuple[int, Cell]]:
    """(arm in the baseline's place, cell) for each arm but the baseline and its doubles.

    *events* is by arm, empty where events cost what they do. None for a factorial design, and none
    where there would be more than MOST_REBASED.
    """
    arms = [arm for arm in design.arms if arm not in design.doubles]
    others = [arm for arm in arms if arm != design.baseline]
    if design.factorial or len(asked) * len(arms) * len(others) > MOST_REBASED:
        return
    exploratory = [
        replace(question, declared=replace(question.declared, primary=False)) for question in asked
    ]
    own = [boot for boot in boots if boot.arm_id in arms]
    for baseline in others:
        rebased = Design(
            arms,
            baseline,
            design.planned_blocks,
            layouts=design.layouts,
            uncounted={arm: uncounted_of(events[arm], events[baseline]) for arm in arms}
            if events
            else {},
        )
        judged = judge_run(rebased, exploratory, own, means, ended=True)
        yield from ((baseline, cell) for cell in cells_of(judged, rebased, missing))


def uncounted_of(arm: ArmEvents, other: ArmEvents) -> Uncounted:
    """What the arm has of events beside the other. Two modes that work by the same events may do so
    more or less often, which nobody has said of them.
    """
    if arm.mode == other.mode:
        return Uncounted.NONE
    if arm.events and other.events:
        return Uncounted.OTHER
    return Uncounted.MORE if arm.events else Uncounted.FEWER if other.events else Uncounted.NONE
