"""Profiles in a file: as folded stacks, since stored ones are numbers of a shared tree."""

from __future__ import annotations

from typing import Any, Final, get_args

from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.capture.capture import Pass
from mitigauge.analysis.profiles.store.export import folded_group
from mitigauge.analysis.profiles.store.service import store_boot_profile
from mitigauge.analysis.profiles.store.tables import Profile, System
from mitigauge.core.errors import InvalidInput
from mitigauge.upkeep.exports.repository import Json

# What follows from the stacks and from where the profile is put.
DERIVED: Final = ("id", "tree_id", "weight", "unknown", "truncated", "stacks", "functions")
TABLE: Final = Profile.metadata.tables[Profile.__tablename__]
COLUMNS: Final = tuple(column for column in TABLE.columns if column.name not in DERIVED)


def stacks_of(session: Session, profile_id: int) -> tuple[str, list[tuple[str, int]]]:
    """The tree's name, and the stacks in order."""
    profile = session.get_one(Profile, profile_id)
    stacks = folded_group(session, [profile])
    return profile.tree.name, sorted((stack.decode(), n) for stack, n in stacks.items())


def store(session: Session, row: Json, tree: str, stacks: dict[str, int]) -> int:
    """Store one profile by the way that all profiles take, checks included; its number.

    *row* has boot and case with their new numbers. Raises :class:`InvalidInput`.
    """
    if not stacks or min(stacks.values()) <= 0 or any(not stack for stack in stacks):
        raise InvalidInput("a profile has no stacks, or one that was never counted")
    profile = store_boot_profile(
        session,
        boot_id=row["boot_id"],
        case_id=row["case_id"],
        workload=tree,
        stacks={stack.encode(): count for stack, count in stacks.items()},
        of=Pass(_text(row["event"]), _text(row["raw_sha256"]), 0),
        system=_system(row["side"]),
    )
    session.flush()
    return profile.id


def _system(value: Any) -> System:
    systems: tuple[System, ...] = get_args(System)
    for system in systems:
        if value == system:
            return system
    raise InvalidInput(f"a profile is of a system {ascii(value)[:100]}, which is unknown")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput("a profile has a number where a text belongs")
    return value
