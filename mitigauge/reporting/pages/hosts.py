"""Hosts as people see them: with the boots and experiments they took part in."""

from __future__ import annotations

import shlex
from urllib.parse import quote

from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts import noise_repository
from mitigauge.analysis.verdicts import repository as verdict_rows
from mitigauge.analysis.verdicts.repository import DoubledCounts
from mitigauge.core.effect import Verdict
from mitigauge.core.errors import Conflict, NotFound
from mitigauge.core.stats.rates import rate_interval
from mitigauge.measurement.fleet import repository as fleet
from mitigauge.measurement.fleet.absence_repository import absences_of, absent_seconds
from mitigauge.measurement.fleet.facts import own_facts
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.drift import host_changes
from mitigauge.measurement.runs.drift_repository import facts_of, print_changes
from mitigauge.measurement.runs.host_time_repository import host_times, wasted_seconds
from mitigauge.reporting.pages.experiments import summaries
from mitigauge.reporting.pages.host_list import EVERY_HOST, HostFilter, in_order
from mitigauge.reporting.pages.host_list_repository import hosts_asked
from mitigauge.reporting.pages.host_schemas import (
    AbsenceView,
    DoubledRateView,
    DriftView,
    FactChangeView,
    FingerprintView,
    HostHoursView,
    HostSummary,
    HostView,
    MetricNoiseView,
)
from mitigauge.reporting.pages.limits import PAGE_SIZE
from mitigauge.reporting.pages.queue import host_queues
from mitigauge.storage.database.engine import database_now, driver_rows

# Runs whose noise is shown, and changes of the host, the newest.
NOISE_RUNS, MOST_DRIFTS = 20, 100


def list_hosts(session: Session, wanted: HostFilter = EVERY_HOST) -> list[HostSummary]:
    """Hosts that ever took part in an experiment, host-2 before host-10."""
    return in_order(driver_rows(session, *hosts_asked()), wanted)


def _summary(session: Session, host_id: int) -> HostSummary:
    [found] = in_order(driver_rows(session, *hosts_asked(host_id)))
    return found


def show_host(session: Session, name: str, environment: str | None = None) -> HostView:
    """One host by name. Raises :class:`NotFound` naming the known ones.

    Raises :class:`Conflict` for a name that several environments have, if none is given.
    """
    found = [
        host for host in fleet.hosts_named(session, name) if environment in (None, host.environment)
    ]
    if not found:
        known = ", ".join(host.name for host in fleet.all_hosts(session)) or "none yet"
        raise NotFound(
            f"there is no host {name!r}",
            hint=f"Known: {known}. A host appears with its first experiment.",
        )
    if len(found) > 1:
        environments = " and ".join(f"{host.environment!r}" for host in found)
        raise Conflict(
            f"there is a host {name!r} in each of the environments {environments}",
            hint=f"Say which: --environment {shlex.quote(found[0].environment)}, or "
            f"/hosts/{name}?environment={quote(found[0].environment)} in a browser.",
        )
    host = found[0]
    boots = run_rows.boot_counts_by_fingerprint(session, host.id)
    return HostView(
        **_summary(session, host.id).model_dump(),
        fingerprints=[
            FingerprintView(
                id=f.id,
                digest=f.digest,
                first_seen_at=f.first_seen_at,
                last_seen_at=f.last_seen_at,
                boots=boots.get(f.id, 0),
                facts=own_facts(f.facts),
            )
            for f in fleet.fingerprints_of(session, host.id)
        ],
        drift=_drift(session, host.id),
        noise=_noise(session, host.id),
        hours=_hours(session, host.id),
        absences=[
            AbsenceView.model_validate(each)
            for each in absences_of(session, host.id, limit=PAGE_SIZE)
        ],
        queue=next(
            (q for q in host_queues(session, name) if q.environment == host.environment), None
        ),
        doubled=_doubled_rates(session, host.id),
        experiments=summaries(
            session, run_rows.experiments_on_host(session, host.id, limit=PAGE_SIZE)
        ),
    )


def _drift(session: Session, host_id: int) -> list[DriftView]:
    """When the host became another machine, the newest first."""
    changes = print_changes(session, host_id=host_id)[-MOST_DRIFTS:]
    facts = facts_of(session, changes)
    return [
        DriftView(
            at=change.at,
            from_id=change.previous,
            to_id=change.fingerprint_id,
            back=change.back,
            changed=[
                FactChangeView(name=of.name, before=of.before, after=of.after)
                for of in host_changes(facts[change.previous], facts[change.fingerprint_id])
            ],
        )
        for change in reversed(changes)
    ]


def _noise(session: Session, host_id: int) -> list[MetricNoiseView]:
    """Noise of the newest runs, by workload and metric."""
    newest = run_rows.newest_runs_on_host(session, host_id, limit=NOISE_RUNS)
    return [
        MetricNoiseView(
            workload=row.workload,
            metric=row.metric,
            cases=row.cases,
            boot_percent=row.boot,
            iteration_percent=row.iteration,
            boot_mean_percent=row.boot_mean,
            worst_percent=row.worst,
        )
        for row in noise_repository.medians(session, newest)
    ]


def _hours(session: Session, host_id: int) -> HostHoursView:
    times = host_times(session, run_rows.runs_on_host(session, host_id)).values()
    return HostHoursView(
        runs=len(times),
        held_s=sum(time.total_s for time in times),
        measuring_s=sum(time.measuring_s for time in times),
        booting_s=sum(time.booting_s for time in times),
        other_s=sum(time.other_s for time in times),
        wasted_s=wasted_seconds(session, host_id),
        lost_s=absent_seconds(session, host_id, database_now(session)),
    )


def _doubled_rates(session: Session, host_id: int) -> list[DoubledRateView]:
    """How often doubled baselines of one host were called changed, by spec, workload and metric."""
    of_runs = run_rows.days_on_host(session, host_id)
    return [_doubled_rate(counts) for counts in verdict_rows.doubled_counts(session, of_runs)]


def _undecided(counts: DoubledCounts) -> str:
    undecided = counts.verdicts.get(Verdict.UNDECIDED, 0)
    return f", {undecided} undecided" if undecided else ""


def _doubled_rate(counts: DoubledCounts) -> DoubledRateView:
    told = (Verdict.WORSE,) if counts.slowed_percent else (Verdict.BETTER, Verdict.WORSE)
    changed = sum(counts.verdicts.get(verdict, 0) for verdict in told)
    total = sum(counts.verdicts.values())
    low, high = rate_interval(changed, total, groups=counts.days)
    what = (
        f"a slow-down of {counts.slowed_percent} % was found"
        if counts.slowed_percent
        else "nothing changed was called changed"
    )
    return DoubledRateView(
        spec=counts.spec,
        workload=counts.workload,
        metric=counts.metric,
        slowed_percent=counts.slowed_percent,
        comparisons=total,
        days=counts.days,
        changed=changed,
        undecided=counts.verdicts.get(Verdict.UNDECIDED, 0),
        rate_percent=100 * changed / total,
        ci_low_percent=100 * low,
        ci_high_percent=100 * high,
        sentence=f"{what} in {changed} of {total}{_undecided(counts)}",
    )
