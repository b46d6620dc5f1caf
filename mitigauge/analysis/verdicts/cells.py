"""Cells of the matrix: what is said of one arm for one case and metric. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import fmean, geometric_mean
from typing import TYPE_CHECKING, Any

from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.stats.bounds import Bound, Uncounted, bound_of, carries
from mitigauge.core.stats.terms import DECIDED_AFTER, OVERSTATES, REAL_YET_WITHIN, RULES
from mitigauge.measurement.experiments.metric import CaseMetric

# Pages read stored cells, and what judges them takes long to load.
if TYPE_CHECKING:
    from mitigauge.analysis.verdicts.judgement import Answer, ArmValues, Design
    from mitigauge.core.stats.question import ArmVerdict

NOT_MEASURED = "not measured yet"
# Of one run with another arm in the baseline's place; more would keep its end waiting.
MOST_REBASED = 50_000
# Sums in another order differ in their last digits, which is no other verdict.
ALIKE = 1e-9


@dataclass(frozen=True, slots=True)
class Missing:
    """Why an arm has no values to show, from its boots."""

    not_effective: bool
    note: str


@dataclass(frozen=True, slots=True)
class Cell:
    """Columns of :class:`StoredVerdict` that are worked out from values."""

    case_id: int
    metric: str
    arm_id: int
    state: CellState
    n: int = 0
    blocks: int = 0
    mean: float | None = None
    effect_percent: float | None = None
    ci_low_percent: float | None = None
    ci_high_percent: float | None = None
    p: float | None = None
    q: float | None = None
    mde_percent: float | None = None
    verdict: Verdict | None = None
    bound: Bound = Bound.EXACT
    decided_after: int | None = None
    note: str = ""
    boots: tuple[int, ...] = ()
    disturbed: int = 0
    unsteady: int = 0
    rules: int = RULES

    @property
    def key(self) -> tuple[int, str, int]:
        """What it is about, within its run."""
        return self.case_id, self.metric, self.arm_id

    @property
    def is_decided(self) -> bool:
        """Whether it says better, worse or same."""
        return self.verdict not in (None, Verdict.UNDECIDED)


SECOND_LOOK = (
    "look twice: this mode does all that the baseline does, and more; that cannot make it better"
)
UNCOUNTED = {
    Bound.EXACT: "",
    Bound.AT_LEAST: "at least so much: the hardware's own events are not counted here",
    Bound.AT_MOST: "at most so much: the hardware's own events are not counted here",
    Bound.NOTHING: "not ranked: each of both works by events that are not counted here",
}
CELL_FIELDS = tuple(field.name for field in fields(Cell))
# Counts of iterations that grow with every boot and say nothing against a verdict.
_COUNTS = ("disturbed", "unsteady")


def cells_of(
    judged: Iterable[Answer], design: Design, missing: Mapping[int, Missing]
) -> list[Cell]:
    """The cells of every question and arm; *missing* is by arm id, for arms without values."""
    return [_cell(entry, arm, design, missing.get(arm)) for entry in judged for arm in design.arms]


def says_the_same(one: Cell, other: Mapping[Any, Any]) -> bool:
    """Whether a cell says what the stored *other* says; see :data:`ALIKE`."""
    return all(
        _alike(getattr(one, name), other[name]) for name in CELL_FIELDS if name not in _COUNTS
    )


def _alike(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=ALIKE, abs_tol=ALIKE)
    if isinstance(one, Sequence) and not isinstance(one, str):
        return list(one) == list(other) if isinstance(other, Sequence) else False
    return one == other


def _cell(judged: Answer, arm: int, design: Design, missing: Missing | None) -> Cell:
    values, verdict = judged.values[arm], judged.verdicts.get(arm)
    is_baseline = arm == design.baseline
    about = (judged.asked.case_id, judged.asked.metric, arm)
    if not values.means or (verdict is None and not is_baseline):
        return _empty(about, values, missing)
    if verdict is None:
        return Cell(*about, CellState.BASELINE, n=len(values.means), **_of_boots(values, None))
    bound = Bound.EXACT if is_baseline else _bound(judged.asked.declared, arm, design)
    carried = None if is_baseline else _carried(verdict.verdict, bound, judged.asked.declared)
    return Cell(
        *about,
        CellState.BASELINE if is_baseline else CellState.MEASURED,
        n=verdict.n,
        blocks=verdict.blocks,
        mean=verdict.mean,
        effect_percent=verdict.effect_percent,
        ci_low_percent=verdict.ci_low_percent,
        ci_high_percent=verdict.ci_high_percent,
        p=verdict.p,
        q=verdict.q,
        mde_percent=verdict.mde_percent,
        verdict=carried,
        bound=bound,
        decided_after=None if carried is Verdict.UNDECIDED else verdict.decided_at_look,
        note=_note(verdict, bound, carried, outdoing=arm in design.outdoing),
        **_of_boots(values, verdict),
    )


def _bound(declared: CaseMetric, arm: int, design: Design) -> Bound:
    uncounted = design.uncounted.get(arm, Uncounted.NONE)
    return bound_of(uncounted, declared.direction, declared.possible)


def _carried(said: str | None, bound: Bound, declared: CaseMetric) -> Verdict | None:
    """The verdict, as far as a bound carries it."""
    if said is None:
        return None
    return Verdict(said) if carries(bound, said, declared.direction) else Verdict.UNDECIDED


def _note(verdict: ArmVerdict, bound: Bound, carried: Verdict | None, *, outdoing: bool) -> str:
    """The verdict's note, what it does not count, and a doubt where the costlier mode wins.

    Where the costlier mode's events are not counted, that it wins is no wonder.
    """
    wins = outdoing and verdict.verdict == "better" and bound is Bound.EXACT
    own = "; ".join(_of_bound(verdict, bound, carried))
    return "; ".join(filter(None, (UNCOUNTED[bound], SECOND_LOOK if wins else "", own)))


def _of_bound(verdict: ArmVerdict, bound: Bound, carried: Verdict | None) -> Iterator[str]:
    """What of the verdict's note holds of a bound: the true change may be any size above it, and
    nothing was decided where the bound does not carry the verdict."""
    is_open = carried is Verdict.UNDECIDED and verdict.decided_at_look is not None
    for part in verdict.note.split("; "):
        is_of_size = part.startswith(REAL_YET_WITHIN)
        is_of_look = part.startswith((DECIDED_AFTER, OVERSTATES))
        if not (bound is not Bound.EXACT and is_of_size) and not (is_open and is_of_look):
            yield part
    if is_open:
        yield f"figures of the first {verdict.decided_at_look} blocks"


def _of_boots(values: ArmValues, verdict: ArmVerdict | None) -> dict[str, Any]:
    until = verdict.until_block if verdict else None
    used = (boot for block, boot in sorted(values.boots.items()) if not until or block <= until)
    return {"boots": tuple(used), "disturbed": values.disturbed, "unsteady": values.unsteady}


def _mean(values: ArmValues) -> float | None:
    """What the arm's boots have in the middle, as verdicts say it; None without values."""
    means = list(values.means.values())
    if not means:
        return None
    return geometric_mean(means) if min(means) > 0 else fmean(means)


def _empty(about: tuple[int, str, int], values: ArmValues, missing: Missing | None) -> Cell:
    if missing and missing.not_effective:
        return Cell(*about, CellState.NOT_EFFECTIVE, note=missing.note)
    if values.means:
        note = "the baseline has no values to compare with"
    else:
        note = missing.note if missing and missing.note else NOT_MEASURED
    return Cell(
        *about, CellState.NO_DATA, n=len(values.means), mean=_mean(values), note=note,
        **_of_boots(values, None),
    )  # fmt: skip
