"""The matrix: cases × arms, from verdicts as they were stored. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mitigauge.analysis.verdicts.cells import NOT_MEASURED
from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.stats.bounds import Bound
from mitigauge.measurement.experiments.tables import Arm, Case, Comparison
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Run
from mitigauge.reporting.pages.schemas import ArmView, CellView, EarlierVerdict, RowView

FAILED_STATES = (
    BootState.WRONG_KERNEL, BootState.DID_NOT_BOOT, BootState.LAB_FAULT, BootState.INVALID,
)  # fmt: skip
UP_STATES = (BootState.EFFECTIVE, BootState.NOT_EFFECTIVE)
# run, case, metric, arm
Key = tuple[int, int, str, int]
_SHOWN = (
    *("state", "n", "blocks", "mean", "effect_percent", "ci_low_percent", "ci_high_percent"),
    *("p", "q", "mde_percent", "verdict", "bound", "decided_after", "note", "version", "reason"),
)


class StoredCells:
    """Stored verdicts by what they are about: those that hold, and what was said before."""

    def __init__(self, current: Sequence[Any], earlier: Sequence[Any]) -> None:
        self.current: Mapping[Key, Any] = {_key(row): row for row in current}
        self.earlier: dict[Key, list[EarlierVerdict]] = defaultdict(list)
        for row in earlier:
            self.earlier[_key(row)].append(_earlier(row))

    def view(self, key: Key) -> tuple[CellView, int, int]:
        """The cell, and its iterations that were taken again and that count though disturbed."""
        row = self.current.get(key)
        if row is None:
            return _unjudged(key[3]), 0, 0
        shown = {name: getattr(row, name) for name in _SHOWN}
        view = CellView(arm_id=row.arm_id, earlier=self.earlier.get(key, []), **shown)
        return view, row.disturbed, row.unsteady


def _key(row: Any) -> Key:
    return row.run_id, row.case_id, row.metric, row.arm_id


def _earlier(row: Any) -> EarlierVerdict:
    return EarlierVerdict(
        version=row.version,
        verdict=None if row.verdict is None else Verdict(row.verdict),
        effect_percent=row.effect_percent,
        ci_low_percent=row.ci_low_percent,
        ci_high_percent=row.ci_high_percent,
        bound=Bound(row.bound),
        n=row.n,
        blocks=row.blocks,
        at=row.given_at or row.written_at,
        reason=row.reason,
    )


def _unjudged(arm_id: int) -> CellView:
    return CellView(
        arm_id=arm_id, state=CellState.NO_DATA, n=0, blocks=0, mean=None, note=NOT_MEASURED
    )


def rows_of(comparison: Comparison, runs: Sequence[Run], cells: StoredCells) -> list[RowView]:
    """A row for each run, case and metric of the comparison."""
    return [
        row_view(comparison.arms, run, case, metric, cells)
        for run in runs
        for case in comparison.cases
        for metric in case.metrics
    ]


def row_view(arms: Sequence[Arm], run: Run, case: Case, metric: str, cells: StoredCells) -> RowView:
    """One case and metric on one host: what is said of every arm."""
    declared = case.metrics[metric]
    shown = [cells.view((run.id, case.id, metric, arm.id)) for arm in arms]
    return RowView(
        case_id=case.id,
        case=case.title,
        workload=case.workload,
        metric=metric,
        metric_title=declared.title,
        unit=declared.unit,
        direction=declared.direction,
        primary=declared.primary,
        delta_percent=declared.delta_percent,
        host=run.host.name,
        counter=declared.counter,
        profiled=case.profile_hz is not None,
        disturbed=sum(disturbed for _, disturbed, _ in shown),
        unsteady=sum(unsteady for *_, unsteady in shown),
        cells=[cell for cell, *_ in shown],
    )


def _any(counts: Mapping[str, int], states: Iterable[BootState]) -> bool:
    return any(counts.get(state, 0) for state in states)


def _is_down(counts: Mapping[str, int]) -> bool:
    """Whether it came up in no boot, and nothing else than the kernel was at fault in any."""
    others = (state for state in (*UP_STATES, *FAILED_STATES) if state != BootState.DID_NOT_BOOT)
    return bool(counts.get(BootState.DID_NOT_BOOT, 0)) and not _any(counts, others)


def arm_views(
    comparison: Comparison,
    states: Mapping[int, Mapping[str, Mapping[str, int]]],
    observed: Mapping[int, list[str]],
    *,
    emulated: bool,
) -> list[ArmView]:
    """The arms with what became of their boots: *states* by arm id, host, then boot state."""
    views = []
    proven = {
        host
        for arm in comparison.arms
        if arm.is_baseline
        for host, counts in states.get(arm.id, {}).items()
        if counts.get(BootState.EFFECTIVE, 0)
    }
    for arm in comparison.arms:
        hosts = states.get(arm.id, {})
        own: Counter[str] = Counter()
        for counts in hosts.values():
            own.update(counts)
        views.append(
            ArmView(
                id=arm.id,
                name=arm.name,
                mode=arm.full_mode,
                title=arm.title,
                kernel=arm.kernel,
                is_baseline=arm.is_baseline,
                is_aa=arm.is_aa,
                cmdline=f"{arm.lab_cmdline if emulated else ''} {arm.cmdline}".strip(),
                expected=arm.expected,
                boots_effective=own.get(BootState.EFFECTIVE, 0),
                boots_not_effective=own.get(BootState.NOT_EFFECTIVE, 0),
                boots_failed=sum(own.get(state, 0) for state in FAILED_STATES),
                shares_boots=arm.shares_boots,
                up_on=[host for host, counts in hosts.items() if _any(counts, UP_STATES)],
                down_on={
                    host: counts[BootState.DID_NOT_BOOT]
                    for host, counts in hosts.items()
                    if host in proven and _is_down(counts)
                },
                observed=observed.get(arm.id, []),
                events=arm.events,
            )
        )
    return views
