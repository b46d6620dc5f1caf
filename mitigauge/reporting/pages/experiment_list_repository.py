"""SQL of the list of experiments, for the driver itself: SQLAlchemy takes long to load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from mitigauge.measurement.experiments.filter import ExperimentFilter, Sort, number_in
from mitigauge.measurement.runs.states import OPEN_BOOT_STATES
from mitigauge.storage.database.like import within
from mitigauge.storage.database.natural_sql import natural_sql

# A boot that was made again counts once, by its last attempt.
_SUMMARIES: Final = """
with matching as (select e.id, e.name from experiment e {where}),
page as (
  select e.id, e.name, question, state, submitted_by, created_at, started_at, finished_at,
    headline, worst_effect_percent, worst_bound, case when recorded_at is not null
      then jsonb_build_object('at', recorded_at, 'host', recorded_from) end as recorded
  from matching join experiment e using (id)
  where %(before)s::bigint is null or e.id < %(before)s
  order by {order} offset %(offset)s limit %(limit)s),
places as (
  select distinct on (boot.run_id, boot.block, boot.place) run.experiment_id, boot.state,
    boot.started_at
  from page join comparison on comparison.experiment_id = page.id
    join run on run.comparison_id = comparison.id join boot on boot.run_id = run.id
  order by boot.run_id, boot.block, boot.place, boot.attempt desc),
counted as (
  select experiment_id, count(*) as boots_total,
    count(*) filter (where state <> all(%(open)s) and started_at is not null) as boots_done,
    count(*) filter (where state <> all(%(open)s) and started_at is null) as boots_left_out
  from places group by experiment_id),
machines as (
  select experiment_id, bool_or(emulated) as emulated, bool_or(counted) as counted,
    array_agg(name order by first) as hosts
  from (
    select run.experiment_id, host.name, bool_or(host.emulated) as emulated,
      bool_or(run.clock = 'counted') as counted, min(run.id) as first
    from page join comparison on comparison.experiment_id = page.id
      join run on run.comparison_id = comparison.id join host on host.id = run.host_id
    group by run.experiment_id, host.name) as each_host
  group by experiment_id)
select e.*, coalesce(emulated, false) as emulated, coalesce(counted, false) as counted,
  coalesce(hosts, '{{}}') as hosts, total,
  coalesce(boots_done, 0) as boots_done, coalesce(boots_left_out, 0) as boots_left_out,
  coalesce(boots_total, 0) as boots_total
from (select count(*) as total from matching) as whole
  left join page e on true
  left join counted on counted.experiment_id = e.id
  left join machines on machines.experiment_id = e.id
order by {order}
"""
_ORDERS: Final = {
    Sort.NEWEST: "e.id desc",
    Sort.OLDEST: "e.id",
    Sort.NAME: f"{natural_sql('lower(e.name)')}, e.id desc",
    Sort.EFFECT: "abs(e.worst_effect_percent) desc nulls last, e.id desc",
}
_OF_RUN: Final = """exists (
  select from comparison c join run r on r.comparison_id = c.id join host h on h.id = r.host_id
  where c.experiment_id = e.id and h.name = %(host)s)"""
_OF_CASE: Final = """exists (
  select from comparison c join benchmark_case b on b.comparison_id = c.id
  where c.experiment_id = e.id and b.workload = %(workload)s)"""
_OF_ARM: Final = """exists (
  select from comparison c join arm a on a.comparison_id = c.id
  where c.experiment_id = e.id and {pairs})"""
_OF_VERDICT: Final = """e.id in (
  select r.experiment_id from run r where r.verdicts @> array[%(verdict)s::varchar])"""


def summaries_asked(
    wanted: ExperimentFilter, *, before: int | None, offset: int, limit: int
) -> tuple[str, Mapping[str, Any]]:
    """Statement and parameters of a page of experiments: rows with the total of all pages.

    Where the page is empty, one row has the total and no id.
    """
    conditions, given = _conditions(wanted)
    where = f"where {' and '.join(conditions)}" if conditions else ""
    statement = _SUMMARIES.format(where=where, order=_ORDERS[wanted.sort])
    states = [str(state) for state in OPEN_BOOT_STATES]
    return statement, {
        **given, "before": before, "offset": offset, "limit": limit, "open": states,
    }  # fmt: skip


def _conditions(wanted: ExperimentFilter) -> tuple[list[str], dict[str, Any]]:
    found: list[str] = []
    given: dict[str, Any] = {
        "states": [str(state) for state in wanted.states],
        "who": wanted.who,
        "since": wanted.since,
        "until": wanted.until,
        "host": wanted.host,
        "workload": wanted.workload,
        "verdict": wanted.verdict and str(wanted.verdict),
    }
    for place, word in enumerate(wanted.words):
        found.append(_word(place, word, given))
    if wanted.states:
        found.append("e.state = any(%(states)s)")
    if wanted.who:
        found.append("e.submitted_by = %(who)s")
    if wanted.since:
        found.append("e.created_at >= %(since)s")
    if wanted.until:
        found.append("e.created_at < %(until)s")
    if wanted.host:
        found.append(_OF_RUN)
    if wanted.workload:
        found.append(_OF_CASE)
    if wanted.modes:
        found.append(_OF_ARM.format(pairs=" and ".join(_pairs(wanted.modes, given))))
    if wanted.verdict:
        found.append(_OF_VERDICT)
    return found, given


def _word(place: int, word: str, given: dict[str, Any]) -> str:
    name = f"word{place}"
    given[name] = within(word)
    condition = has_word(("e.name", "e.question", "e.submitted_by"), name, word)
    number = number_in(word)
    if number is None:
        return condition
    given[f"number{place}"] = number
    return f"({condition} or e.id = %(number{place})s::bigint)"


def has_word(columns: Sequence[str], name: str, word: str) -> str:
    """A condition that one of *columns* has *word*, whatever its case; *name*: of its pattern.

    A word has no ends of lines, which stand between the columns. Letters beyond ASCII take
    PostgreSQL six times as long to compare, so that only words that have some ask for it.
    """
    collation = ' collate "C"' if word.isascii() else ""
    joined = " || E'\\n' || ".join(columns)
    return f"({joined}){collation} ilike %({name})s"


def _pairs(modes: Sequence[tuple[str, str]], given: dict[str, Any]) -> Iterable[str]:
    """Conditions that an arm has each of the modes, which may be one of several that it joins."""
    for place, (family, mode) in enumerate(modes):
        given[f"family{place}"], given[f"mode{place}"] = family, mode
        of_mode = f" and mode = %(mode{place})s" if mode else ""
        yield (
            f"((a.family = %(family{place})s{of_mode.replace('mode =', 'a.mode =')})"
            " or (strpos(a.family, '+') > 0 and exists (select from"
            " unnest(string_to_array(a.family, '+'), string_to_array(a.mode, '+'))"
            f" as pair(family, mode) where family = %(family{place})s{of_mode})))"
        )


# Each is sorted where it is shown.
CHOICES: Final = """
select (select coalesce(array_agg(distinct submitted_by), '{}') from experiment) as who,
  (select coalesce(array_agg(distinct name), '{}') from host
    where exists (select from run where run.host_id = host.id)) as hosts,
  (select coalesce(array_agg(distinct workload), '{}') from benchmark_case) as workloads,
  (select coalesce(array_agg(family || '/' || mode), '{}') from (
    select distinct family, mode from arm where strpos(family, '+') = 0) as each_mode) as modes
"""
NEWEST: Final = """
select (select max(id) from experiment) as experiment, (select max(id) from arm) as arm,
  (select max(id) from run) as run
"""
