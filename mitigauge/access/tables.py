"""Tables of tokens and browser sessions. None holds a secret, only its HMAC."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from mitigauge.access.roles import Role
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord


class AccessToken(Base):
    """A secret that lets a person or a program in, until it expires or is revoked."""

    __tablename__ = "access_token"
    __table_args__ = (
        CheckConstraint(one_of("role", Role), name="role"),
        UniqueConstraint("hash"),
        # A name says who submitted what, so only one token at a time has it.
        Index(
            "uq_access_token_name",
            "name",
            unique=True,
            postgresql_where=text("revoked_at IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    role: Mapped[Role] = mapped_column(EnumWord(Role))
    hash: Mapped[str]
    # Which key it is hashed under; None of tokens from before this was noted.
    key_id: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class BrowserSession(Base):
    """A browser that was let in by a token, or by the link that `serve` prints."""

    __tablename__ = "browser_session"
    __table_args__ = (
        CheckConstraint(one_of("role", Role), name="role"),
        UniqueConstraint("hash"),
        Index("ix_browser_session_subject", "subject"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    hash: Mapped[str]
    subject: Mapped[str]
    role: Mapped[Role] = mapped_column(EnumWord(Role))
    # None: not by a token. A token that is revoked or expires ends its sessions.
    token_id: Mapped[int | None] = mapped_column(ForeignKey("access_token.id"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]

    token: Mapped[AccessToken | None] = relationship()
