"""What cases are known to run, and what differs between kernels: see ``exact/coverage.py``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from sqlalchemy import RowMapping
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact import repository
from mitigauge.analysis.profiles.exact.coverage import (
    CountedCase,
    Coverage,
    ReachPlan,
    case_key,
    plan_of,
)
from mitigauge.core.errors import NotFound
from mitigauge.kernels.functions import Changed, Notes, changed, notes_of
from mitigauge.kernels.service import noted_functions
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.modes.crossing import full_name
from mitigauge.storage.files.blobs import BlobStore

C = TypeVar("C")
# Kernels of a case's newest counts that are held against those compared.
KERNELS_TRIED = 4
Counts = Mapping[CountedCase, Sequence[RowMapping]]


def newest_counts(session: Session, wanted: Collection[CountedCase]) -> Counts:
    """The newest counts of those cases, one a kernel, of those that were counted."""
    found: dict[CountedCase, list[RowMapping]] = {}
    for row in repository.newest_counts(session):
        case = CountedCase(
            row["workload"],
            case_key(row["parameters"]),
            full_name(row["family"], row["mode"]),
            row["environment"],
            row["host"],
        )
        if case in wanted and len(found.setdefault(case, [])) < KERNELS_TRIED:
            found[case].append(row)
    return found


def coverage(session: Session, counts: Counts) -> dict[CountedCase, list[Coverage]]:
    """What cases are known to run, by those counts."""
    ids = [row["id"] for rows in counts.values() for row in rows]
    code = repository.code_run_by(session, ids)
    found = {
        case: [
            Coverage(
                code[row["id"]].functions,
                row["kernel"],
                row["stored_at"],
                row["notes"] or "",
                code[row["id"]].is_whole,
            )
            for row in rows
            if row["id"] in code
        ]
        for case, rows in counts.items()
    }
    return {case: coverages for case, coverages in found.items() if coverages}


def plan(
    session: Session,
    kernels: Sequence[Kernel],
    cases: Mapping[C, Collection[CountedCase]],
    blobs: BlobStore,
) -> ReachPlan[C]:
    """Which of the *cases* can differ between these kernels; each with what it is on its hosts."""
    compared = _Compared([kernel.functions_sha256 for kernel in kernels], blobs)
    counts = newest_counts(session, {each for on in cases.values() for each in on})
    unlike = compared.unlike({row["notes"] for rows in counts.values() for row in rows})
    return plan_of(compared.changed, cases, coverage(session, counts), unlike)


class _Compared:
    """Kernels that are compared, by the digests of their notes, and what others differ in."""

    def __init__(self, digests: Sequence[str | None], blobs: BlobStore) -> None:
        self._blobs = blobs
        self._notes = {digest: notes_of(noted_functions(digest, blobs)) for digest in digests}
        self.changed = _changed(list(self._notes.values()))

    def unlike(self, counted: Collection[str | None]) -> dict[str, Changed]:
        """What sets kernels of these notes apart, of those that are kept and tell enough."""
        if self.changed is None or not (self.changed.functions or self.changed.objects):
            return {}
        found = {digest: self._unlike(digest) for digest in counted if digest}
        return {digest: each for digest, each in found.items() if each is not None}

    def _unlike(self, digest: str) -> Changed | None:
        notes = self._notes.get(digest)
        if notes is None:
            try:
                notes = notes_of(noted_functions(digest, self._blobs))
            except NotFound:
                return None
        return _changed([notes, *self._notes.values()])


def _changed(noted: Sequence[Notes]) -> Changed | None:
    """What differs between the first and any other of these kernels.

    None where nothing was noted of one, or not all kinds of it, as builds of before did.
    """
    if not all(each.functions and each.targets and each.objects and each.boot for each in noted):
        return None
    first, *others = noted
    found = Changed()
    for other in others:
        found |= changed(first, other)
    return found
