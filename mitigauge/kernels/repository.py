"""SQL of candidate kernels."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from mitigauge.kernels.states import KernelState
from mitigauge.kernels.tables import Kernel


def kernels(session: Session) -> list[Kernel]:
    """All kernels, the newest first."""
    return list(session.scalars(select(Kernel).order_by(Kernel.id.desc())))


def by_digest(session: Session, digest: str) -> Kernel | None:
    """The kernel of that recipe, locked against another who would change it."""
    return session.scalars(
        select(Kernel).where(Kernel.digest == digest).with_for_update()
    ).one_or_none()


def named(session: Session, name: str) -> list[Kernel]:
    """Kernels of that release or label, or whose digest begins so; the newest first."""
    begins = Kernel.digest.startswith(name, autoescape=True)
    same = or_(Kernel.release == name, Kernel.label == name, begins)
    return list(session.scalars(select(Kernel).where(same).order_by(Kernel.id.desc())))


def built(session: Session, releases: Collection[str]) -> dict[str, Kernel]:
    """Release → kernel of those that were built here or brought in."""
    found = session.scalars(
        select(Kernel).where(Kernel.release.in_(list(releases)), Kernel.state == KernelState.BUILT)
    )
    return {kernel.release: kernel for kernel in found if kernel.release}


def same_but_for_layout(session: Session, kernel: Kernel) -> list[Kernel]:
    """Builds of the same source, configuration and compiler, the newest of a layout last."""
    wanted = select(Kernel).where(
        Kernel.state == KernelState.BUILT,
        Kernel.imported.is_(False),
        Kernel.base == kernel.base,
        Kernel.profile == kernel.profile,
        Kernel.toolchain == kernel.toolchain,
        Kernel.patches == kernel.patches,
    )
    return list(session.scalars(wanted.order_by(Kernel.id)))
