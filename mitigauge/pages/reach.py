"""What cases are known to run, and what differs between kernels: see ``exact/coverage.py``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from sqlalchemy import RowMapping
from sqlalchemy.orm import Session

from mitigauge.errors import NotFound
from mitigauge.files.blobs import BlobStore
from mitigauge.kernels.functions import (
    Changed,
    Notes,
    changed,
    notes_of,
    parts,
    with_blocks,
)
from mitigauge.kernels.service import noted_functions
from mitigauge.kernels.tables import Kernel
from mitigauge.modes.crossing import full_name
from mitigauge.pages import profile_repository
from mitigauge.profiles.exact import repository
from mitigauge.profiles.exact.coverage import (
    CountedCase,
    Coverage,
    ReachPlan,
    Unlike,
    case_key,
    plan_of,
)

C = TypeVar("C")
# Kernels of a case's newest counts that are held against those compared.
KERNELS_TRIED = 4
NO_MORE = range(KERNELS_TRIED)


def coverage(
    session: Session,
    wanted: Collection[CountedCase],
    functions: Callable[[Collection[str]], Collection[str]] = lambda _: (),
) -> dict[CountedCase, list[Coverage]]:
    """What those cases are known to run, on the newest kernels that they were counted on.

    Those that were never counted are left out. *functions*: of which it is told what of them they
    run, by the notes of those kernels.
    """
    rows: dict[CountedCase, list[RowMapping]] = {case: [] for case in wanted}
    for row in profile_repository.newest_counts(session):
        case = CountedCase(
            row["workload"],
            case_key(row["parameters"]),
            full_name(row["family"], row["mode"]),
            row["environment"],
            row["host"],
        )
        if len(rows.get(case, NO_MORE)) < KERNELS_TRIED:
            rows[case].append(row)
    every = [row for some in rows.values() for row in some]
    told = functions({row["notes"] for row in every if row["notes"]})
    code = repository.code_run_by(session, [row["id"] for row in every], told)
    found = {
        case: [
            Coverage(
                code[row["id"]].functions,
                row["kernel"],
                row["stored_at"],
                row["notes"] or "",
                code[row["id"]].is_whole,
            )
            for row in some
            if row["id"] in code
        ]
        for case, some in rows.items()
    }
    return {case: coverages for case, coverages in found.items() if coverages}


def plan(
    session: Session,
    kernels: Sequence[Kernel],
    cases: Mapping[C, Collection[CountedCase]],
    blobs: BlobStore,
) -> ReachPlan[C]:
    """Which of the *cases* can differ between these kernels; each with what it is on its hosts."""
    compared = _Compared(kernels, blobs)
    wanted = [each for on in cases.values() for each in on]
    known = coverage(session, wanted, compared.look_at)
    return plan_of(compared.changed, cases, known, compared.unlike)


class _Compared:
    """Kernels that are compared, and what sets others apart from them."""

    def __init__(self, kernels: Sequence[Kernel], blobs: BlobStore) -> None:
        self._blobs = blobs
        self._texts = [noted_functions(kernel.functions_sha256, blobs) for kernel in kernels]
        self._noted = [notes_of(text) for text in self._texts]
        self.changed = _changed(self._noted)
        self.unlike: dict[str, Unlike] = {}

    def look_at(self, counted: Collection[str]) -> set[str]:
        """Names of functions that differ between kernels of these notes and those compared."""
        if self.changed is not None and (self.changed.functions or self.changed.objects):
            found = {digest: self._unlike(digest) for digest in counted}
            self.unlike = {digest: each for digest, each in found.items() if each is not None}
        return {name for each in self.unlike.values() for name in each.changed.functions}

    def _unlike(self, digest: str) -> Unlike | None:
        """None where what a build noted is kept no longer, or tells too little."""
        try:
            text = noted_functions(digest, self._blobs)
        except NotFound:
            return None
        notes = notes_of(text)
        differs = _changed([notes, *self._noted])
        if differs is None:
            return None
        names = differs.functions
        noted = [
            with_blocks(each, told, names)
            for each, told in zip(self._noted, self._texts, strict=True)
        ]
        return Unlike(differs, parts(with_blocks(notes, text, names), noted, names))


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
