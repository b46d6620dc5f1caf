"""Functions that have another name in another kernel, as they were found when it was built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy.orm import Session

from mitigauge.kernels import repository
from mitigauge.kernels.tables import KernelRename

# Of kernels between two that are compared: revisions of one series, as a rule.
MOST_STEPS = 32
Names = Mapping[str, str]


def store(session: Session, before_id: int, after_id: int, names: Names) -> None:
    """Note what *after* calls functions of *before*; none at all is a fact too."""
    if before_id != after_id:
        session.merge(KernelRename(before_id=before_id, after_id=after_id, names=dict(names)))


def between(session: Session, one: str, other: str) -> dict[str, str]:
    """Names in the kernel of release *one* → names in *other*, where they differ.

    Found over kernels between the two, in either direction. Empty where nothing links them.
    """
    if one == other:
        return {}
    ids = repository.ids_of(session, (one, other))
    if len(ids) < 2:
        return {}
    forward = _path(session, ids[one], ids[other])
    if forward is not None:
        return chained(forward)
    backward = _path(session, ids[other], ids[one])
    return {now: was for was, now in chained(backward or ()).items()}


def _path(session: Session, first: int, last: int) -> list[Names] | None:
    """The renames of each step from one kernel to a later one; None where none leads there."""
    reached: dict[int, list[Names]] = {first: []}
    newest = [first]
    for _ in range(MOST_STEPS):
        if last in reached or not newest:
            break
        steps = repository.renames_after(session, newest)
        newest = []
        for step in steps:
            if step.after_id not in reached:
                reached[step.after_id] = [*reached[step.before_id], step.names]
                newest.append(step.after_id)
    return reached.get(last)


def chained(steps: Iterable[Names]) -> dict[str, str]:
    """First name → last name over steps each of which renames from the one before."""
    last: dict[str, str] = {}
    for step in steps:
        first_of = {now: was for was, now in last.items()}
        last |= {first_of.get(was, was): now for was, now in step.items()}
    return {was: now for was, now in last.items() if was != now}
