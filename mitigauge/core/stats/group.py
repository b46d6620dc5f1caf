"""The looks, taken for all cases at once that share one pattern of boots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from mitigauge.core.stats.block_model import Mask
from mitigauge.core.stats.boot_means import Arm, BootMeans
from mitigauge.core.stats.boundaries import interval_levels, look_levels, looks_until
from mitigauge.core.stats.dependence import neighbours_alike
from mitigauge.core.stats.look import CHANGED, UNDECIDED, Figures, p_of, take_look
from mitigauge.core.stats.question import ArmVerdict, Question, Verdict
from mitigauge.core.stats.scale import ScaledCases, scale_cases
from mitigauge.core.stats.terms import (
    DECIDED_AFTER,
    FEWEST_OF_A_SAMPLE,
    NEIGHBOURS_ALIKE,
    OVERSTATES,
    REAL_YET_WITHIN,
    fewest_boots,
)


@dataclass(frozen=True, slots=True)
class Rules:
    """What all cases of a group are judged by."""

    alpha: float
    planned_blocks: int | None
    ended: bool
    looks: Sequence[int] | None
    layouts: int = 1


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the looks fall; ``ends[i]`` is the column after look i, for the looks taken."""

    schedule: tuple[int, ...]
    levels: tuple[float, ...]
    interval_levels: tuple[float, ...]
    ends: tuple[int, ...]
    blocks: int  # that compare some arm with the baseline
    designed: int  # blocks planned, though no more than are there will come

    @property
    def planned(self) -> int:
        return self.schedule[-1] if self.schedule else 0

    @property
    def next_look(self) -> int | None:
        return next((look for look in self.schedule if look > self.blocks), None)

    def levels_now(self) -> tuple[float, float]:
        """The levels of the look to come, or of the last one: of its test, of its intervals."""
        every = zip(self.schedule, self.levels, self.interval_levels, strict=True)
        return next(((level, own) for look, level, own in every if look >= self.blocks), (0.0, 0.0))


def judge_group(
    cases: Sequence[Question[Arm]], means: Sequence[BootMeans[Arm]], rules: Rules
) -> list[Mapping[Arm, ArmVerdict]]:
    """Judge *cases*, whose boot *means* share arms, blocks and gaps."""
    values = np.stack([of_case.values for of_case in means])
    scaled = scale_cases(values, [case.unit for case in cases])
    present = ~np.isnan(values[0])
    delta = np.array([case.delta_percent for case in cases])
    plan = _plan(present, rules)
    blocks = means[0].blocks
    columns = present.shape[1]
    answer = Figures.empty(scaled.means(slice(0, columns)))
    look_of = np.zeros(answer.outcome.shape, dtype=np.intp)
    end_of = np.full(answer.outcome.shape, columns, dtype=np.intp)
    looks = zip(plan.schedule, plan.levels, plan.interval_levels, plan.ends, strict=False)
    for look, level, interval_level, end in looks:
        figures, fit = take_look(
            scaled, present, end, level=level, interval_level=interval_level, delta=delta,
            blocks=blocks, layouts=rules.layouts,
        )  # fmt: skip
        figures.outcome[:, _shared(present, end) < fewest_boots(plan.designed)] = UNDECIDED
        new = (figures.outcome != UNDECIDED) & (answer.outcome == UNDECIDED)
        p_of(figures, fit, new)
        _take_over(answer, figures, new)
        look_of[new], end_of[new] = look, end
    if plan.schedule:
        level, interval_level = plan.levels_now()
        figures, fit = take_look(
            scaled, present, columns, level=level, interval_level=interval_level, delta=delta,
            blocks=blocks, layouts=rules.layouts,
        )  # fmt: skip
        figures.outcome[:] = UNDECIDED
        rest = answer.outcome == UNDECIDED
        p_of(figures, fit, rest)
        _take_over(answer, figures, rest)
    # Noise of the other arms makes no sample of one boot.
    alone = _shared(present, columns) < FEWEST_OF_A_SAMPLE
    for unknown in (answer.low, answer.high, answer.mde, answer.p):
        unknown[:, alone] = np.nan
    # Blocks of one layout are alike by what is compared.
    alike = neighbours_alike(scaled.y, present) & (rules.layouts == 1)
    writer = _Writer(means[0], present, scaled, plan, answer, look_of, end_of, rules.layouts, alike)
    return [writer.arms(index, case) for index, case in enumerate(cases)]


def _plan(present: Mask, rules: Rules) -> _Plan:
    shared = np.flatnonzero(present[0] & present[1:].any(axis=0))
    if not shared.size:
        return _Plan((), (), (), (), 0, 0)
    designed = max(rules.planned_blocks or 0, int(shared.size))
    schedule = looks_until(designed, rules.looks)
    contrasts = int(present[1:].any(axis=1).sum())
    levels = look_levels(schedule, contrasts=contrasts, alpha=rules.alpha)
    of_intervals = interval_levels(schedule, contrasts=contrasts)
    if rules.ended:
        # The look to come is taken now, at its own level: sooner, it is more like the last.
        coming = sum(look < shared.size for look in schedule)
        schedule, levels = (*schedule[:coming], int(shared.size)), levels[: coming + 1]
        of_intervals = of_intervals[: coming + 1]
    taken = [look for look in schedule if look <= shared.size]
    ends = [
        present.shape[1] if look == schedule[-1] else int(shared[look - 1]) + 1 for look in taken
    ]
    return _Plan(schedule, levels, of_intervals, tuple(ends), int(shared.size), designed)


def _shared(present: Mask, end: int) -> NDArray[np.intp]:
    """In how many of the first *end* columns each arm and the baseline both have a boot."""
    return np.asarray((present[0, :end] & present[:, :end]).sum(axis=1), dtype=np.intp)


def _take_over(answer: Figures, figures: Figures, where: Mask) -> None:
    for field in fields(Figures):
        getattr(answer, field.name)[where] = getattr(figures, field.name)[where]


@dataclass(frozen=True, slots=True)
class _Writer(Generic[Arm]):
    """Turns arrays into verdicts and says in words what a figure alone would not."""

    layout: BootMeans[Arm]
    present: Mask
    scaled: ScaledCases
    plan: _Plan
    figures: Figures
    look_of: NDArray[np.intp]
    end_of: NDArray[np.intp]
    layouts: int
    alike: Mask

    def arms(self, index: int, case: Question[Arm]) -> dict[Arm, ArmVerdict]:
        """The verdicts of one case by arm name."""
        return {arm: self._arm(index, place, case) for place, arm in enumerate(self.layout.arms)}

    def _arm(self, index: int, place: int, case: Question[Arm]) -> ArmVerdict:
        figures, here = self.figures, (index, place)
        seen = self.present[:, : self.end_of[here]]
        look = int(self.look_of[here]) or None
        verdict = self._verdict(here, case) if place else None
        return ArmVerdict(
            n=int(seen[place].sum()),
            blocks=int((seen[0] & seen[place]).sum()),
            mean=_number(figures.mean[here]),
            effect_percent=_number(figures.effect[here]),
            ci_low_percent=_number(figures.low[here]),
            ci_high_percent=_number(figures.high[here]),
            p=_number(figures.p[here]),
            mde_percent=_number(figures.mde[here]),
            verdict=verdict,
            note="; ".join(self._notes(here, case, verdict, look)) if place else "",
            scale="log" if self.scaled.log[index] else "linear",
            decided_at_look=look,
            has_few_boots=bool(place) and self._has_few_boots(place),
            until_block=self.layout.blocks[int(self.end_of[here]) - 1] if seen.size else None,
        )

    def _verdict(self, here: tuple[int, int], case: Question[Arm]) -> Verdict:
        outcome = self.figures.outcome[here]
        if outcome == UNDECIDED:
            return "undecided"
        if outcome != CHANGED:
            return "same"
        larger_is_better = case.direction == "higher"
        return "better" if (self.figures.difference[here] > 0) == larger_is_better else "worse"

    def _notes(
        self, here: tuple[int, int], case: Question[Arm], verdict: Verdict | None, look: int | None
    ) -> Iterator[str]:
        missing = self._few_boots(here[1]) if self._has_few_boots(here[1]) else ""
        missing = missing or self._missing(here)
        if missing:
            yield missing
            return
        figures, plan = self.figures, self.plan
        if self.layouts > 1:
            yield f"{self.layouts} layouts of each kernel are the replicates, not their boots"
        if self.alike[here]:
            yield NEIGHBOURS_ALIKE
        if np.isnan(figures.effect[here]):
            shift = float(figures.difference[here]) * float(self.scaled.magnitude[here[0]])
            yield f"baseline mean is 0: no percentage; difference {shift:+.4g} {case.unit}".rstrip()
        if figures.no_noise[here]:
            yield "boots do not vary at all: judged by the difference itself"
        elif verdict in ("better", "worse") and (
            -case.delta_percent < figures.low[here] and figures.high[here] < case.delta_percent
        ):
            yield f"{REAL_YET_WITHIN} ±{case.delta_percent:g} %"
        if look is not None and look < plan.planned:
            overstates = "" if verdict == "same" else f"; {OVERSTATES} the effect"
            yield f"{DECIDED_AFTER} {look} of {plan.planned} blocks{overstates}"
        elif look is None and plan.next_look is not None:
            yield f"{plan.blocks} of {plan.planned} blocks: next look after {plan.next_look}"

    def _missing(self, here: tuple[int, int]) -> str:
        """Why there is no comparison, or none with an interval; empty when there is one."""
        _, place = here
        if not self.present[place].any():
            return "no boot that counts"
        if not self.present[0].any():
            return "the baseline has no boot that counts"
        if np.isnan(self.figures.difference[here]):
            return "shares no block with the baseline"
        if np.isnan(self.figures.low[here]) and not np.isnan(self.figures.effect[here]):
            blocks = self.plan.blocks
            if self.layouts > 1:
                return "one layout: no estimate of what layout does, so no interval"
            return (
                "one block: no noise estimate, so no interval"
                if blocks == 1
                else f"{blocks} blocks with gaps: no noise estimate, so no interval"
            )
        return ""

    def _has_few_boots(self, place: int) -> bool:
        """Whether an arm has too few for a verdict, and fewer than others, or no more to come."""
        together, plan = self._together(place), self.plan
        is_last = together < plan.blocks or plan.next_look is None
        return is_last and 0 < together < fewest_boots(plan.designed) and plan.blocks > 1

    def _few_boots(self, place: int) -> str:
        together, designed = self._together(place), self.plan.designed
        boots = "1 boot" if together == 1 else f"{together} boots"
        return (
            f"{boots} of {designed} in blocks of the baseline: no verdict under "
            f"{fewest_boots(designed)}"
        )

    def _together(self, place: int) -> int:
        return int((self.present[0] & self.present[place]).sum())


def _number(value: np.float64) -> float | None:
    number = float(value)
    return number if np.isfinite(number) else None
