"""SQL of candidate kernels."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from mitigauge.kernels.recipe import PREFIX
from mitigauge.kernels.states import KernelState
from mitigauge.kernels.tables import Kernel, KernelRename


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


def ending_in(session: Session, local_version: str) -> list[Kernel]:
    """Kernels whose recipe would give a release that ends so, or whose release does."""
    begins = Kernel.digest.startswith(local_version.removeprefix(PREFIX), autoescape=True)
    ends = Kernel.release.endswith(local_version, autoescape=True)
    return list(session.scalars(select(Kernel).where(or_(begins, ends)).order_by(Kernel.id)))


def built(session: Session, releases: Collection[str]) -> dict[str, Kernel]:
    """Release → kernel of those that were built here or brought in."""
    found = session.scalars(
        select(Kernel).where(Kernel.release.in_(list(releases)), Kernel.state == KernelState.BUILT)
    )
    return {kernel.release: kernel for kernel in found if kernel.release}


def same_but_for_layout(session: Session, kernel: Kernel) -> list[Kernel]:
    """Builds of one recipe but for its layout, the newest of a layout last.

    Names say nothing here: a config profile of one name may have had other content before.
    """
    wanted = select(Kernel).where(
        Kernel.state == KernelState.BUILT,
        Kernel.source_digest == kernel.source_digest,
    )
    return list(session.scalars(wanted.order_by(Kernel.id)))


def ids_of(session: Session, releases: Collection[str]) -> dict[str, int]:
    """Release → id of each of the kernels that there is."""
    wanted = select(Kernel.release, Kernel.id).where(Kernel.release.in_(releases))
    return {str(row.release): row.id for row in session.execute(wanted)}


def of_releases(session: Session, releases: Collection[str]) -> list[Kernel]:
    """Kernels of these releases, in the order they were asked for."""
    wanted = select(Kernel).where(Kernel.release.in_(releases)).order_by(Kernel.id)
    return list(session.scalars(wanted))


def renames_after(session: Session, before_ids: Collection[int]) -> list[KernelRename]:
    """Functions' other names in kernels that follow one of these."""
    return list(
        session.scalars(
            select(KernelRename)
            .where(KernelRename.before_id.in_(before_ids))
            .order_by(KernelRename.before_id, KernelRename.after_id)
        )
    )
