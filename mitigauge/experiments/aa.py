"""False alarms, counted: what was said of arms that are the baseline once more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from mitigauge.experiments import repository
from mitigauge.experiments.host_schemas import AaRateView
from mitigauge.experiments.judging import ValueMap, judge_double
from mitigauge.experiments.tables import Boot, Run
from mitigauge.stats.rates import rate_interval

ALARMS = ("better", "worse")


def double_outcomes(run: Run, boots: Sequence[Boot], values: ValueMap) -> list[dict[str, Any]]:
    """Rows of :class:`AaOutcome` for the run's doubled arm; none without one."""
    return [
        {
            "run_id": run.id,
            "case_id": case.id,
            "metric": metric,
            "verdict": verdict.verdict or "undecided",
            "effect_percent": verdict.effect_percent,
            "p": verdict.p,
            "blocks": verdict.blocks,
        }
        for case, metric, verdict in judge_double(run.comparison, run, boots, values)
    ]


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
