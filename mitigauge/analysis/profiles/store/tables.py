"""Tables of profiles: names, shared trees of frames, and what each boot's profile counted."""

from __future__ import annotations

import hashlib
from datetime import datetime

from sqlalchemy import (
    BigInteger,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column, relationship

from mitigauge.core.wire import profile
from mitigauge.storage.database.base import Base

System = profile.System


def digest_of(name: str) -> bytes:
    """SHA-256 of *name* in UTF-8, by which a frame's name is found."""
    return hashlib.sha256(name.encode()).digest()


class FrameSymbol(Base):
    """A name of a frame, of any profile and of any length."""

    __tablename__ = "frame_symbol"
    # An index takes no name of more than some 2,700 bytes.
    __table_args__ = (UniqueConstraint("digest"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    digest: Mapped[bytes] = mapped_column(
        LargeBinary,
        default=lambda context: digest_of(context.get_current_parameters()["name"]),
    )


class FrameTree(Base):
    """All stacks that profiles of one workload share, packed.

    A row a node would take most of a second to read; this takes milliseconds. Nodes
    are only ever added, so that profiles' node numbers stay true.
    """

    __tablename__ = "frame_tree"
    __table_args__ = (UniqueConstraint("name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    nodes: Mapped[int]
    rules_version: Mapped[int]
    # A megabyte, of which most that ask for a tree need nothing.
    layout: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)


class Profile(Base):
    """What one profiled pass counted; weights are sums of the event's periods."""

    __tablename__ = "profile"
    __table_args__ = (
        UniqueConstraint("boot_id", "case_id", "side"),
        # Imported files; boots' profiles are theirs even where two are alike.
        Index(
            "uq_profile_imported",
            *("tree_id", "label", "raw_sha256"),
            unique=True,
            postgresql_where=text("boot_id IS NULL"),
        ),
        Index("ix_profile_case_id", "case_id"),
        Index("ix_profile_raw_sha256", "raw_sha256"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    tree_id: Mapped[int] = mapped_column(ForeignKey("frame_tree.id"))
    boot_id: Mapped[int | None] = mapped_column(ForeignKey("boot.id"))
    case_id: Mapped[int | None] = mapped_column(ForeignKey("benchmark_case.id"))
    system: Mapped[System] = mapped_column("side", String, server_default="host")
    label: Mapped[str] = mapped_column(server_default="")
    event: Mapped[str]
    hz: Mapped[int | None]
    samples: Mapped[int] = mapped_column(BigInteger)
    lost: Mapped[int] = mapped_column(BigInteger, server_default="0")
    weight: Mapped[int] = mapped_column(BigInteger)
    idle: Mapped[int] = mapped_column(BigInteger, server_default="0")
    unknown: Mapped[int] = mapped_column(BigInteger, server_default="0")
    truncated: Mapped[int] = mapped_column(BigInteger, server_default="0")
    operations: Mapped[float | None]
    overhead_percent: Mapped[float | None]
    seconds: Mapped[float | None]
    counters: Mapped[dict[str, float]] = mapped_column(JSONB, server_default="{}")
    tool: Mapped[str] = mapped_column(server_default="")
    raw_sha256: Mapped[str]
    stacks: Mapped[bytes] = mapped_column(LargeBinary)
    functions: Mapped[bytes] = mapped_column(LargeBinary)
    stored_at: Mapped[datetime] = mapped_column(server_default=func.now())

    tree: Mapped[FrameTree] = relationship()


class ProfileInstructions(Base):
    """What a profiled pass left of its hottest functions' code, or why it left none."""

    __tablename__ = "profile_instructions"

    profile_id: Mapped[int] = mapped_column(
        ForeignKey("profile.id", ondelete="CASCADE"), primary_key=True
    )
    functions: Mapped[int]
    # Functions of the kernel with samples, for which there was no room.
    left_out: Mapped[int]
    detail: Mapped[str] = mapped_column(server_default="")


class FunctionListing(Base):
    """A function's instructions as they ran, packed; boots of one kernel and mode share it."""

    __tablename__ = "function_listing"
    __table_args__ = (UniqueConstraint("digest"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    instructions: Mapped[int]
    lines: Mapped[bytes] = mapped_column(LargeBinary)


class ProfileFunction(Base):
    """Where in a function a profile's own samples fell: lines of its listing with counts."""

    __tablename__ = "profile_function"
    __table_args__ = (Index("ix_profile_function_listing_id", "listing_id"),)

    profile_id: Mapped[int] = mapped_column(
        ForeignKey("profile.id", ondelete="CASCADE"), primary_key=True
    )
    # By its normalised name; which several parts may have (`f.cold`, or another file's `f`).
    symbol_id: Mapped[int] = mapped_column(ForeignKey("frame_symbol.id"), primary_key=True)
    part: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    listing_id: Mapped[int] = mapped_column(ForeignKey("function_listing.id"))
    counts: Mapped[bytes] = mapped_column(LargeBinary)
