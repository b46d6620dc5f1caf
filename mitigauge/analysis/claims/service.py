"""Importing claims."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.analysis.claims import repository
from mitigauge.analysis.claims.files import ClaimEntry, ClaimFile
from mitigauge.analysis.claims.tables import Claim, ClaimSource
from mitigauge.measurement.catalog import Catalog

Parameters = Mapping[str, object]


def import_claims(session: Session, files: Iterable[ClaimFile], catalog: Catalog) -> list[str]:
    """Store the files' claims, replacing older versions; names of those that changed."""
    changed = [file.name for file in files if _import(session, file, catalog)]
    for name in changed:
        audit.record(session, Action.CLAIMS_IMPORT, Subject(SubjectKind.CLAIMS, name))
    return changed


def _import(session: Session, file: ClaimFile, catalog: Catalog) -> bool:
    digest = hashlib.sha256(file.model_dump_json().encode()).hexdigest()
    source = repository.source_named(session, file.name)
    if source is None:
        source = ClaimSource(name=file.name, digest="")
        session.add(source)
    if source.digest == digest:
        return False
    source.digest, source.title = digest, file.title
    source.citation, source.published = file.citation, file.published
    source.claims.clear()
    # The old ones must be gone before new ones take their places.
    session.flush()
    source.claims.extend(
        Claim(
            position=position,
            title=_title(file, entry, catalog),
            workload=file.workload,
            parameters=dict(entry.case),
            metric=entry.metric,
            baseline=file.baseline,
            mode=entry.mode,
            low_percent=entry.low,
            high_percent=entry.high,
            processor=entry.processor or file.processor,
            note=entry.without or entry.note,
            arm=entry.arm,
            baseline_arm=file.baseline_arm,
        )
        for position, entry in enumerate(file.claims)
    )
    return True


def _title(file: ClaimFile, entry: ClaimEntry, catalog: Catalog) -> str:
    """The case in the source's words: only the parameters that it names."""
    known = catalog.workloads.get(file.workload)
    order = list(known.parameters) if known else list(entry.case)
    named = [f"{name} {entry.case[name]}" for name in order if name in entry.case]
    note = f"({entry.note})" if entry.note else ""
    return " ".join([file.workload, ", ".join(named), note]).replace("  ", " ").strip()
