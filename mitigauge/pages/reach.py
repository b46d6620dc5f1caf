"""What cases are known to run, and what differs between kernels: see ``exact/coverage.py``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

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
    case_key,
    plan_of,
)

C = TypeVar("C")


def coverage(
    session: Session, wanted: Collection[CountedCase], functions: Collection[str] = ()
) -> dict[CountedCase, Coverage]:
    """What those cases are known to run; those that were never counted are left out.

    *functions*: of which it is told what of them they run.
    """
    newest = {
        CountedCase(
            row["workload"],
            case_key(row["parameters"]),
            full_name(row["family"], row["mode"]),
            row["environment"],
            row["host"],
        ): row
        for row in profile_repository.newest_counts(session)
    }
    rows = {case: newest[case] for case in wanted if case in newest}
    code = repository.code_run_by(session, [row["id"] for row in rows.values()], functions)
    return {
        case: Coverage(code[row["id"]], row["kernel"], row["stored_at"], row["notes"] or "")
        for case, row in rows.items()
        if row["id"] in code
    }


def plan(
    session: Session,
    kernels: Sequence[Kernel],
    cases: Mapping[C, Collection[CountedCase]],
    blobs: BlobStore,
) -> ReachPlan[C]:
    """Which of the *cases* can differ between these kernels; each with what it is on its hosts."""
    texts = [noted_functions(kernel.functions_sha256, blobs) for kernel in kernels]
    noted = [notes_of(text) for text in texts]
    differs = _changed(noted)
    wanted = [each for on in cases.values() for each in on]
    known = coverage(session, wanted, differs.functions if differs else ())
    release = str(kernels[0].release)
    if differs is None or not differs.functions:
        return plan_of(differs, cases, known, release)
    names = differs.functions
    noted = [with_blocks(notes, text, names) for notes, text in zip(noted, texts, strict=True)]
    at_hand = dict(zip((str(each.functions_sha256) for each in kernels), noted, strict=True))
    counted_on = {each.notes for each in known.values() if each.notes and each.is_of(release)}
    found = {
        digest: parts(notes, noted, names)
        for digest in counted_on
        if (notes := at_hand.get(digest) or _notes(digest, names, blobs))
    }
    return plan_of(differs, cases, known, release, found)


def _changed(noted: Sequence[Notes]) -> Changed | None:
    """What differs between the first and any other of these kernels.

    None where nothing was noted of one, or no data or targets, as builds of before did.
    """
    if not all(notes.functions and notes.targets and notes.objects for notes in noted):
        return None
    first, *others = noted
    found = Changed()
    for other in others:
        found |= changed(first, other)
    return found


def _notes(digest: str, names: Collection[str], blobs: BlobStore) -> Notes | None:
    """What a build of before noted of functions; None where that is kept no longer."""
    try:
        text = noted_functions(digest, blobs)
    except NotFound:
        return None
    return with_blocks(notes_of(text), text, names)
