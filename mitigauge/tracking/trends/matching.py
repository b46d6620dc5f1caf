"""Which stored change a found one is, and what to write of it. Pure.

Identity: a found change is a stored one if both go the same way and the places where they may lie
have a time in common; of several the one that is nearest in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mitigauge.tracking.trends.detection import ChangePoint
from mitigauge.tracking.trends.schemas import ChangeKind, ChangeState
from mitigauge.tracking.trends.tables import StoredChange

NOT_SHOWN = "later values do not show it"


@dataclass(slots=True)
class Plan:
    """What to write of one trend's changes."""

    new: list[ChangePoint] = field(default_factory=list)
    replaced: list[tuple[StoredChange, ChangePoint]] = field(default_factory=list)
    """What nobody said anything of: figures so far."""
    next_versions: list[tuple[StoredChange, ChangePoint, str]] = field(default_factory=list)
    """What somebody accepted and what later values say otherwise, with the reason."""
    withdrawn: list[StoredChange] = field(default_factory=list)
    dropped: list[StoredChange] = field(default_factory=list)


def plan(stored: Sequence[StoredChange], found: Sequence[ChangePoint]) -> Plan:
    """Match *found* with what is *stored* and current of the same trend."""
    made = Plan()
    left = list(stored)
    for change in found:
        same = [old for old in left if _may_be(old, change)]
        if not same:
            made.new.append(change)
            continue
        old = min(same, key=lambda each: (abs(each.at - change.at), each.id))
        left.remove(old)
        if old.state == ChangeState.OPEN and old.kind != ChangeKind.WITHDRAWN:
            made.replaced.append((old, change))
        elif reason := otherwise(old, change):
            made.next_versions.append((old, change, reason))
    for old in left:
        if old.kind == ChangeKind.WITHDRAWN:
            continue
        (made.dropped if old.state == ChangeState.OPEN else made.withdrawn).append(old)
    return made


def otherwise(old: StoredChange, new: ChangePoint) -> str:
    """In what *new* says something else than the accepted *old*; empty: in nothing.

    More values make an effect more exact all the time. It is another one when it lies outside the
    interval that was accepted.
    """
    reasons = []
    if old.kind != new.kind:
        reasons.append(f"{_words(new.kind)} instead of {_words(old.kind)}")
    if old.at != new.at:
        reasons.append(f"from {new.at:%Y-%m-%d %H:%M} instead of {old.at:%Y-%m-%d %H:%M}")
    low, high, effect = old.ci_low_percent, old.ci_high_percent, new.effect_percent
    if low is not None and high is not None and effect is not None and not low <= effect <= high:
        reasons.append(f"{effect:+.1f} % instead of {old.effect_percent or 0.0:+.1f} %")
    return f"later values: {', '.join(reasons)}" if reasons else ""


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _may_be(old: StoredChange, new: ChangePoint) -> bool:
    if old.verdict != new.verdict:
        return False
    same_place = (old.run_after, old.arm_after) == (new.run_after, new.arm_after)
    overlap = old.earliest_at <= new.latest_at and new.earliest_at <= old.latest_at
    return same_place or overlap
