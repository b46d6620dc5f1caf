"""Tables of bisections: what is asked, candidates, points that can be booted, and steps."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord
from mitigauge.storage.database.json_column import JsonOf
from mitigauge.tracking.bisect.records import BisectionAnswer, PointLevel, Source, Value
from mitigauge.tracking.bisect.states import BisectionKind, BisectionState


class Bisection(Base):
    """A search for the change that made a figure worse, and what came of it."""

    __tablename__ = "bisection"
    __table_args__ = (
        CheckConstraint(one_of("kind", BisectionKind), name="kind"),
        CheckConstraint(one_of("state", BisectionState), name="state"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[BisectionKind] = mapped_column(EnumWord(BisectionKind))
    title: Mapped[str]
    state: Mapped[BisectionState] = mapped_column(EnumWord(BisectionState))
    # What it does just now, or why it is in that state, in words.
    why: Mapped[str]
    environment: Mapped[str]
    hosts: Mapped[list[str]] = mapped_column(JsonOf(list[str]))
    # Whether every host's time counts instructions.
    counted: Mapped[bool]
    emulated: Mapped[bool]
    workload: Mapped[str]
    parameters: Mapped[dict[str, Any]]
    case_title: Mapped[str]
    metric: Mapped[str]
    unit: Mapped[str]
    higher_is_worse: Mapped[bool]
    # Of natural logarithms: ends that differ by less are refused.
    minimum_effect: Mapped[float]
    confidence: Mapped[float]
    budget_boots: Mapped[int]
    budget_s: Mapped[float]
    source: Mapped[Source] = mapped_column(JsonOf(Source))
    # The patches in their order, in the blob store.
    patches_sha256: Mapped[str | None]
    # The text of the kernels' config profile, in the blob store; null: it was not read yet.
    profile_sha256: Mapped[str | None]
    # Spent: boots that were begun by steps that are over, seconds of building and measuring.
    boots: Mapped[int] = mapped_column(server_default=text("0"))
    seconds: Mapped[float] = mapped_column(server_default=text("0"))
    # How often our side failed, one after the other, and when it is tried again.
    failures: Mapped[int] = mapped_column(server_default=text("0"))
    again_at: Mapped[datetime | None]
    # After the last step: that no candidate is it, and that several are.
    none_probability: Mapped[float | None]
    several_probability: Mapped[float | None]
    answer: Mapped[BisectionAnswer | None] = mapped_column(JsonOf(BisectionAnswer))
    submitted_by: Mapped[str] = mapped_column(server_default="operator")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]

    candidates: Mapped[list[BisectionCandidate]] = relationship(
        order_by="BisectionCandidate.position"
    )
    points: Mapped[list[BisectionPoint]] = relationship(order_by="BisectionPoint.position")
    steps: Mapped[list[BisectionStep]] = relationship(order_by="BisectionStep.number")


class BisectionCandidate(Base):
    """One change, between point *position* − 1 and point *position*."""

    __tablename__ = "bisection_candidate"

    bisection_id: Mapped[int] = mapped_column(ForeignKey("bisection.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    # A commit, the digest of a patch, or an arm.
    name: Mapped[str]
    title: Mapped[str]
    message_id: Mapped[str] = mapped_column(server_default="")
    # Who is told of it beside the thread: `Name <address>`.
    people: Mapped[list[str]] = mapped_column(JsonOf(list[str]), server_default=text("'[]'"))
    files: Mapped[list[str]] = mapped_column(JsonOf(list[str]), server_default=text("'[]'"))
    prior: Mapped[float]
    prior_why: Mapped[str] = mapped_column(server_default="")
    probability: Mapped[float | None]


class BisectionPoint(Base):
    """What can be booted: point 0 is the first end. One after the last end is the revert."""

    __tablename__ = "bisection_point"

    bisection_id: Mapped[int] = mapped_column(ForeignKey("bisection.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    mode: Mapped[str]
    # Of kernels that were there already; else it is built.
    release: Mapped[str] = mapped_column(server_default="")
    kernel_id: Mapped[int | None] = mapped_column(ForeignKey(Kernel.id))
    # Why it is not measured any more; empty: it is.
    skipped: Mapped[str] = mapped_column(server_default="")
    # Of the revert: the candidate that is taken out.
    without: Mapped[int | None]

    kernel: Mapped[Kernel | None] = relationship()


class BisectionStep(Base):
    """One experiment of a bisection."""

    __tablename__ = "bisection_step"
    __table_args__ = (UniqueConstraint("experiment_id"),)

    bisection_id: Mapped[int] = mapped_column(ForeignKey("bisection.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    points: Mapped[list[int]] = mapped_column(JsonOf(list[int]))
    blocks: Mapped[int]
    purpose: Mapped[str]
    why: Mapped[str]
    # The candidate that it verifies.
    verifies: Mapped[int | None]
    profiled: Mapped[bool]
    experiment_id: Mapped[int] = mapped_column(ForeignKey(Experiment.id))
    case_id: Mapped[int]
    # Null while its experiment goes on.
    taken_in_at: Mapped[datetime | None]
    outcome: Mapped[str] = mapped_column(server_default="")
    observed: Mapped[list[Value]] = mapped_column(JsonOf(list[Value]), server_default=text("'[]'"))
    levels: Mapped[list[PointLevel]] = mapped_column(
        JsonOf(list[PointLevel]), server_default=text("'[]'")
    )
    boots: Mapped[int] = mapped_column(server_default=text("0"))
    measured_s: Mapped[float] = mapped_column(server_default=text("0"))

    experiment: Mapped[Experiment] = relationship()
