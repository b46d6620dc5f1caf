"""Series and revisions as they are stored and shown."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.tracking.series.case_choice import CaseChoice
from mitigauge.tracking.series.range_diff import Change, PatchChange, Renamed
from mitigauge.tracking.series.request import RequestKind
from mitigauge.tracking.series.states import Attested, RequestState, RevisionState


class SeriesPatch(BaseModel):
    """One patch of a revision; *sha256*: of its text."""

    title: str
    message_id: str
    sha256: str
    files: list[str]
    fixes: list[str]


class Recipients(BaseModel):
    """Whom an answer goes to, addresses as ``Name <address>``, and under which subject."""

    subject: str = ""
    to: list[str]
    cc: list[str]
    references: list[str]


class RevisionView(BaseModel):
    """One revision."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    number: int
    label: str
    digest: str
    title: str
    retest: str
    state: RevisionState
    why: str
    message_id: str
    sender: str
    attested: Attested
    sent_at: datetime | None
    received_at: datetime
    base_commit: str
    letter: str
    changelog: str
    strays: list[str]
    loosely: list[str] = Field(
        default=[], description="patches that did not apply as they are, and how they did"
    )
    patches: list[SeriesPatch]
    changes: list[PatchChange]
    renamed: list[Renamed]
    all_cases: bool = Field(
        default=False, description="cases that run nothing of what it changes are wanted too"
    )
    choices: list[CaseChoice] = Field(
        default=[],
        description="which cases of each comparison of kernels in one mode are measured, and why; "
        "none: all are",
    )
    experiment_id: int | None
    limits: str = Field(
        default="", description="what limits say of its experiment, in one line; empty: nothing"
    )
    approved_by: str

    @property
    def changed(self) -> str:
        """How many patches are new, changed and gone, in words."""
        counts = Counter(change.change for change in self.changes)
        said = [f"{counts[kind]} {kind}" for kind in Change if counts[kind]]
        return ", ".join(said)


class Approval(BaseModel):
    """What a person looked at before saying that it may run."""

    digest: str = Field(max_length=64, description="of the revision: 12 hexadecimal digits or more")


class StartRequest(BaseModel):
    """How a revision is measured."""

    model_config = ConfigDict(extra="forbid")

    all_cases: bool = Field(
        default=False, description="also cases that are known to run nothing of what it changes"
    )


class SeriesView(BaseModel):
    """One series with its revisions, the first one first."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    title: str
    spec: str
    base: str
    profile: str
    """The config profile of its kernels; empty: `lab` on emulated hosts, else the hosts' own."""
    loose: bool
    archive: str
    watched: bool
    created_at: datetime
    revisions: list[RevisionView]
    looked_at: datetime | None = None
    """When its archive was asked last; null: never."""
    archive_error: str = ""
    """What is wrong with its archive; empty: nothing."""
    set_aside: list[str] = []
    """Threads of its archive that could not be read, and why."""


class SeriesHead(BaseModel):
    """One series in a list."""

    id: int
    name: str
    title: str
    spec: str
    watched: bool
    revisions: int
    newest: str
    state: RevisionState | None
    why: str
    experiment_id: int | None
    received_at: datetime | None


class RequestView(BaseModel):
    """One mail that asks for something. *mail_sha256*: the mail, in the blob store."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    message_id: str
    sender: str
    subject: str
    attested: Attested
    asked: RequestKind
    line: str
    state: RequestState
    why: str
    mail_sha256: str
    received_at: datetime
    receipt_at: datetime | None
    result_at: datetime | None
    failures: int
    error: str
    about: str
    """The series and revision that is measured for it, or that it answers; empty: none."""

    @property
    def answered(self) -> str:
        """How far it is answered, in a word."""
        return "result" if self.result_at else "receipt" if self.receipt_at else ""


class RequestWhole(RequestView):
    """One request with its mail, as hostile as any mail."""

    mail: str = Field(description="as it came, headers and all, up to the limit")
    cut: bool = Field(description="whether more of it stands in the blob store")


class RequestApproval(BaseModel):
    """Which mail a person looked at before saying that it is meant."""

    model_config = ConfigDict(extra="forbid")

    digest: str = Field(max_length=64, description="of the mail: 12 hexadecimal digits or more")
