"""What makes a host another machine: facts that differ and that no arm sets. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mitigauge.measurement.fleet.facts import Changed, changed, own_facts


def host_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Changed]:
    """Facts of a host that differ, without those that an arm sets."""
    return changed(own_facts(before), own_facts(after))
