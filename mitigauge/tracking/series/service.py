"""Series as they are added, approved, and brought to an experiment."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.access.roles import OPERATOR
from mitigauge.core.errors import Conflict, InvalidInput, NotFound
from mitigauge.core.hostile_text import clean_text
from mitigauge.jobs.blame import MOST_TRIES, pause_s
from mitigauge.kernels.patch import Patch
from mitigauge.kernels.tables import Kernel
from mitigauge.storage.database.engine import database_now
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.series import letter, repository
from mitigauge.tracking.series.mail_thread import FoundRevision
from mitigauge.tracking.series.range_diff import Comparison
from mitigauge.tracking.series.schemas import Recipients, SeriesPatch
from mitigauge.tracking.series.states import STARTABLE, Attested, RevisionState
from mitigauge.tracking.series.tables import Series, SeriesRevision

T = TypeVar("T")
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
# What a person gives of a digest.
DIGEST = re.compile(r"[0-9a-f]{12,64}")
DEFAULT_BASE = "linux-source-7.2"
# Each takes one comparison more, of revisions that others stored meanwhile.
MOST_COMPARISONS = 5
LONGEST_LETTER = 100_000
LONGEST_WHY = 2000
# Between the patches of a revision in the blob store; no text holds it.
_SEPARATOR = b"\0"
_ASKED_FOR = ("reported-by", "suggested-by", "acked-by", "reviewed-by", "tested-by", "cc")


@dataclass(frozen=True, slots=True)
class SeriesOptions:
    """What the operator says of a series: empty where nothing is said.

    *profile_sha256*: of the profile's text in the blob store; null where hosts decide.
    """

    name: str = ""
    spec: str = ""
    base: str = ""
    profile: str = ""
    archive: str = ""
    loose: bool | None = None
    profile_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Trust:
    """Whose patches may run without a person looking at them.

    *senders*: addresses in small letters. *attested*: what the archive's tool says of each
    message-id; a From alone can be written by anybody.
    """

    senders: Collection[str] = ()
    attested: Mapping[str, Attested] = field(default_factory=dict)

    def of(self, found: FoundRevision) -> Attested:
        """The least that is known of any of its mails."""
        mails = [found.first, *(sent.mail for sent in found.patches)]
        said = {self.attested.get(mail.message_id, Attested.MISSING) for mail in mails}
        for least in (Attested.FAIL, Attested.MISSING):
            if least in said:
                return least
        return Attested.PASS


def add(
    session: Session,
    found: Sequence[FoundRevision],
    blobs: BlobStore,
    *,
    wanted: SeriesOptions = SeriesOptions(),
    trust: Trust = Trust(),
    comparison: Comparison | None = None,
) -> list[SeriesRevision]:
    """Store revisions of one series that are not stored yet; those that are new.

    *comparison*: as :func:`stored_whole` gives it; without one, they are compared here. Raises
    InvalidInput where they are of several series, or the name is another one's.
    """
    keys = {key_of(revision) for revision in found}
    if len(keys) > 1:
        raise InvalidInput(
            f"these mails are of {len(keys)} series: {', '.join(sorted(keys))[:300]}",
            hint="Give the mails of one series. Revisions hang together by their change-id, or "
            "by sender and title.",
        )
    # What is not whole may have the title of one patch alone.
    whole = [revision for revision in found if not revision.faults]
    series = _series(session, keys.pop(), (whole or found)[-1], wanted)
    stored = []
    for revision in found:
        new = _added(session, series, revision, blobs, trust, comparison or Comparison())
        if new is not None:
            stored.append(new)
    return stored


def stored_whole(
    begun: Callable[[], AbstractContextManager[Session]], work: Callable[[Session, Comparison], T]
) -> T:
    """What *work* returns, done in a transaction that *begun* begins and that compares nothing.

    Where it asks for a comparison, all of it is taken back, the comparison is made while no
    transaction is open, and it is done again. Raises Conflict where others come between it.
    """
    comparison = Comparison(deferred=True)
    for _ in range(MOST_COMPARISONS):
        with begun() as session:
            result = work(session, comparison)
            if not comparison.wanted:
                return result
            session.rollback()
        comparison.work_out()
    raise Conflict("others store revisions of this series just now", hint="Try it again.")


def key_of(found: FoundRevision) -> str:
    """What stays from revision to revision."""
    return found.key


def _series(session: Session, key: str, found: FoundRevision, wanted: SeriesOptions) -> Series:
    series = repository.by_key(session, key)
    if series is None:
        name = wanted.name or slug(found.title)
        if not NAME.fullmatch(name) or name.isdecimal():
            raise InvalidInput(
                f"{name!r} is no name for a series",
                hint="Small letters, digits and hyphens, not digits alone: give --name.",
            )
        if repository.by_name(session, name) is not None:
            raise InvalidInput(
                f"another series is named {name}", hint="Give this one another --name."
            )
        series = Series(
            name=name, key=key, title=found.title, spec="", archive="",
            base=DEFAULT_BASE, profile="",
        )  # fmt: skip
        session.add(series)
    elif wanted.name not in ("", series.name):
        raise InvalidInput(
            f"this series is known as {series.name}: it cannot be named {wanted.name[:60]!r}",
            hint="Leave --name out; a series keeps the name that it was first given.",
        )
    take_over(series, wanted)
    session.flush()
    return series


def slug(title: str) -> str:
    """A name made of a title: its words, at most 40 characters."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-")
    # A number is what a series is found by, whatever it is called.
    return f"series-{words}".strip("-") if not words or words.isdecimal() else words


def _added(
    session: Session,
    series: Series,
    found: FoundRevision,
    blobs: BlobStore,
    trust: Trust,
    comparison: Comparison,
) -> SeriesRevision | None:
    """The revision, or None where it is stored already."""
    same = [r for r in series.revisions if r.number == found.version and not r.retest]
    if any(revision.digest == found.digest for revision in same):
        return None
    attested = trust.of(found)
    faults = [*found.faults, *_in_its_place(same, found.version, attested)]
    patches = [sent.patch for sent in found.patches]
    before = before_this(series, found.version)
    changes, names = comparison.of(patches_of(before, blobs), patches) if before else ([], [])
    state, why = _standing(faults, found.first.sender.address, attested, trust)
    if before is not None and before.sender != found.first.sender.address:
        # A change-id can be copied by anybody.
        why += f"; {before.label} was sent by {before.sender}"
    revision = SeriesRevision(
        number=found.version,
        digest=found.digest,
        title=found.title,
        state=state,
        why=why[:LONGEST_WHY],
        message_id=found.first.message_id,
        sender=found.first.sender.address,
        attested=attested,
        recipients=recipients_of(found),
        sent_at=found.first.sent_at,
        base_commit=letter.base_commit(found.letter),
        letter=clean_text(found.letter[:LONGEST_LETTER]),
        changelog=clean_text(letter.changelog(found.letter, found.version)),
        strays=list(found.strays),
        patches=[
            stored_patch(sent.patch, sent.mail.message_id, sent.mail.body) for sent in found.patches
        ],
        changes=changes,
        renamed=names,
        patches_sha256=put(patches, blobs),
    )
    series.revisions.append(revision)
    session.flush()
    audit.record(
        session,
        Action.SERIES_ADD,
        subject_of(revision),
        after={
            "state": state,
            "why": why,
            "sender": revision.sender,
            "attested": attested,
            "digest": revision.digest,
        },
    )
    return revision


def _in_its_place(same: Sequence[SeriesRevision], number: int, attested: Attested) -> list[str]:
    """What is wrong with another revision under a number that is taken.

    One that nobody attests and nobody approved makes way for one that is attested: anybody can
    send patches under a number that is not used yet.
    """
    standing = [r for r in same if r.state != RevisionState.REFUSED]
    if attested == Attested.PASS:
        for revision in standing:
            if revision.state == RevisionState.WAITING and revision.attested != Attested.PASS:
                revision.state = RevisionState.REFUSED
                revision.why = f"another v{number} came, which its sender signed"
        standing = [r for r in standing if r.state != RevisionState.REFUSED]
    return [f"another v{number} is stored, with other patches"] if standing else []


def _standing(
    faults: Sequence[str], sender: str, attested: Attested, trust: Trust
) -> tuple[RevisionState, str]:
    """The state that a revision begins with, and why."""
    if faults:
        return RevisionState.REFUSED, "; ".join(clean_text(fault) for fault in faults)
    if sender not in trust.senders:
        return RevisionState.WAITING, f"{sender or 'its sender'} is not on the list of senders"
    if attested == Attested.FAIL:
        return RevisionState.WAITING, f"its signature is not {sender}'s: somebody else may write so"
    if attested == Attested.MISSING:
        return RevisionState.WAITING, (
            f"{sender} is on the list of senders, but nothing attests that they wrote it"
        )
    return RevisionState.APPROVED, f"{sender} is on the list of senders and attested"


def before_this(series: Series, number: int) -> SeriesRevision | None:
    """The latest earlier revision that is whole."""
    earlier = [
        revision
        for revision in series.revisions
        if revision.number < number
        and not revision.retest
        and revision.state != RevisionState.REFUSED
    ]
    return max(earlier, key=lambda revision: revision.number, default=None)


def patches_of(revision: SeriesRevision, blobs: BlobStore) -> list[Patch]:
    """Its patches as they are applied, in their order."""
    texts = texts_of(revision.patches_sha256, blobs)
    return [
        Patch(said.title, text) for said, text in zip(revision.patches, texts, strict=False) if text
    ]


def texts_of(digest: str, blobs: BlobStore) -> list[str]:
    """The texts that :func:`put` stored under *digest*, in their order."""
    return [text.decode() for text in blobs.read(digest).split(_SEPARATOR)]


def patch_text(session: Session, name: str, label: str, position: int, blobs: BlobStore) -> str:
    """One patch of a revision, from 1, as it is applied.

    Raises :class:`NotFound` where there is no such series, revision or patch.
    """
    digest = find_revision(session, name, label).patches_sha256
    return text_at(digest, position, blobs, f"{name} {label} has no patch")


def text_at(digest: str, position: int, blobs: BlobStore, missing: str) -> str:
    """One of :func:`texts_of`, from 1. Raises :class:`NotFound`, which begins with *missing*."""
    texts = texts_of(digest, blobs)
    if not 1 <= position <= len(texts):
        raise NotFound(f"{missing} {position}", hint=f"It has {len(texts)}.")
    return texts[position - 1]


def put(patches: Sequence[Patch], blobs: BlobStore) -> str:
    """Store patches; their digest, by which :func:`patches_of` finds them."""
    return blobs.put(_SEPARATOR.join(patch.text.encode() for patch in patches))


def stored_patch(patch: Patch, message_id: str, text: str) -> SeriesPatch:
    """What is said of a patch beside its text; *text*: of the mail that brought it."""
    said = letter.trailers(text)
    return SeriesPatch(
        title=clean_text(patch.title),
        message_id=message_id,
        sha256=patch.sha256,
        files=[clean_text(file) for file in patch.files],
        fixes=[clean_text(value) for name, value in said if name == "fixes"],
    )


def recipients_of(found: FoundRevision) -> Recipients:
    """The sender, and everybody whom its mails or tags name."""
    first = found.first
    to = [first.sender, *first.to]
    tagged = [
        value
        for sent in found.patches
        for name, value in letter.trailers(sent.mail.body)
        if name in _ASKED_FOR
    ]
    cc = [*first.cc, *(a for sent in found.patches for a in (*sent.mail.to, *sent.mail.cc))]
    shown_to = _once((each.written for each in to), ())
    return Recipients(
        subject=first.subject[:300],
        to=shown_to,
        cc=_once(
            [*(each.written for each in cc), *(clean_text(v) for v in tagged if "@" in v)], shown_to
        ),
        references=[*first.references[-20:], first.message_id],
    )


def _once(values: Iterable[str], taken: Collection[str]) -> list[str]:
    seen = {_bare(value) for value in taken}
    found = []
    for value in values:
        if _bare(value) and _bare(value) not in seen:
            seen.add(_bare(value))
            found.append(value)
    return found[:100]


def _bare(value: str) -> str:
    match = re.search(r"(?<![^\s<>])([^\s<>]+@[A-Za-z0-9.-]+)", value)
    return match[1].lower() if match else ""


def find(session: Session, name: str, *, lock: bool = False) -> Series:
    """The series of that name or id; *lock*: nobody else changes it meanwhile.

    Raises NotFound.
    """
    series = repository.by_name(session, name, lock=lock)
    if series is None:
        raise NotFound(
            f"no series {name[:80]!r}", hint="`mitigauge series list` shows all, `add` adds one."
        )
    return series


def of_key(session: Session, key: str) -> Series:
    """The series of that key. Raises NotFound."""
    series = repository.by_key(session, key)
    if series is None:
        raise NotFound(f"no series {key[:80]!r}", hint="It was never added.")
    return series


def subject_of(revision: SeriesRevision) -> Subject:
    """A revision as entries of the audit log name it."""
    return Subject(SubjectKind.SERIES, f"{revision.series.name} {revision.label}")


def change(session: Session, series: Series, wanted: SeriesOptions) -> None:
    """Take over what the operator says of a stored series; what is empty stays."""
    before = _options_of(series)
    take_over(series, wanted)
    changed = {name: said for name, said in _options_of(series).items() if said != before[name]}
    audit.record(
        session,
        Action.SERIES_SET,
        Subject(SubjectKind.SERIES, series.name),
        before={name: before[name] for name in changed},
        after=changed,
    )


def _options_of(series: Series) -> dict[str, object]:
    names = ("spec", "base", "profile", "profile_sha256", "archive", "watched", "loose")
    return {name: getattr(series, name) for name in names}


def take_over(series: Series, wanted: SeriesOptions) -> None:
    """Set what is said of a series; what is empty stays."""
    series.spec = wanted.spec or series.spec
    series.base = wanted.base or series.base
    if wanted.profile:
        series.profile, series.profile_sha256 = wanted.profile, wanted.profile_sha256
    series.archive = wanted.archive or series.archive
    series.watched = series.watched or bool(wanted.archive)
    if wanted.loose is not None:
        series.loose = wanted.loose


def find_revision(session: Session, name: str, label: str, *, lock: bool = False) -> SeriesRevision:
    """Its revision of that label: ``v3``, ``3``, or ``v3+fix-7``; empty: the newest.

    Raises NotFound.
    """
    series = find(session, name, lock=lock)
    wanted = label if not label or label.startswith("v") else f"v{label}"
    fitting = [revision for revision in series.revisions if wanted in ("", revision.label)]
    whole = [r for r in fitting if r.state != RevisionState.REFUSED] or fitting
    if not whole:
        known = ", ".join(revision.label for revision in series.revisions) or "none"
        raise NotFound(f"{series.name} has no revision {label[:40]!r}", hint=f"Known: {known}.")
    return whole[-1]


def approve(session: Session, revision: SeriesRevision, by: str = OPERATOR) -> None:
    """A person says that its patches may run on our hosts.

    Raises InvalidInput for one that is refused, or that nobody has to approve any more.
    """
    if revision.state == RevisionState.REFUSED:
        raise InvalidInput(
            f"{revision.label} cannot run: {revision.why}",
            hint="A whole revision has to be sent, or added from files.",
        )
    if revision.state != RevisionState.WAITING:
        raise InvalidInput(
            f"{revision.label} is {revision.state} already", hint="There is nothing to approve."
        )
    audit.record(
        session,
        Action.SERIES_APPROVE,
        subject_of(revision),
        before={"state": revision.state},
        after={"state": RevisionState.APPROVED, "digest": revision.digest},
    )
    revision.state = RevisionState.APPROVED
    revision.approved_by = by
    revision.why = f"approved by {by}"
    session.flush()


def approve_seen(
    session: Session, name: str, label: str, digest: str, by: str = OPERATOR
) -> SeriesRevision:
    """Approve the revision of that *label* whose digest begins so: what a person looked at.

    Raises InvalidInput where other patches stand there now, saying what changed, and as
    :func:`approve`; NotFound for a series or label that there is not.
    """
    if not DIGEST.fullmatch(digest):
        raise InvalidInput(
            f"{digest[:80]!r} is no digest",
            hint="`mitigauge series show NAME REVISION` prints it: give 12 digits of it or more.",
        )
    if not label:
        raise InvalidInput("no revision is named", hint="Give its label, as v3, and its digest.")
    now = find_revision(session, name, label, lock=True)
    same = [r for r in now.series.revisions if r.digest.startswith(digest)]
    seen = next((revision for revision in same if revision.label == now.label), None)
    if seen is None:
        raise InvalidInput(
            f"{now.label} is not what you looked at: {_what_came(same, now, digest)}",
            hint=f"Look at it: `mitigauge series show {now.series.name} {now.label} --diff`.",
        )
    approve(session, seen, by)
    return seen


def _what_came(same: Sequence[SeriesRevision], now: SeriesRevision, digest: str) -> str:
    """What stands under a label now, beside what a person looked at, as far as that is known."""
    what = (
        f"it came {now.received_at:%Y-%m-%d %H:%M} UTC from {now.sender or 'nobody'} and has the "
        f"digest {now.short_digest}, not {digest[:16]}"
    )
    if not same:
        return f"{what}; nothing of {now.series.name} has that one"
    before = {patch.sha256 for patch in same[0].patches}
    after = {patch.sha256 for patch in now.patches}
    titles = [f"{n} {p.title!r}" for n, p in enumerate(now.patches, 1) if p.sha256 not in before]
    gone = len(before - after)
    said = f"against {same[0].label}, which you looked at, {len(titles)} of its patches are others"
    return f"{what}; {said} ({', '.join(titles[:5]) or 'none'}), and {gone} are gone"


def require_startable(revision: SeriesRevision) -> None:
    """Raise InvalidInput for a revision that may not run, or whose series has no spec."""
    if revision.experiment_id is not None:
        raise InvalidInput(
            f"{revision.label} is measured by experiment {revision.experiment_id}",
            hint="`mitigauge series retest` measures it again.",
        )
    if revision.state not in STARTABLE:
        way = "mitigauge series approve" if revision.state == RevisionState.WAITING else "see why"
        raise InvalidInput(f"{revision.label} is {revision.state}: {revision.why}", hint=way)
    if not revision.series.spec:
        raise InvalidInput(
            f"no spec measures {revision.series.name}",
            hint="Give one of ours: `mitigauge series set NAME --spec vmscape`.",
        )


def begin(session: Session, revision: SeriesRevision) -> None:
    """Note that its kernel is being built. Raises as :func:`require_startable` does."""
    require_startable(revision)
    if revision.state in (RevisionState.FAILED, RevisionState.SET_ASIDE):
        # A person asks for it again.
        revision.failures, revision.again_at = 0, None
    revision.state, revision.why = RevisionState.BUILDING, "its kernel is being built"
    session.flush()


def measuring(session: Session, revision: SeriesRevision, kernel: int, experiment: int) -> None:
    """Note by what it is measured."""
    revision.state, revision.why = RevisionState.MEASURING, f"experiment {experiment}"
    revision.experiment_id = experiment
    _built(session, revision, kernel)


def nothing_runs_it(session: Session, revision: SeriesRevision, kernel: int, why: str) -> None:
    """Note that no case runs what it changes, so that nothing is measured."""
    revision.state, revision.why = RevisionState.NOTHING_RUNS_IT, clean_text(why)[:LONGEST_WHY]
    _built(session, revision, kernel)


def _built(session: Session, revision: SeriesRevision, kernel: int) -> None:
    revision.kernel_id = kernel
    revision.failures, revision.again_at = 0, None
    built = session.get_one(Kernel, kernel)
    # Its trends are the series', by the id that no mail chooses.
    built.series_id = built.series_id or revision.series_id
    session.flush()


def failed(session: Session, revision: SeriesRevision, why: str) -> None:
    """Note why nothing can be measured of it: a fault of its author's, which ends it."""
    revision.state, revision.why = RevisionState.FAILED, clean_text(why)[:LONGEST_WHY]
    session.flush()


def put_off(session: Session, revision: SeriesRevision, why: str) -> None:
    """Note that our side failed: it is tried again, later and later, and then set aside."""
    revision.failures += 1
    over = revision.failures >= MOST_TRIES
    revision.state = RevisionState.SET_ASIDE if over else RevisionState.APPROVED
    revision.again_at = database_now(session) + timedelta(seconds=pause_s(revision.failures))
    tried = f"no fault of its patches, failure {revision.failures} of {MOST_TRIES}"
    revision.why = clean_text(f"{tried}: {why}")[:LONGEST_WHY]
    session.flush()


def ended(session: Session, revision: SeriesRevision, why: str) -> None:
    """Note that nobody builds it any more; `mitigauge series start` begins it anew."""
    if revision.state in (RevisionState.APPROVED, RevisionState.BUILDING):
        revision.state, revision.why = RevisionState.SET_ASIDE, clean_text(why)[:LONGEST_WHY]
        session.flush()
