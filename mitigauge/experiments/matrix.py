"""The matrix: cases × arms, from boots and their iterations. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from mitigauge.catalog import Expectation
from mitigauge.experiments.judging import Judged, ValueMap, judge_run
from mitigauge.experiments.schemas import ArmView, CellView, ComparisonView, RowView
from mitigauge.experiments.states import BootState, Verdict
from mitigauge.experiments.tables import Arm, Boot, Comparison, Run
from mitigauge.stats.case import DELTA_PERCENT, ArmVerdict

FAILED_STATES = (BootState.WRONG_KERNEL, BootState.DID_NOT_BOOT)


def comparison_view(
    comparison: Comparison, runs: Sequence[Run], boots: Sequence[Boot], values: ValueMap
) -> ComparisonView:
    """One comparison with a row for each case, metric and host."""
    emulated = any(run.host.emulated for run in runs)
    by_run: dict[int, list[Boot]] = defaultdict(list)
    for boot in boots:
        by_run[boot.run_id].append(boot)
    rows = [
        row_view(comparison, run, by_run[run.id], judged)
        for run in runs
        for judged in judge_run(comparison, run, by_run[run.id], values)
    ]
    family_titles = dict.fromkeys(arm.family_title for arm in comparison.arms)
    return ComparisonView(
        id=comparison.id,
        name=comparison.name,
        family_title=" and ".join(family_titles),
        hosts=[run.host.name for run in runs],
        arms=arm_views(comparison, boots, emulated=emulated),
        rows=rows,
        emulated=emulated,
    )


def arm_views(comparison: Comparison, boots: Sequence[Boot], *, emulated: bool) -> list[ArmView]:
    """The arms with what became of their boots."""
    views = []
    for arm in comparison.arms:
        own = [boot for boot in boots if boot.arm_id == arm.id]
        ignored = [boot for boot in own if boot.state == BootState.NOT_EFFECTIVE]
        views.append(
            ArmView(
                id=arm.id,
                name=arm.name,
                mode=f"{arm.family}/{arm.mode}",
                title=arm.title,
                kernel=arm.kernel,
                is_baseline=arm.is_baseline,
                is_double=arm.is_double,
                cmdline=f"{arm.lab_cmdline if emulated else ''} {arm.cmdline}".strip(),
                expected=[Expectation.model_validate(e).describe() for e in arm.expect],
                boots_effective=sum(boot.state == BootState.EFFECTIVE for boot in own),
                boots_not_effective=len(ignored),
                boots_failed=sum(boot.state in FAILED_STATES for boot in own),
                observed=list(dict.fromkeys(boot.observed or "" for boot in ignored)),
            )
        )
    return views


def row_view(comparison: Comparison, run: Run, boots: Sequence[Boot], judged: Judged) -> RowView:
    """One case and metric on one host: every arm judged against the baseline."""
    case, declared = judged.case, judged.case.metrics[judged.metric]
    return RowView(
        case_id=case.id,
        case=case.title,
        workload=case.workload,
        metric=judged.metric,
        metric_title=declared["title"],
        unit=declared["unit"],
        direction=declared["direction"],
        primary=declared["primary"],
        delta_percent=declared.get("delta_percent", DELTA_PERCENT),
        host=run.host.name,
        profiled=case.profile_hz is not None,
        disturbed=judged.disturbed,
        unsteady=judged.unsteady,
        cells=[
            _cell(arm, judged.values[arm.id], judged.verdicts.get(arm.id), boots)
            for arm in comparison.arms
        ],
    )


def _cell(
    arm: Arm,
    blocks: Mapping[int, Sequence[float]],
    verdict: ArmVerdict | None,
    boots: Sequence[Boot],
) -> CellView:
    if not blocks or (verdict is None and not arm.is_baseline):
        return _empty_cell(arm, blocks, boots)
    if verdict is None:
        return CellView(arm_id=arm.id, state="baseline", n=len(blocks), blocks=0, mean=None)
    return CellView(
        arm_id=arm.id,
        state="baseline" if arm.is_baseline else "measured",
        n=verdict.n,
        blocks=verdict.blocks,
        mean=verdict.mean,
        effect_percent=verdict.effect_percent,
        ci_low_percent=verdict.ci_low_percent,
        ci_high_percent=verdict.ci_high_percent,
        p=verdict.p,
        q=verdict.q,
        mde_percent=verdict.mde_percent,
        verdict=None if arm.is_baseline or verdict.verdict is None else Verdict(verdict.verdict),
        decided_at_look=verdict.decided_at_look,
        note=verdict.note,
    )


def _empty_cell(arm: Arm, blocks: Mapping[int, object], boots: Sequence[Boot]) -> CellView:
    own = [boot for boot in boots if boot.arm_id == arm.id]
    ignored = [boot for boot in own if boot.state == BootState.NOT_EFFECTIVE]
    if ignored:
        return CellView(
            arm_id=arm.id, state="not_effective", n=0, blocks=0, mean=None, note=ignored[0].reason
        )
    if blocks:
        note = "the baseline has no values to compare with"
    else:
        note = next((b.reason for b in own if b.reason), "") or "not measured yet"
    return CellView(arm_id=arm.id, state="no_data", n=len(blocks), blocks=0, mean=None, note=note)
