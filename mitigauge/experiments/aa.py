"""False alarms, counted: what was said of arms that are the baseline once more."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.experiments import repository
from mitigauge.experiments.host_schemas import AaRateView
from mitigauge.experiments.judging import judge_double, value_map
from mitigauge.experiments.tables import AaOutcome, Run
from mitigauge.stats.rates import rate_interval

ALARMS = ("better", "worse")


def record_aa(session: Session, run: Run) -> None:
    """Store the verdicts on the run's doubled arm, once the run is over; none without one."""
    if not any(arm.is_double for arm in run.comparison.arms):
        return
    values = value_map(repository.values_of(session, [run.id]))
    session.add_all(
        AaOutcome(
            run_id=run.id,
            case_id=case.id,
            metric=metric,
            verdict=verdict.verdict or "undecided",
            effect_percent=verdict.effect_percent,
            p=verdict.p,
            blocks=verdict.blocks,
        )
        for case, metric, verdict in judge_double(run.comparison, run, run.boots, values)
    )


def false_alarm_rates(session: Session, host_id: int) -> list[AaRateView]:
    """Measured rates of one host, by workload and metric."""
    views = []
    for workload, metric, counts in repository.aa_counts(session, host_id):
        alarms, total = sum(counts.get(v, 0) for v in ALARMS), sum(counts.values())
        low, high = rate_interval(alarms, total)
        views.append(
            AaRateView(
                workload=workload,
                metric=metric,
                comparisons=total,
                alarms=alarms,
                undecided=counts.get("undecided", 0),
                rate_percent=100 * alarms / total,
                ci_low_percent=100 * low,
                ci_high_percent=100 * high,
            )
        )
    return views
