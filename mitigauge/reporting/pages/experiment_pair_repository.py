"""SQL of two experiments beside each other, for the driver itself: thousands of rows each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Row
from sqlalchemy.orm import Session

from mitigauge.measurement.runs.states import BootState
from mitigauge.storage.database.engine import BINARY

_CASES: Final = """
select c.comparison_id, c.metrics::text as metrics, c.id, c.workload, c.title,
  c.parameters::text as parameters, c.profile_hz is not null as profiled, c.iterations
from benchmark_case c join comparison on comparison.id = c.comparison_id
where comparison.experiment_id = %(experiment)s
order by c.comparison_id, c.position
"""
_CELLS: Final = """
select run_id, case_id, metric, arm_id, state, n, blocks, mean, effect_percent, ci_low_percent,
  ci_high_percent, verdict, bound, decided_after
from verdict where run_id = any(%(runs)s) and superseded_at is null
"""
# Boot by boot, which the planner does not do by itself: the cases of a boot lie together.
_LEVELS: Final = """
with of_boot as materialized (
  select boot.run_id, m.case_id, m.metric, boot.arm_id, m.mean,
    case when m.mean > 0 then ln(m.mean) end as log
  from boot cross join lateral (
    select case_id, metric, mean from measurement
    where boot_id = boot.id and case_id = any(%(cases)s) offset 0) m
  where boot.run_id = any(%(runs)s) and boot.state = %(state)s)
select run_id, case_id, metric, arm_id, count(*) as boots, min(mean) as least, avg(mean) as mean,
  var_samp(mean) as variance, avg(log) as log_mean, var_samp(log) as log_variance
from of_boot group by run_id, case_id, metric, arm_id
"""


def cases_of(session: Session, experiment_id: int) -> Sequence[Row[Any]]:
    """The experiment's cases in order: comparison and metrics, then the fields of a case.

    Metrics and parameters are one canonical text each.
    """
    return _rows(session, _CASES, experiment=experiment_id)


def cells_of(session: Session, run_ids: Iterable[int]) -> Sequence[Row[Any]]:
    """What is said now of every case, metric and arm of the runs."""
    return _rows(session, _CELLS, runs=list(run_ids))


def levels_of(
    session: Session, run_ids: Iterable[int], case_ids: Iterable[int]
) -> Sequence[Row[Any]]:
    """Mean and variance over the boots' means, as they are and as logarithms, of some cases."""
    given = {"runs": list(run_ids), "cases": list(case_ids), "state": BootState.EFFECTIVE.value}
    return _rows(session, _LEVELS, **given)


def _rows(session: Session, statement: str, **given: Any) -> Sequence[Row[Any]]:
    connection = session.connection()
    return connection.exec_driver_sql(statement, given, execution_options=BINARY).all()
