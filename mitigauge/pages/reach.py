"""What cases are known to run, and what differs between kernels: see ``exact/coverage.py``."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy.orm import Session

from mitigauge.files.blobs import BlobStore
from mitigauge.kernels.functions import Changed, Notes, changed, notes_of
from mitigauge.kernels.service import noted_functions
from mitigauge.kernels.tables import Kernel
from mitigauge.modes.crossing import full_name
from mitigauge.pages import profile_repository
from mitigauge.profiles.exact import repository
from mitigauge.profiles.exact.coverage import (
    CountedCase,
    Coverage,
    case_key,
    functions_run,
)


def coverage(session: Session, wanted: Collection[CountedCase]) -> dict[CountedCase, Coverage]:
    """What those cases are known to run; those that were never counted are left out."""
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
    ledgers = repository.ledgers_of(session, [row["id"] for row in rows.values()])
    return {
        case: Coverage(functions_run(ledgers[row["id"]]), row["kernel"], row["stored_at"])
        for case, row in rows.items()
        if row["id"] in ledgers
    }


def changed_between(kernels: Sequence[Kernel], blobs: BlobStore) -> Changed | None:
    """What differs between the first and any other of these kernels.

    None where nothing was noted of one, or no data or targets, as builds of before did.
    """
    first, *others = (notes_of(noted_functions(kernel, blobs)) for kernel in kernels)
    if not all(_is_whole(notes) for notes in (first, *others)):
        return None
    found = Changed()
    for other in others:
        found |= changed(first, other)
    return found


def _is_whole(notes: Notes) -> bool:
    return bool(notes.functions and notes.targets and notes.objects)
