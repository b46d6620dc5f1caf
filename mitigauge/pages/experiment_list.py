"""The list of experiments, counted in SQL and read without SQLAlchemy, which takes long to load."""

from __future__ import annotations

from mitigauge.database.direct import direct_connection
from mitigauge.pages.limits import PAGE_SIZE
from mitigauge.pages.schemas import ExperimentPage, ExperimentSummary
from mitigauge.runs.states import OPEN_BOOT_STATES

# A boot that was made again counts once, by its last attempt.
_SUMMARIES = """
with page as (
  select id, name, question, state, submitted_by, created_at, started_at, finished_at, headline,
    case when recorded_at is not null
      then jsonb_build_object('at', recorded_at, 'host', recorded_from) end as recorded
  from experiment where %(before)s::bigint is null or id < %(before)s
  order by id desc limit %(limit)s),
places as (
  select distinct on (boot.run_id, boot.block, boot.place) run.experiment_id, boot.state
  from page join run on run.experiment_id = page.id join boot on boot.run_id = run.id
  order by boot.run_id, boot.block, boot.place, boot.attempt desc),
counted as (
  select experiment_id, count(*) as boots_total,
    count(*) filter (where state <> all(%(open)s)) as boots_done
  from places group by experiment_id),
machines as (
  select experiment_id, bool_or(emulated) as emulated, bool_or(counted) as counted,
    array_agg(name order by first) as hosts
  from (
    select run.experiment_id, host.name, bool_or(host.emulated) as emulated,
      bool_or(run.clock = 'counted') as counted, min(run.id) as first
    from page join run on run.experiment_id = page.id join host on host.id = run.host_id
    group by run.experiment_id, host.name) as each_host
  group by experiment_id)
select page.*, coalesce(emulated, false) as emulated, coalesce(counted, false) as counted,
  coalesce(hosts, '{}') as hosts,
  coalesce(boots_done, 0) as boots_done, coalesce(boots_total, 0) as boots_total
from page
  left join counted on counted.experiment_id = page.id
  left join machines on machines.experiment_id = page.id
order by page.id desc
"""


def listed(*, before: int | None = None, limit: int = PAGE_SIZE) -> ExperimentPage:
    """A page of experiments, newest first: those with an id below *before*, if it is given.

    The same as :func:`mitigauge.pages.experiments.list_experiments`. Raises
    :class:`mitigauge.errors.NotReady` where the database is not at head.
    """
    given = {
        "before": before,
        "limit": limit + 1,
        "open": [str(state) for state in OPEN_BOOT_STATES],
    }
    with direct_connection() as connection:
        rows = connection.execute(_SUMMARIES, given).fetchall()
    found = [ExperimentSummary(**row) for row in rows[:limit]]
    return ExperimentPage(experiments=found, next=found[-1].id if len(rows) > limit else None)
