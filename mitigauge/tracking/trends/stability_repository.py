"""How far verdicts agree where the same two arms were compared again.

The same question: the same case, metric, mode and kernel of both arms, on the same class of hosts.
A verdict and the next one of the same question are a pair. They agree if both say the same word.
"""

from __future__ import annotations

from sqlalchemy import delete, text
from sqlalchemy.orm import Session

from mitigauge.tracking.trends.tables import VerdictStability

# Kernels are those that boots really ran. A doubled arm has no verdict of its own here.
_COUNT = text("""
    with judged as (
      select r.experiment_id,
        h.environment, h.host_class, h.emulated, h.clock, c.workload, v.verdict, v.given_at,
        dense_rank() over (order by h.environment, h.host_class, h.emulated, h.clock, c.workload,
          c.parameters, v.metric, a.family, a.mode, ka.kernel, b.family, b.mode, kb.kernel)
          as question
      from verdict v
        join run r on r.id = v.run_id
        join host h on h.id = r.host_id
        join benchmark_case c on c.id = v.case_id
        join arm a on a.id = v.arm_id and not a.is_baseline and not a.is_aa
        join arm b on b.comparison_id = a.comparison_id and b.is_baseline
        join trend_arm ka on ka.run_id = r.id and ka.arm_id = a.id
        join trend_arm kb on kb.run_id = r.id and kb.arm_id = b.id
      where v.superseded_at is null and v.given_at is not null and v.verdict is not null),
    paired as (
      select *, lag(verdict) over (partition by question order by given_at) as before from judged),
    counted as (
      select experiment_id, environment, host_class, emulated, clock, workload, question,
        verdict, before
      from paired where before is not null)
    insert into verdict_stability (environment, host_class, emulated, clock, workload,
      questions, experiments, pairs, agreed, opposite, undecided)
    select environment, host_class, emulated, clock, coalesce(workload, ''),
      count(distinct question), count(distinct experiment_id), count(*),
      count(*) filter (where verdict = before),
      count(*) filter (where (verdict, before) in (('better', 'worse'), ('worse', 'better'))),
      count(*) filter (where verdict <> before and 'undecided' in (verdict, before))
    from counted
    group by grouping sets (
      (environment, host_class, emulated, clock, workload),
      (environment, host_class, emulated, clock))
""")


def store(session: Session) -> None:
    """Count anew, by host class and workload, and by host class alone."""
    session.execute(delete(VerdictStability))
    session.execute(_COUNT)
