"""What makes a host another machine: facts that differ and that no arm sets. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mitigauge.measurement.fleet.facts import Changed, changed
from mitigauge.measurement.runs.outcomes import ARM_DEPENDENT_FACTS


def host_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Changed]:
    """Facts of a host that differ, without those that an arm sets."""
    return changed(own_facts(before), own_facts(after))


def own_facts(fingerprint: Mapping[str, Any]) -> dict[str, Any]:
    """The host's facts, without those that an arm sets: these are of one boot, not of all."""
    return {name: value for name, value in fingerprint.items() if name not in ARM_DEPENDENT_FACTS}
