"""Hosts as people see them: with the boots and experiments they took part in."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.clock import Clock
from mitigauge.errors import Conflict, NotFound
from mitigauge.fleet import repository as fleet
from mitigauge.fleet.tables import Host
from mitigauge.runs import repository as run_rows
from mitigauge.runs.states import BootState
from mitigauge.stats.rates import rate_interval
from mitigauge.verdicts import repository as verdict_rows
from mitigauge.verdicts.states import Verdict
from mitigauge.views.experiments import summaries
from mitigauge.views.host_schemas import AaRateView, FingerprintView, HostSummary, HostView
from mitigauge.views.limits import PAGE_SIZE


def list_hosts(session: Session) -> list[HostSummary]:
    """All hosts that ever took part in an experiment."""
    counts = run_rows.boot_counts_by_host(session)
    holders = run_rows.experiment_names_by_run(session, run_rows.runs_holding_hosts(session))
    return [
        HostSummary(**_summary(host, counts.get(host.id, {}), holders.get(host.id, "")))
        for host in fleet.all_hosts(session)
    ]


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
        environments = ", ".join(host.environment for host in found)
        raise Conflict(
            f"there is a host {name!r} in each of {environments}",
            hint=f"Say which: --environment {found[0].environment}, or "
            f"/hosts/{name}?environment={found[0].environment} in a browser.",
        )
    host = found[0]
    counts = run_rows.boot_counts_by_host(session)
    holders = run_rows.experiment_names_by_run(session, run_rows.runs_holding_hosts(session))
    boots = run_rows.boot_counts_by_fingerprint(session, host.id)
    return HostView(
        **_summary(host, counts.get(host.id, {}), holders.get(host.id, "")),
        fingerprints=[
            FingerprintView(
                id=f.id,
                digest=f.digest,
                first_seen_at=f.first_seen_at,
                last_seen_at=f.last_seen_at,
                boots=boots.get(f.id, 0),
                facts=f.facts,
            )
            for f in fleet.fingerprints_of(session, host.id)
        ],
        aa=_false_alarm_rates(session, host.id),
        experiments=summaries(
            session, run_rows.experiments_on_host(session, host.id, limit=PAGE_SIZE)
        ),
    )


def _summary(host: Host, boots: dict[str, int], holder: str) -> dict[str, object]:
    made = sum(n for state, n in boots.items() if state not in ("planned", "skipped"))
    return {
        "name": host.name,
        "environment": host.environment,
        "host_class": host.host_class,
        "emulated": host.emulated,
        "clock": Clock(host.clock),
        "capabilities": host.capabilities,
        "power": host.power,
        "leased_by": holder,
        "last_seen_at": host.last_seen_at,
        "set_aside_at": host.set_aside_at,
        "set_aside_reason": host.set_aside_reason,
        "probe_at": host.probe_at,
        "boots": made,
        "lab_faults": boots.get(BootState.LAB_FAULT, 0),
    }


def _false_alarm_rates(session: Session, host_id: int) -> list[AaRateView]:
    """Measured rates of one host, by workload and metric."""
    views = []
    runs = run_rows.runs_on_host(session, host_id)
    for workload, metric, counts in verdict_rows.aa_counts(session, runs):
        alarms = sum(counts.get(verdict, 0) for verdict in (Verdict.BETTER, Verdict.WORSE))
        total = sum(counts.values())
        low, high = rate_interval(alarms, total)
        views.append(
            AaRateView(
                workload=workload,
                metric=metric,
                comparisons=total,
                alarms=alarms,
                undecided=counts.get(Verdict.UNDECIDED, 0),
                rate_percent=100 * alarms / total,
                ci_low_percent=100 * low,
                ci_high_percent=100 * high,
            )
        )
    return views
