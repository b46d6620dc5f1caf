"""Which bisection fits a regression, or a cell of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import yaml
from sqlalchemy.orm import Session

from mitigauge.core.documents.parts import counted
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.measurement.experiments.tables import Arm, Case
from mitigauge.tracking.bisect.draft import FEWEST_CANDIDATES
from mitigauge.tracking.regressions import repository
from mitigauge.tracking.regressions.proposal_schemas import BisectionProposal
from mitigauge.tracking.regressions.states import Origin
from mitigauge.tracking.regressions.tables import Regression
from mitigauge.tracking.series import repository as series_rows
from mitigauge.tracking.trends import repository as trend_rows

BY_HAND = (
    "Name patches below, or an ordered list of arms; over the commits of a git tree, "
    "`mitigauge bisect start --tree DIRECTORY --good COMMIT --bad COMMIT` goes."
)
NO_SEARCH = "there is nothing to search."


@dataclass(frozen=True, slots=True)
class CellName:
    """A cell of an experiment, as an address names it."""

    experiment_id: int
    host: str
    case_id: int
    arm: str
    metric: str


@dataclass(frozen=True, slots=True)
class _Over:
    """Over what it goes. *arms*: name, mode and kernel of each, in order."""

    series: str = ""
    revision: str = ""
    arms: Sequence[tuple[str, str, str]] = ()
    changes: int | None = None
    why: str = BY_HAND


def of_regression(session: Session, regression_id: int) -> BisectionProposal:
    """The bisection that fits a regression.

    Raises :class:`NotFound`, and :class:`InvalidInput` where what it was found in is deleted.
    """
    found = repository.find(session, regression_id)
    if found is None:
        raise NotFound(
            f"there is no regression {regression_id}",
            hint="`mitigauge regression list` lists them.",
        )
    if found.origin is Origin.TREND:
        return _of_trend(session, found)
    if found.experiment_id is None or found.case_id is None or found.arm_id is None:
        raise _deleted(regression_id)
    name = CellName(
        found.experiment_id, found.hosts[0], found.case_id,
        repository.arm_name(session, found.arm_id), found.metric,
    )  # fmt: skip
    return of_cell(session, name, regression_id=regression_id)


def of_cell(
    session: Session, name: CellName, *, regression_id: int | None = None
) -> BisectionProposal:
    """The bisection that fits a cell. Raises :class:`NotFound` for one that is not there."""
    found = repository.cell(
        session, name.experiment_id, name.host, name.case_id, name.arm, name.metric
    )
    if found is None:
        raise NotFound(
            f"experiment {name.experiment_id} has no figure of metric {name.metric!r} of case "
            f"{name.case_id} in arm {name.arm!r} on {name.host!r}",
            hint=f"`mitigauge experiment show {name.experiment_id} --json` names them.",
        )
    over = _over_series(session, name.experiment_id) or _over_arms(
        found.arm, repository.arms_beside(session, found.arm.comparison_id)
    )
    return BisectionProposal(
        title=f"{found.case.title} in {name.arm} on {name.host}",
        regression_id=regression_id,
        environment=found.host.environment,
        hosts=[name.host],
        mode=found.arm.full_mode,
        effect_percent=found.verdict.effect_percent,
        **_figure(found.case, name.metric),
        **_fields(over),
    )


def _of_trend(session: Session, found: Regression) -> BisectionProposal:
    change = repository.current_change(session, found.change_id)
    if change is None or found.trend_id is None:
        raise _deleted(found.id)
    values = trend_rows.values_of(session, [found.trend_id]).get(found.trend_id, [])
    after = next((value for value in values if value.run_id == change.run_after), None)
    case = session.get(Case, after.case_id) if after else None
    if after is None or case is None:
        raise _deleted(found.id)
    first = next((at for at, value in enumerate(values) if value.run_id == change.run_before), 0)
    kernels = [value.kernel for value in values[first : values.index(after) + 1]]
    over = _over_series(session, after.experiment_id) or _over_kernels(found.mode, kernels)
    return BisectionProposal(
        title=f"{found.case_title} on {found.host_class}",
        regression_id=found.id,
        environment=found.environment,
        hosts=[after.host],
        mode=found.mode,
        effect_percent=found.effect_percent,
        **_figure(case, found.metric),
        **_fields(over),
    )


def _deleted(regression_id: int) -> InvalidInput:
    return InvalidInput(
        f"what regression {regression_id} was found in is deleted",
        hint="`mitigauge bisect start --help` says how to name figure and candidates by hand.",
    )


def _figure(case: Case, metric: str) -> dict[str, Any]:
    return {"workload": case.workload, "parameters": dict(case.parameters), "metric": metric}


def _fields(over: _Over) -> dict[str, Any]:
    arms = ""
    if over.arms:
        listed = [
            {"name": name, "mode": mode, **({"kernel": kernel} if kernel else {})}
            for name, mode, kernel in over.arms
        ]
        arms = yaml.safe_dump({"arms": listed}, sort_keys=False, allow_unicode=True)
    return {
        "series": over.series,
        "revision": over.revision,
        "arms": arms,
        "changes": over.changes,
        "why": over.why,
    }


def _over_series(session: Session, experiment_id: int) -> _Over | None:
    series = series_rows.of_experiment(session, experiment_id)
    if series is None:
        return None
    revision = next(each for each in series.revisions if each.experiment_id == experiment_id)
    patches = len(revision.patches)
    return _Over(
        series=series.name,
        revision=revision.label,
        changes=patches,
        why=f"It was measured on {series.name} {revision.label}: which of its "
        f"{counted(patches, 'patch')} is it?"
        if patches >= FEWEST_CANDIDATES
        else f"{series.name} {revision.label} is {counted(patches, 'patch')}: {NO_SEARCH} "
        f"`mitigauge series show {series.name}` has what it costs. {BY_HAND}",
    )


def _over_arms(worse: Arm, all_arms: Sequence[Arm]) -> _Over:
    """From the baseline to the arm that is worse, over the kernels between them if it is those."""
    baseline = next(arm for arm in all_arms if arm.is_baseline)
    if worse.kernel == baseline.kernel:
        return _Over(
            arms=[_named(baseline), _named(worse)],
            changes=1,
            why="One kernel in two modes: the mode itself is the only change between them, and "
            f"{NO_SEARCH} `mitigauge experiment submit` measures both again. {BY_HAND}",
        )
    between = [
        arm
        for arm in all_arms
        if arm.full_mode == worse.full_mode
        and not arm.is_aa
        and baseline.position <= arm.position <= worse.position
    ]
    chosen = _distinct([baseline, *between, worse])
    steps = len(chosen) - 1
    return _Over(
        arms=[_named(arm) for arm in chosen],
        changes=steps,
        why=f"Over the kernels of its arms, in their order: {counted(steps, 'change')}."
        + _where_one(steps),
    )


def _distinct(arms: Sequence[Arm]) -> list[Arm]:
    return [next(group) for _, group in groupby(arms, key=lambda arm: (arm.full_mode, arm.kernel))]


def _named(arm: Arm) -> tuple[str, str, str]:
    return arm.name, arm.full_mode, arm.kernel


def _over_kernels(mode: str, kernels: Sequence[str]) -> _Over:
    """Over the kernels that the values before, within and after the change ran on."""
    distinct = [kernel for kernel, _ in groupby(kernels) if kernel]
    if len(distinct) < 2 or distinct[0] == distinct[-1]:
        same = f" ({distinct[0]})" if distinct else ""
        return _Over(
            why=f"The values before and after ran on one kernel{same}: what changed is no "
            f"patch of it. {BY_HAND}"
        )
    steps = len(distinct) - 1
    return _Over(
        arms=[(f"kernel-{at}", mode, kernel) for at, kernel in enumerate(distinct)],
        changes=steps,
        why=f"Over the kernels that were measured around the change: {counted(steps, 'change')}."
        + _where_one(steps),
    )


def _where_one(changes: int) -> str:
    if changes >= FEWEST_CANDIDATES:
        return ""
    return f" With one change {NO_SEARCH} To divide it: {BY_HAND}"
