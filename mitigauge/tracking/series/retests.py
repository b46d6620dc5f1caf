"""Revisions measured again: with a fix on top, on another base, or as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action
from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels.patch import Patch
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.series import service
from mitigauge.tracking.series.range_diff import on_top
from mitigauge.tracking.series.states import RevisionState
from mitigauge.tracking.series.tables import Series, SeriesRevision


def retest(
    session: Session,
    revision: SeriesRevision,
    fix: Sequence[Patch],
    blobs: BlobStore,
    by: str,
    *,
    base: str = "",
    approves: bool = True,
) -> SeriesRevision:
    """The same revision with *fix* on top, on another *base*, or once more.

    The same one asked for twice is one retest; one that is the same again is another once the
    one before has an experiment. *approves*: who asks may let the revision's own patches run;
    else it waits as the revision does. Raises InvalidInput for a refused revision.
    """
    if revision.state == RevisionState.REFUSED:
        raise InvalidInput(f"{revision.label} cannot run: {revision.why}", hint="Nothing to test.")
    before = service.patches_of(revision, blobs)
    patches = [*before, *fix]
    content = service.put(patches, blobs)
    series = revision.series
    base = "" if base == series.base else base
    digest = _retest_digest(series, content, base, again=not fix and not base)
    for other in series.revisions:
        if other.digest == digest and other.number == revision.number:
            return other
    waits = revision.state == RevisionState.WAITING and not approves
    found = SeriesRevision(
        number=revision.number,
        digest=digest,
        title=revision.title,
        retest=_retest_title(fix, base),
        base=base,
        state=RevisionState.WAITING if waits else RevisionState.APPROVED,
        why=f"asked for by {by}" + (f"; {revision.label} itself waits" if waits else ""),
        message_id=revision.message_id,
        sender=revision.sender,
        attested=revision.attested,
        recipients=revision.recipients,
        sent_at=revision.sent_at,
        base_commit=revision.base_commit,
        letter=revision.letter,
        changelog="",
        strays=[],
        patches=[
            *revision.patches,
            *(service.stored_patch(patch, "", patch.text) for patch in fix),
        ],
        changes=on_top(before, fix),
        renamed=[],
        patches_sha256=content,
        approved_by="" if waits else by,
    )
    series.revisions.append(found)
    session.flush()
    audit.record(
        session,
        Action.SERIES_RETEST,
        service.subject_of(found),
        after={"state": found.state, "asked_by": by, "digest": digest, "base": base or None},
    )
    return found


def _retest_digest(series: Series, content: str, base: str, *, again: bool) -> str:
    """What a retest is known by: its patches, its base; and its turn, where both are the same."""
    turn = sum(r.patches_sha256 == content and r.experiment_id is not None
               for r in series.revisions if r.retest and not r.base) if again else 0  # fmt: skip
    if not base and not turn:
        return content
    return hashlib.sha256(f"{content} {base} {turn}".encode()).hexdigest()


def _retest_title(fix: Sequence[Patch], base: str) -> str:
    """What a retest says it is."""
    said = clean_text("; ".join(patch.title for patch in fix))[:300]
    where = f"on {base}" if base else ""
    return ", ".join(word for word in (said, where) if word) or "the same again"


def compared_with(revision: SeriesRevision) -> SeriesRevision | None:
    """What it is compared with: with a fix, what the fix stands on; else the revision before."""
    if revision.has_fix:
        same = (r for r in revision.series.revisions if r.number == revision.number)
        return next((r for r in same if not r.retest and r.state != RevisionState.REFUSED), None)
    return service.before_this(revision.series, revision.number)
