"""What a spec would plan: boots, values, hosts, and how long these will be busy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.kernels.recipe import is_ours
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.checks import check_text
from mitigauge.measurement.experiments.spec_model import (
    BUILT,
    ComparisonSpec,
    ExperimentSpec,
    PlannedSize,
    cases_of,
    count_of,
)
from mitigauge.measurement.experiments.submit import expected_seconds, kernel_releases
from mitigauge.measurement.fleet import repository as fleet
from mitigauge.measurement.fleet.availability import kept_from
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs import count_repository as run_counts
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.reporting.pages.forecast_schemas import (
    ComparisonForecast,
    HostForecast,
    SpecForecast,
)
from mitigauge.storage.database.engine import database_now


def forecast(session: Session, text: str, *, name: str) -> SpecForecast:
    """Check a spec as if it were submitted, and say what it would plan.

    Raises :class:`InvalidInput` and :class:`NotFound` exactly as its submission would.
    """
    catalog = Catalog()
    spec, _ = check_text(text, name=name, catalog=catalog)
    kernel_releases(session, spec)
    known = _Known.of(session, spec)
    hosts = [_of_host(host, spec, catalog, known) for host in _hosts_of(spec)]
    comparisons = [_of_comparison(spec, each, catalog) for each in spec.comparisons]
    times = [host.takes_s for host in hosts]
    return SpecForecast(
        name=spec.name,
        question=spec.question.strip(),
        environment=spec.environment,
        comparisons=comparisons,
        hosts=hosts,
        boots=sum(each.boots for each in comparisons),
        kernels_of_hosts=sorted(
            {
                arm.kernel
                for each in spec.comparisons
                for arm in each.arms
                if arm.kernel and not arm.kernel.startswith(BUILT) and not is_ours(arm.kernel)
            }
        ),
        takes_s=None if None in times else max(time for time in times if time is not None),
    )


def _hosts_of(spec: ExperimentSpec) -> list[str]:
    return list(dict.fromkeys(host for each in spec.comparisons for host in each.hosts))


def _of_comparison(
    spec: ExperimentSpec, wanted: ComparisonSpec, catalog: Catalog
) -> ComparisonForecast:
    size = PlannedSize.of(spec, wanted, catalog)
    names = sorted((arm.name for arm in wanted.arms), key=lambda arm: arm != wanted.baseline)
    return ComparisonForecast(
        name=wanted.name,
        arms=names,
        hosts=list(wanted.hosts),
        blocks=spec.blocks_of(wanted),
        cases=sum(count_of(catalog.workloads[each.workload], each) for each in wanted.workloads),
        boots=size.boots,
        values=size.values,
    )


@dataclass(frozen=True)
class _Known:
    """What is known of the spec's hosts, by name."""

    rows: Mapping[str, Host]
    usual_s: Mapping[int, tuple[int, float, float | None]]
    busy: Mapping[int, int]
    kept: Mapping[str, str]

    @classmethod
    def of(cls, session: Session, spec: ExperimentSpec) -> _Known:
        named = set(_hosts_of(spec))
        rows = {
            host.name: host
            for host in fleet.all_hosts(session)
            if host.environment == spec.environment and host.name in named
        }
        now = database_now(session)
        busy: dict[int, int] = defaultdict(int)
        for run in run_rows.unfinished_runs(session):
            busy[run.host_id] += 1
        kept = {name: kept_from(host, now) for name, host in rows.items()}
        return cls(
            rows=rows,
            usual_s=run_counts.boot_seconds_by_host(session, [host.id for host in rows.values()]),
            busy=busy,
            kept={name: each.why for name, each in kept.items() if each is not None},
        )


def _of_host(name: str, spec: ExperimentSpec, catalog: Catalog, known: _Known) -> HostForecast:
    mine = [each for each in spec.comparisons if name in each.hosts]
    boots = [spec.blocks_of(each) * each.size for each in mine]
    measuring = [_seconds_of(each, catalog) for each in mine]
    host = known.rows.get(name)
    usual = known.usual_s.get(host.id) if host else None
    # The boots before may have measured less, or nothing: the workloads' own times are the least.
    takes = [
        number * max(usual[1], each)
        for number, each in zip(boots, measuring, strict=True)
        if usual is not None
    ]
    return HostForecast(
        host=name,
        boots=sum(boots),
        measuring_s=_total(boots, measuring),
        takes_s=sum(takes) if usual else None,
        emulated=host.emulated if host else None,
        waiting=known.busy.get(host.id, 0) if host else 0,
        kept=known.kept.get(name, ""),
    )


def _total(boots: Sequence[int], seconds: Sequence[float]) -> float:
    return sum(number * each for number, each in zip(boots, seconds, strict=True))


def _seconds_of(wanted: ComparisonSpec, catalog: Catalog) -> float:
    """What one boot of the comparison measures, in seconds."""
    return sum(
        expected_seconds(catalog.workloads[selection.workload], selection, case)
        for selection in wanted.workloads
        for case in cases_of(catalog.workloads[selection.workload], selection)
    )
