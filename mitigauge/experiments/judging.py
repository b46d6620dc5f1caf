"""Verdicts of one run: every case and metric of a comparison on one host. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mitigauge.experiments.states import BootState
from mitigauge.experiments.tables import Arm, Boot, Case, Comparison, Run
from mitigauge.stats.case import DELTA_PERCENT, ArmVerdict
from mitigauge.stats.case import Case as Question
from mitigauge.stats.exploratory import judge_exploratory
from mitigauge.stats.verdicts import judge_many

# Fewer blocks have no look before the budget's end.
FIRST_LOOK = 4
ALPHA = 0.01


@dataclass(frozen=True, slots=True)
class Values:
    """Iterations of one metric of one case within one boot."""

    warmup: list[float] = field(default_factory=list)
    counted: list[float] = field(default_factory=list)
    disturbed: list[float] = field(default_factory=list)
    """Taken again: a fixed loop beside them was slower than the workload's limit."""
    unsteady: list[float] = field(default_factory=list)
    """Those that count though they were disturbed: the processor never came to rest."""


# (boot id, case id, metric) → its iterations
ValueMap = Mapping[tuple[int, int, str], Values]
# arm id → block → iterations of the boot that counts
ByArm = Mapping[int, Mapping[int, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Judged:
    """One case and metric: the values that count, and the verdicts by arm id."""

    case: Case
    metric: str
    values: ByArm
    verdicts: Mapping[int, ArmVerdict]
    disturbed: int = 0
    """Iterations that were taken again, of all boots that count."""
    unsteady: int = 0
    """Iterations that count though they were disturbed."""

    @property
    def primary(self) -> bool:
        """Whether the run's end depends on it."""
        return _is_primary(self.case, self.metric)


def value_map(rows: Iterable[tuple[int, int, str, str, float, bool | None]]) -> ValueMap:
    """Group the rows of ``repository.values_of``."""
    grouped: dict[tuple[int, int, str], Values] = {}
    for boot_id, case_id, metric, phase, value, slowed in rows:
        entry = grouped.setdefault((boot_id, case_id, metric), Values())
        getattr(entry, phase).append(value)
        if slowed and phase == "counted":
            entry.unsteady.append(value)
    return grouped


def judge_run(
    comparison: Comparison,
    run: Run,
    boots: Sequence[Boot],
    values: ValueMap,
    cases: Sequence[Case] | None = None,
) -> list[Judged]:
    """Judge *cases* (all, if not given) of the comparison from the run's *boots*."""
    wanted = [
        (case, metric, _by_arm(comparison.arms, case, metric, boots, values))
        for case in (comparison.cases if cases is None else cases)
        for metric in case.metrics
    ]
    baseline = baseline_of(comparison)
    over = run.state == "finished"
    # A run that was stopped early keeps the levels by which it was stopped.
    primary = [entry for entry in wanted if _is_primary(*entry[:2])]
    asked = _questions(primary, comparison, ended=over and run.stopped_after is None)
    answers = iter(judge_many(asked, baseline=str(baseline.id), alpha=ALPHA))
    secondary = [entry for entry in wanted if not _is_primary(*entry[:2])]
    asked = _questions(secondary, comparison, ended=over)
    explored = iter(judge_exploratory(asked, baseline=str(baseline.id), alpha=ALPHA))
    judged = []
    for case, metric, by_arm in wanted:
        answer = next(answers if _is_primary(case, metric) else explored)
        used = [entry for boot in boots if (entry := _used(boot, case, metric, values))]
        judged.append(
            Judged(
                case,
                metric,
                by_arm,
                _verdicts(answer, by_arm, baseline.id),
                disturbed=sum(len(entry.disturbed) for entry in used),
                unsteady=sum(len(entry.unsteady) for entry in used),
            )
        )
    return judged


def _questions(
    wanted: Sequence[tuple[Case, str, ByArm]], comparison: Comparison, *, ended: bool
) -> list[Question]:
    baseline = baseline_of(comparison)
    return [
        Question(
            {str(arm): blocks for arm, blocks in by_arm.items() if blocks or arm == baseline.id},
            case.metrics[metric]["direction"],
            case.metrics[metric]["unit"],
            case.metrics[metric].get("delta_percent", DELTA_PERCENT),
            comparison.blocks,
            ended,
        )
        for case, metric, by_arm in wanted
    ]


def _is_primary(case: Case, metric: str) -> bool:
    return bool(case.metrics[metric]["primary"])


def judge_double(
    comparison: Comparison, run: Run, boots: Sequence[Boot], values: ValueMap
) -> list[tuple[Case, str, ArmVerdict]]:
    """The doubled arm alone against the baseline: nothing differs, so any alarm is false.

    Without the other arms its nominal rate is α itself, not a share of it.
    """
    double = next((arm for arm in comparison.arms if arm.is_double), None)
    if double is None:
        return []
    pair = {double.id, baseline_of(comparison).id}
    judged = judge_run(comparison, run, [b for b in boots if b.arm_id in pair], values)
    return [
        (entry.case, entry.metric, entry.verdicts[double.id])
        for entry in judged
        if entry.primary and double.id in entry.verdicts and entry.verdicts[double.id].blocks
    ]


def all_decided(judged: Iterable[Judged], comparison: Comparison) -> bool:
    """Whether every primary metric has a verdict for every arm that can be compared.

    An arm that is out of the running (never in force, never came up) is not waited
    for, nor is the doubled one, which answers no question of the experiment's.
    """
    asked = {arm.id for arm in comparison.arms if not arm.is_baseline and not arm.is_double}
    verdicts = [
        verdict.verdict
        for entry in judged
        if entry.primary
        for arm_id, verdict in entry.verdicts.items()
        if arm_id in asked
    ]
    return bool(verdicts) and "undecided" not in verdicts


def baseline_of(comparison: Comparison) -> Arm:
    """The arm that the others are compared with."""
    return next(arm for arm in comparison.arms if arm.is_baseline)


def _by_arm(
    arms: Sequence[Arm], case: Case, metric: str, boots: Sequence[Boot], values: ValueMap
) -> dict[int, dict[int, list[float]]]:
    gathered: dict[int, dict[int, list[float]]] = {arm.id: {} for arm in arms}
    for boot in boots:
        if entry := _used(boot, case, metric, values):
            gathered[boot.arm_id][boot.block] = entry.counted
    return gathered


def _used(boot: Boot, case: Case, metric: str, values: ValueMap) -> Values | None:
    entry = values.get((boot.id, case.id, metric))
    return entry if boot.state == BootState.EFFECTIVE and entry and entry.counted else None


def _verdicts(
    answer: Mapping[str, ArmVerdict], by_arm: ByArm, baseline: int
) -> dict[int, ArmVerdict]:
    """By arm id; nothing where the baseline has no values to compare with."""
    return {int(arm): verdict for arm, verdict in answer.items()} if by_arm[baseline] else {}
