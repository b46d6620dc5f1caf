"""Tables of candidate kernels."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.kernels.states import KernelState
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord
from mitigauge.storage.database.json_column import JsonOf


class Kernel(Base):
    """One kernel that was built here or brought in."""

    __tablename__ = "kernel"
    __table_args__ = (
        CheckConstraint(one_of("state", KernelState), name="state"),
        CheckConstraint(
            "state <> 'built' OR (package_sha256 IS NOT NULL AND build_id IS NOT NULL)",
            name="built_has_package",
        ),
        # Removed ones keep theirs, which another package may then have.
        Index(
            "uq_kernel_release",
            "release",
            unique=True,
            postgresql_where=text("state <> 'removed'"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    # As `uname -r` says it; a build has one of its own.
    release: Mapped[str | None]
    # SHA-256 of the recipe; of the package where it was brought in.
    digest: Mapped[str] = mapped_column(unique=True)
    state: Mapped[KernelState] = mapped_column(EnumWord(KernelState))
    label: Mapped[str]
    imported: Mapped[bool]
    # SHA-256 of the recipe but for its layout; null where it was brought in, or built before this
    # was stored.
    source_digest: Mapped[str | None]
    # The patch series that it was first measured for, by its id; null where it was built for none.
    series_id: Mapped[int | None]
    base: Mapped[str]
    profile: Mapped[str]
    toolchain: Mapped[str]
    layout: Mapped[str]
    # [{title, digest}] in the order in which they were applied.
    patches: Mapped[list[dict[str, Any]]] = mapped_column(JsonOf(list[dict[str, Any]]))
    # Patches that applied with less context than they have: which, and where they landed.
    loosely: Mapped[list[str]] = mapped_column(
        JsonOf(list[str]), server_default=text("'[]'::jsonb")
    )
    # What the configuration did not take of the profile.
    config_refused: Mapped[list[str]] = mapped_column(JsonOf(list[str]))
    build_id: Mapped[str | None]
    # SHA-256 of code and data without what names the build: the same where only comments differ.
    content_digest: Mapped[str | None]
    # What the code of each function is, in the blob store; null where it was brought in.
    functions_sha256: Mapped[str | None]
    package_sha256: Mapped[str | None]
    package_bytes: Mapped[int | None] = mapped_column(BigInteger)
    log_sha256: Mapped[str | None]
    error: Mapped[str] = mapped_column(server_default="")
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]


class KernelRename(Base):
    """What a kernel calls functions of another one: the name in *after* by that in *before*."""

    __tablename__ = "kernel_rename"

    before_id: Mapped[int] = mapped_column(ForeignKey(Kernel.id), primary_key=True)
    after_id: Mapped[int] = mapped_column(ForeignKey(Kernel.id), primary_key=True)
    names: Mapped[dict[str, str]] = mapped_column(JsonOf(dict[str, str]))
