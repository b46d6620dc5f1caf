"""Hosts as people see them: with the boots and experiments they took part in."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.errors import NotFound
from mitigauge.experiments import repository
from mitigauge.experiments.aa import false_alarm_rates
from mitigauge.experiments.host_schemas import FingerprintView, HostSummary, HostView
from mitigauge.experiments.states import BootState
from mitigauge.experiments.views import summaries
from mitigauge.fleet import repository as fleet
from mitigauge.fleet.tables import Host


def list_hosts(session: Session) -> list[HostSummary]:
    """All hosts that ever took part in an experiment."""
    counts = repository.boot_counts_by_host(session)
    holders = repository.experiment_names_by_run(session, fleet.runs_holding_hosts(session))
    return [
        HostSummary(**_summary(host, counts.get(host.id, {}), holders.get(host.id, "")))
        for host in fleet.all_hosts(session)
    ]


def show_host(session: Session, name: str) -> HostView:
    """One host by name. Raises :class:`NotFound` naming the known ones."""
    found = fleet.hosts_named(session, name)
    if not found:
        known = ", ".join(host.name for host in fleet.all_hosts(session)) or "none yet"
        raise NotFound(
            f"there is no host {name!r}",
            hint=f"Known: {known}. A host appears with its first experiment.",
        )
    host = found[0]
    counts = repository.boot_counts_by_host(session)
    holders = repository.experiment_names_by_run(session, fleet.runs_holding_hosts(session))
    boots = repository.boot_counts_by_fingerprint(session, host.id)
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
        aa=false_alarm_rates(session, host.id),
        experiments=summaries(session, repository.experiments_on_host(session, host.id)),
    )


def _summary(host: Host, boots: dict[str, int], holder: str) -> dict[str, object]:
    made = sum(n for state, n in boots.items() if state not in ("planned", "skipped"))
    return {
        "name": host.name,
        "environment": host.environment,
        "host_class": host.host_class,
        "emulated": host.emulated,
        "capabilities": host.capabilities,
        "leased_by": holder,
        "last_seen_at": host.last_seen_at,
        "set_aside_at": host.set_aside_at,
        "set_aside_reason": host.set_aside_reason,
        "probe_at": host.probe_at,
        "boots": made,
        "lab_faults": boots.get(BootState.LAB_FAULT, 0),
    }
