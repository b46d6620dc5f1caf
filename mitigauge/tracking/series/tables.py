"""Tables of patch series and their revisions."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord
from mitigauge.storage.database.json_column import JsonOf
from mitigauge.tracking.series.case_choice import CaseChoice
from mitigauge.tracking.series.range_diff import Change, PatchChange, Renamed
from mitigauge.tracking.series.request import RequestKind
from mitigauge.tracking.series.schemas import Recipients, SeriesPatch
from mitigauge.tracking.series.states import Attested, RequestState, RevisionState


class Series(Base):
    """A patch series; *key*: its change-id, or its sender and title where it has none."""

    __tablename__ = "series"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    key: Mapped[str] = mapped_column(unique=True)
    title: Mapped[str]
    # Which of our own specs measures it, by its name below experiments/; empty: none yet.
    spec: Mapped[str]
    # The source package that its patches are applied to.
    base: Mapped[str]
    # The config profile of its kernels; empty: its hosts decide.
    profile: Mapped[str]
    # The profile's text, in the blob store; null: it was not read yet.
    profile_sha256: Mapped[str | None]
    # Whether its patches may apply with less context than they have.
    loose: Mapped[bool] = mapped_column(server_default=text("false"))
    # Where new revisions are looked for; empty: nowhere.
    archive: Mapped[str]
    watched: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())

    revisions: Mapped[list[SeriesRevision]] = relationship(
        back_populates="series", order_by="SeriesRevision.id"
    )


class ListArchive(Base):
    """What is known of an archive that is looked at: one row an address."""

    __tablename__ = "list_archive"

    address: Mapped[str] = mapped_column(primary_key=True)
    etag: Mapped[str] = mapped_column(server_default="")
    modified: Mapped[str] = mapped_column(server_default="")
    # Message-ids that were dealt with, the latest last.
    seen: Mapped[list[str]] = mapped_column(JsonOf(list[str]))
    # Message-id → when it was first seen, of series whose mails are still coming.
    pending: Mapped[dict[str, datetime]] = mapped_column(JsonOf(dict[str, datetime]))
    failures: Mapped[int] = mapped_column(server_default=text("0"))
    # What is wrong with it; empty: nothing.
    error: Mapped[str] = mapped_column(server_default="")
    # Its search is asked until then: mails may have come and gone between two looks.
    search_until: Mapped[datetime | None]
    looked_at: Mapped[datetime | None]
    next_look_at: Mapped[datetime | None]


class SeriesRevision(Base):
    """One revision, or a retest of one: with a fix on top, on another base, or once more.

    *retest* says what it is then: the fix's title, the base.
    """

    __tablename__ = "series_revision"
    __table_args__ = (
        UniqueConstraint("series_id", "number", "digest"),
        CheckConstraint(one_of("state", RevisionState), name="state"),
        CheckConstraint(one_of("attested", Attested), name="attested"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id"), index=True)
    number: Mapped[int]
    # SHA-256 over the patches in their order.
    digest: Mapped[str]
    title: Mapped[str]
    retest: Mapped[str] = mapped_column(server_default="")
    # The source package of a retest on another base; empty: the series' own.
    base: Mapped[str] = mapped_column(server_default="")
    state: Mapped[RevisionState] = mapped_column(EnumWord(RevisionState))
    # Why it is in that state, in words.
    why: Mapped[str]
    # How often our side failed, one after the other, and when it is tried again.
    failures: Mapped[int] = mapped_column(server_default=text("0"))
    again_at: Mapped[datetime | None]
    message_id: Mapped[str]
    sender: Mapped[str]
    attested: Mapped[Attested] = mapped_column(EnumWord(Attested))
    recipients: Mapped[Recipients] = mapped_column(JsonOf(Recipients))
    sent_at: Mapped[datetime | None]
    # The commit it names as its base; what it is built on is the series' base.
    base_commit: Mapped[str]
    letter: Mapped[str]
    changelog: Mapped[str]
    strays: Mapped[list[str]] = mapped_column(JsonOf(list[str]))
    patches: Mapped[list[SeriesPatch]] = mapped_column(JsonOf(list[SeriesPatch]))
    # Against the revision before; empty for the first.
    changes: Mapped[list[PatchChange]] = mapped_column(JsonOf(list[PatchChange]))
    renamed: Mapped[list[Renamed]] = mapped_column(JsonOf(list[Renamed]))
    # The patches as they are applied, in the blob store.
    patches_sha256: Mapped[str]
    # Whether a person wants cases measured too that run nothing of what it changes.
    all_cases: Mapped[bool] = mapped_column(server_default=text("false"))
    # Which cases of its comparisons of kernels were measured and which were not, and why.
    choices: Mapped[list[CaseChoice]] = mapped_column(
        JsonOf(list[CaseChoice]), server_default=text("'[]'")
    )
    kernel_id: Mapped[int | None] = mapped_column(ForeignKey(Kernel.id))
    experiment_id: Mapped[int | None] = mapped_column(ForeignKey(Experiment.id))
    approved_by: Mapped[str] = mapped_column(server_default="")
    received_at: Mapped[datetime] = mapped_column(server_default=func.now())

    series: Mapped[Series] = relationship(back_populates="revisions")
    kernel: Mapped[Kernel | None] = relationship()

    @property
    def loosely(self) -> list[str]:
        """Patches of its kernel that did not apply as they are, and how they did."""
        return self.kernel.loosely if self.kernel else []

    @property
    def label(self) -> str:
        """``v3``; of retests ``v3+fix-N``, ``v3+base-N`` on another base, ``v3+again-N``."""
        if not self.retest:
            return f"v{self.number}"
        kind = "fix" if self.has_fix else "base" if self.base else "again"
        return f"v{self.number}+{kind}-{self.id}"

    @property
    def short_digest(self) -> str:
        """As much of its digest as people give."""
        return self.digest[:16]

    @property
    def has_fix(self) -> bool:
        """Whether it is a retest with patches on top."""
        return bool(self.retest) and any(each.change != Change.SAME for each in self.changes)


class SeriesRequest(Base):
    """A mail that asks for something: what was understood, what came of it, what was answered."""

    __tablename__ = "series_request"
    __table_args__ = (
        CheckConstraint(one_of("state", RequestState), name="state"),
        CheckConstraint(one_of("asked", RequestKind), name="asked"),
        CheckConstraint(one_of("attested", Attested), name="attested"),
        # What is signed is dealt with once, under whatever other heads it is sent again.
        Index("uq_series_request_signature", "signature", unique=True,
              postgresql_where=text("signature <> ''")),
    )  # fmt: skip

    id: Mapped[int] = mapped_column(primary_key=True)
    # Without one in the mail: made of its bytes.
    message_id: Mapped[str] = mapped_column(unique=True)
    sender: Mapped[str] = mapped_column(index=True)
    subject: Mapped[str]
    # What else an answer's heads need: addresses and ids of the mail.
    recipients: Mapped[Recipients] = mapped_column(JsonOf(Recipients))
    attested: Mapped[Attested] = mapped_column(EnumWord(Attested))
    # SHA-256 of the signatures of one that is attested; else empty.
    signature: Mapped[str]
    # The mail, in the blob store.
    mail_sha256: Mapped[str]
    asked: Mapped[RequestKind] = mapped_column(EnumWord(RequestKind))
    line: Mapped[str]
    state: Mapped[RequestState] = mapped_column(EnumWord(RequestState))
    why: Mapped[str]
    # The revision whose thread it answers, and what is measured for it.
    revision_id: Mapped[int | None] = mapped_column(ForeignKey("series_revision.id"), index=True)
    measured_id: Mapped[int | None] = mapped_column(ForeignKey("series_revision.id"), index=True)
    received_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # When the two answers went out: what was understood, and the result.
    receipt_at: Mapped[datetime | None]
    result_at: Mapped[datetime | None]
    # How often an answer was not taken, and what the server said last.
    failures: Mapped[int] = mapped_column(server_default=text("0"))
    error: Mapped[str] = mapped_column(server_default="")

    revision: Mapped[SeriesRevision | None] = relationship(foreign_keys=[revision_id])
    measured: Mapped[SeriesRevision | None] = relationship(foreign_keys=[measured_id])

    @property
    def about(self) -> str:
        """``toys v3+fix-7``: what is measured for it, or what it answers; empty: nothing."""
        revision = self.measured or self.revision
        return f"{revision.series.name} {revision.label}" if revision else ""


class MailFault(Base):
    """A mail of a Maildir, or a thread of an archive, that could not be dealt with.

    *place*: ``maildir``, or the archive's address; *name*: the file's, or the message-id.
    """

    __tablename__ = "mail_fault"
    __table_args__ = (UniqueConstraint("place", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    place: Mapped[str]
    name: Mapped[str]
    failures: Mapped[int] = mapped_column(server_default=text("0"))
    why: Mapped[str] = mapped_column(server_default="")
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]
    # It is not tried again.
    set_aside: Mapped[bool] = mapped_column(server_default=text("false"))
