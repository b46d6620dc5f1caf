"""Experiments, trends, hosts and regressions by the thousand, made up and put into the tables."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, Engine, text


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is."""

    experiments: int = 5_000
    trends: int = 10_000
    hosts: int = 200
    regressions: int = 2_000
    cases: int = 10
    arms: int = 3
    blocks: int = 4


WORDS = "array['udp','tcp','pipe','fork','mmap','open','futex','exec','poll','null']"
_STATEMENTS = (
    "insert into host (environment, name, host_class, machine, emulated, capabilities)"
    " select 'bench', 'host-' || i, 'class-' || i % 9, 'machine-' || i, i % 5 = 0, '[]'"
    " from generate_series(1, :hosts) i",
    "insert into experiment (name, question, environment, seed, spec_text, submitted_by, state,"
    " headline, created_at, started_at, finished_at)"
    f" select 'cost of ' || ({WORDS})[i % 10 + 1] || ' ' || i, 'What does ' ||"
    f" ({WORDS})[i / 10 % 10 + 1] || ' cost on this hardware, and in which of its modes?',"
    " 'bench', i, '', 'person-' || i % 25,"
    " case when i % 50 = 0 then 'failed' when i > :experiments - 3 then 'running'"
    " else 'finished' end, 'udp +3.1 %', at, at, at"
    " from (select i, timestamptz '2026-01-01' + i * interval '90 minutes' as at"
    " from generate_series(1, :experiments) i) as each order by i",
    "insert into comparison (experiment_id, position, name, blocks)"
    " select id, 0, 'modes', :blocks from experiment order by id",
    "insert into arm (comparison_id, position, name, family, mode, title, family_title, kernel,"
    " is_baseline, settings, lab_cmdline, expect)"
    " select id, i, 'mode-' || i, 'family-' || id % 8, 'mode-' || i, '', '', '', i = 0, '{}', '',"
    " '[]' from comparison, generate_series(0, :arms - 1) i order by id, i",
    "insert into benchmark_case (comparison_id, position, workload, title, parameters, iterations,"
    " warmup, timeout_s, expected_s, metrics)"
    " select id, i, 'workload-' || (id + i) % 12, 'load ' || i, '{}', 5, 0, 60, 1,"
    ' \'{"time": {"unit": "ns", "direction": "lower", "title": "Time", "primary": true}}\''
    " from comparison, generate_series(0, :cases - 1) i order by id, i",
    "insert into run (experiment_id, comparison_id, host_id, state, started_at, finished_at)"
    " select experiment_id, comparison.id, comparison.id % :hosts + 1, 'finished', now(), now()"
    " from comparison order by comparison.id",
    "insert into boot (run_id, arm_id, block, place, state, nonce)"
    " select run.id, arm.id, block, arm.position + 1, 'effective', run.id || '-' || arm.id || '-'"
    " || block from run join arm using (comparison_id), generate_series(1, :blocks) block",
    "insert into verdict (run_id, case_id, metric, arm_id, version, state, n, blocks, verdict,"
    " effect_percent, note, boots, disturbed, unsteady, rules, reason, given_at)"
    " select run.id, b.id, 'time', arm.id, 1, 'measured', 4, 4, case when (b.id + arm.id) % 40 = 0"
    " then 'worse' when (b.id + arm.id) % 90 = 0 then 'better' when b.id % 4 = 0 then 'undecided'"
    " else 'same' end, 1.0, '', '{}', 0, 0, 1, '', now()"
    " from run join arm using (comparison_id) join benchmark_case b using (comparison_id)"
    " where not arm.is_baseline",
    "update run set verdicts = array(select distinct verdict from verdict where run_id = run.id)",
    "insert into trend (environment, host_class, emulated, clock, workload, case_key, case_title,"
    " metric, unit, mode, line, metric_title, direction, is_primary, delta_percent, changed_at)"
    " select 'bench', 'class-' || i % 9, true, 'real', 'workload-' || i % 12, 'key ' || i,"
    f" ({WORDS})[i % 10 + 1] || ' size ' || i, 'time', 'ns', 'family/mode-' || i % 7, 'mainline',"
    " 'Time a call', 'lower', true, 1, case when i % 3 = 0 then now() - i * interval '1 minute' end"
    " from generate_series(1, :trends) i",
    "insert into regression (origin, trend_id, change_id, environment, host_class, hosts, emulated,"
    " clock, workload, case_title, metric, metric_title, mode, before, happened_at, state)"
    " select 'trend', id, id, environment, host_class, '[]', true, 'real', workload, case_title,"
    " metric, metric_title, mode, 'before', now(), 'new' from trend order by id limit :regressions",
)


def fill(engine: Engine, size: Size) -> None:
    """Put all of it into an empty database."""
    given = {name: getattr(size, name) for name in Size.__dataclass_fields__}
    with engine.begin() as connection:
        for statement in _STATEMENTS:
            _run(connection, statement, given)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("vacuum analyze"))


def _run(connection: Connection, statement: str, given: dict[str, int]) -> None:
    asked = text(statement.replace('": ', '"\\: '))
    names = set(asked.compile().params)
    connection.execute(asked, {name: given[name] for name in names})
