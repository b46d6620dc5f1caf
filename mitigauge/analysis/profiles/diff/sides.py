"""Sides A and B of a diff: which profiles stand for each, and whether they can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mitigauge.analysis.profiles.store.tables import Profile, System
from mitigauge.core.errors import InvalidInput, NotFound


@dataclass(frozen=True, slots=True)
class Selection:
    """The boots of an arm, on a host, in an experiment: one side of a diff."""

    experiment_id: int
    case_id: int
    host: str
    arm: str


@dataclass(frozen=True, slots=True)
class Group:
    """Profiles that stand for one side."""

    label: str
    profiles: Sequence[Profile]
    of: Selection | None = None
    """None for imported ones."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What is compared, and what a page says of it."""

    a: Group
    b: Group
    title: str
    host: str = ""
    emulated: bool = False
    counted: bool = False
    experiment: int | None = None
    case: int | None = None
    system: System = "host"
    """Which system was profiled: host or guest."""
    systems: tuple[System, ...] = ("host",)
    """Those of which the case has profiles."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Functions of side A's kernel that have another name in B's: its name there by that in A."""


def require_comparable(sides: Sides) -> None:
    for group in (sides.a, sides.b):
        if not group.profiles:
            raise NotFound(
                f"there is no profile of {group.label}",
                hint="Set `profile: true` for the workload in the spec, or wait for a boot.",
            )
    every = [*sides.a.profiles, *sides.b.profiles]
    for what, found in (
        ("workloads", {profile.tree.name for profile in every}),
        ("events", {profile.event for profile in every}),
    ):
        if len(found) > 1:
            raise InvalidInput(
                f"profiles of different {what} cannot be compared: {', '.join(sorted(found))}",
                hint="Choose groups of one workload and one event.",
            )
