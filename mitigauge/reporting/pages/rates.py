"""How often the cases of a published table do an operation, out of an experiment's collectors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy.orm import Session

from mitigauge.analysis.claims.files import ClaimFile
from mitigauge.analysis.prices.claim_prediction import Rate
from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.collectors import repository as collected
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.tables import Case
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.tables import Run
from mitigauge.measurement.workloads.definitions import Value

DIGITS = 1


class CountedRates(NamedTuple):
    """Rates by case, and what one operation took on the host that counted them."""

    cases: list[Rate]
    there_ns: float
    host: str
    emulated: bool


class _Told(NamedTuple):
    per_second: float
    vcpus: float


def counted_rates(
    session: Session, experiment_id: int, claims: ClaimFile, counter: str
) -> CountedRates:
    """Of the baseline's boots: the geometric mean, and the least and most of cases alike.

    *counter*: COLLECTOR/COLUMN, as workloads say what they are the cost of. Raises
    :class:`InvalidInput` where no case counted it or none measured its cost, and NotFound.
    """
    experiment_rows.experiment(session, experiment_id)
    for run in run_rows.runs_of(session, experiment_id):
        boots = [
            line.id for line in run_rows.effective_lines(session, [run.id])
            if line.arm_id in {arm.id for arm in run.comparison.arms if arm.is_baseline}
        ]  # fmt: skip
        told = _by_case(session, boots, counter)
        cost = _cost(session, run, boots, counter)
        if told and cost:
            cases = list(_rates(run.comparison.cases, told, claims))
            if cases:
                return CountedRates(cases, round(cost, DIGITS), run.host.name, run.host.emulated)
    raise InvalidInput(
        f"experiment {experiment_id} counted no {counter} beside a case of {claims.name}",
        hint=f"Its spec needs `collect: [{counter.partition('/')[0]}]` at such cases, and a case "
        "of a workload that measures what one costs (`exits`).",
    )


def _by_case(session: Session, boots: Sequence[int], counter: str) -> dict[int, list[_Told]]:
    """By case: one entry a boot."""
    collector, _, column = counter.partition("/")
    found: dict[int, list[_Told]] = {}
    for one in collected.told_of(session, boots, collector=collector):
        rate = one.rates.get(column, 0.0)
        if not one.absent and rate > 0:
            found.setdefault(one.case_id, []).append(_Told(rate, one.means.get("vcpus", 1.0)))
    return found


def _cost(session: Session, run: Run, boots: Sequence[int], counter: str) -> float | None:
    """Mean ns of the case whose workload says that it is the cost of *counter*."""
    workloads = Catalog().workloads
    measuring = {
        case.id
        for case in run.comparison.cases
        if case.workload in workloads
        for cost in workloads[case.workload].cost_of
        if cost.rate == counter and cost.measured_by(case.parameters)
    }
    values = [of.mean for of in result_rows.means_of(session, boots) if of.case_id in measuring]
    return sum(values) / len(values) if values else None


def _rates(
    cases: Sequence[Case], told: Mapping[int, Sequence[_Told]], claims: ClaimFile
) -> list[Rate]:
    found: list[Rate] = []
    for claimed in (claim.case for claim in claims.claims):
        if any(rate.case == claimed for rate in found):
            continue
        alike = [case for case in cases if _is_of(case, claims.workload, claimed)]
        rows = [row for case in alike for row in told.get(case.id, ())]
        if rows:
            found.append(_rate(claimed, rows))
    return found


def _is_of(case: Case, workload: str, claimed: Mapping[str, Value]) -> bool:
    return case.workload == workload and all(
        case.parameters.get(name) == value for name, value in claimed.items()
    )


def _rate(claimed: Mapping[str, Value], rows: Sequence[_Told]) -> Rate:
    values = [row.per_second for row in rows]
    return Rate(
        case=dict(claimed),
        per_second=round(math.exp(sum(map(math.log, values)) / len(values)), DIGITS),
        low=round(min(values), DIGITS),
        high=round(max(values), DIGITS),
        processors=int(claimed.get("vcpus") or max(1, round(max(row.vcpus for row in rows)))),
    )
