"""All tables, imported once so that the metadata is whole (for migrations and their test)."""

from __future__ import annotations

from mitigauge.access import tables as access
from mitigauge.claims import tables as claims
from mitigauge.database import Base
from mitigauge.experiments import tables as experiments
from mitigauge.fleet import tables as fleet
from mitigauge.profiles import tables as profiles
from mitigauge.retention import tables as retention

metadata = Base.metadata
__all__ = ["access", "claims", "experiments", "fleet", "metadata", "profiles", "retention"]
