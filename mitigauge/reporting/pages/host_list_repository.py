"""SQL of the list of hosts, for the driver itself: SQLAlchemy takes long to load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mitigauge.measurement.runs.states import BootState

# A reservation that is past is none.
_HOSTS: Final = """
select name, environment, host_class, emulated, clock, capabilities, power,
  coalesce(holder.experiment, '') as leased_by, last_seen_at,
  set_aside_at, set_aside_reason, set_aside_by, probe_at,
  case when reserved_until > now() then reserved_by else '' end as reserved_by,
  case when reserved_until > now() then reserved_until end as reserved_until,
  case when reserved_until > now() then reserved_reason else '' end as reserved_reason,
  coalesce(made.boots, 0) as boots, coalesce(made.lab_faults, 0) as lab_faults
from host
  left join lateral (
    select experiment.name as experiment
    from host_lease join run on run.id = host_lease.run_id
      join experiment on experiment.id = run.experiment_id
    where host_lease.host_id = host.id and host_lease.released_at is null limit 1) as holder
    on true
  left join (
    select run.host_id, count(*) filter (where boot.state <> all(%(unmade)s)) as boots,
      count(*) filter (where boot.state = %(fault)s) as lab_faults
    from boot join run on run.id = boot.run_id
    where %(host)s::bigint is null or run.host_id = %(host)s
    group by run.host_id) as made on made.host_id = host.id
where %(host)s::bigint is null or host.id = %(host)s
"""


def hosts_asked(host_id: int | None = None) -> tuple[str, Mapping[str, Any]]:
    """Statement and parameters: rows with the fields of :class:`HostSummary`, in no order."""
    return _HOSTS, {
        "host": host_id,
        "unmade": [str(BootState.PLANNED), str(BootState.SKIPPED)],
        "fault": str(BootState.LAB_FAULT),
    }
