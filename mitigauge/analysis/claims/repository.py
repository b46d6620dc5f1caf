"""SQL of claims."""

from __future__ import annotations

from sqlalchemy import func, literal, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session, selectinload

from mitigauge.analysis.claims.tables import ClaimSource
from mitigauge.storage.database.natural_sql import natural


def sources(session: Session) -> list[ClaimSource]:
    """All sources with their claims, newest publication first."""
    return list(
        session.scalars(
            select(ClaimSource)
            .order_by(ClaimSource.published.desc().nulls_last(), natural(ClaimSource.name))
            .options(selectinload(ClaimSource.claims))
        )
    )


def source_named(session: Session, name: str) -> ClaimSource | None:
    """The source of that name, locked so that two imports take turns."""
    return session.scalars(
        select(ClaimSource).where(ClaimSource.name == name).with_for_update()
    ).one_or_none()


def stamp(session: Session) -> str:
    """Another text after every change of what was imported."""
    digests = select(
        func.string_agg(ClaimSource.digest, aggregate_order_by(literal(","), ClaimSource.id))
    )
    return session.scalar(digests) or ""
