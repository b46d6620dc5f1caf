"""All tables, imported once so that the metadata is whole (for migrations and their test)."""

from __future__ import annotations

from mitigauge.access import tables as access
from mitigauge.audit import tables as audit
from mitigauge.backups import tables as backups
from mitigauge.bisect import tables as bisect
from mitigauge.claims import tables as claims
from mitigauge.collectors import tables as collectors
from mitigauge.database.engine import Base
from mitigauge.deliveries import tables as deliveries
from mitigauge.experiments import tables as experiments
from mitigauge.fleet import tables as fleet
from mitigauge.jobs import tables as jobs
from mitigauge.kernels import tables as kernels
from mitigauge.letters.weekly import tables as weekly
from mitigauge.prices import tables as prices
from mitigauge.profiles.exact import tables as exact_counts
from mitigauge.profiles.store import tables as profiles
from mitigauge.regressions import tables as regressions
from mitigauge.results import tables as results
from mitigauge.retention import tables as retention
from mitigauge.runs import tables as runs
from mitigauge.series import tables as series
from mitigauge.subscriptions import tables as subscriptions
from mitigauge.trends import tables as trends
from mitigauge.verdicts import tables as verdicts

metadata = Base.metadata
__all__ = [
    "access",
    "audit",
    "backups",
    "bisect",
    "claims",
    "collectors",
    "deliveries",
    "exact_counts",
    "experiments",
    "fleet",
    "jobs",
    "kernels",
    "metadata",
    "prices",
    "profiles",
    "regressions",
    "results",
    "retention",
    "runs",
    "series",
    "subscriptions",
    "trends",
    "verdicts",
    "weekly",
]
