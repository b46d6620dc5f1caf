"""Candidate kernels as they come and go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.kernels import repository
from mitigauge.kernels.functions import unpacked
from mitigauge.kernels.patch import Patch
from mitigauge.kernels.recipe import LAYOUTS, Recipe
from mitigauge.kernels.states import KernelState
from mitigauge.kernels.tables import Kernel
from mitigauge.storage.database.engine import database_now
from mitigauge.storage.files.blobs import BlobStore

LONGEST_ERROR = 2000


@dataclass(frozen=True, slots=True)
class Built:
    """What a build gave; the digests are SHA-256."""

    release: str
    build_id: str
    content_digest: str
    package_sha256: str
    package_bytes: int
    config_refused: Sequence[str] = ()
    functions_sha256: str | None = None
    """Of what :mod:`mitigauge.kernels.functions` reads, in the blob store."""
    loosely: Sequence[str] = ()
    """Patches that applied with less context than they have."""


def begin(session: Session, recipe: Recipe, patches: Sequence[Patch], label: str) -> Kernel:
    """Note that a kernel is being built; one that was built already stays as it is.

    Raises InvalidInput where another recipe's kernel has the release that this one would have.
    """
    kernel = repository.by_digest(session, recipe.digest)
    if kernel is None:
        _require_own_release(session, recipe)
        kernel = Kernel(
            digest=recipe.digest,
            label=label,
            source_digest=recipe.source_digest,
            imported=False,
            base=f"{recipe.base.name} {recipe.base.version}",
            profile=recipe.profile,
            toolchain=f"{recipe.toolchain.name}: {', '.join(recipe.toolchain.versions)}",
            layout=recipe.layout.name,
            patches=[{"title": patch.title, "digest": patch.sha256} for patch in patches],
            config_refused=[],
            state=KernelState.BUILDING,
        )
        session.add(kernel)
    if kernel.state != KernelState.BUILT:
        kernel.state = KernelState.BUILDING
        kernel.error = ""
        kernel.started_at = database_now(session)
        kernel.finished_at = None
    kernel.label = label or kernel.label
    session.flush()
    return kernel


def finished(session: Session, digest: str, built: Built, log_sha256: str) -> None:
    """Note what a build gave. Raises NotFound for a recipe that nobody began."""
    kernel = _known(session, digest)
    kernel.state = KernelState.BUILT
    kernel.release, kernel.build_id = built.release, built.build_id
    kernel.content_digest = built.content_digest
    kernel.package_sha256, kernel.package_bytes = built.package_sha256, built.package_bytes
    kernel.functions_sha256 = built.functions_sha256
    kernel.config_refused = list(built.config_refused)
    kernel.loosely = list(built.loosely)
    kernel.log_sha256 = log_sha256
    kernel.finished_at = database_now(session)


def failed(session: Session, digest: str, why: str, log_sha256: str | None) -> None:
    """Note why a build failed, with its log. Raises NotFound as :func:`finished` does."""
    kernel = _known(session, digest)
    kernel.state = KernelState.FAILED
    kernel.error = why[:LONGEST_ERROR]
    kernel.log_sha256 = log_sha256
    kernel.finished_at = database_now(session)


def ended_unheard(session: Session, digest_begins: str) -> None:
    """Note that nobody builds that recipe, whatever a build that was killed left written."""
    for kernel in repository.named(session, digest_begins):
        if kernel.state == KernelState.BUILDING:
            failed(session, kernel.digest, "its build was killed: build it again", None)


def brought_in(session: Session, built: Built, label: str) -> Kernel:
    """Store a kernel that was built elsewhere; the same package twice is one kernel.

    Raises InvalidInput where another kernel has its release.
    """
    kernel = repository.by_digest(session, built.package_sha256)
    if kernel is None or kernel.state == KernelState.REMOVED:
        _require_free(session, built.release)
    if kernel is None:
        kernel = Kernel(digest=built.package_sha256, imported=True, base="", profile="",
                        toolchain="", layout="", patches=[], config_refused=[],
                        state=KernelState.BUILT, label=label)  # fmt: skip
        session.add(kernel)
    kernel.state, kernel.release, kernel.build_id = KernelState.BUILT, built.release, built.build_id
    kernel.content_digest = built.content_digest or None
    kernel.package_sha256, kernel.package_bytes = built.package_sha256, built.package_bytes
    kernel.finished_at = database_now(session)
    session.flush()
    audit.record(
        session,
        Action.KERNEL_IMPORT,
        Subject(SubjectKind.KERNEL, built.release),
        after={"label": label, "package_sha256": built.package_sha256},
    )
    return kernel


def show(session: Session, name: str) -> Kernel:
    """The kernel of that release or digest, or the newest of that label.

    Raises NotFound, and InvalidInput where several digests begin so.
    """
    found = repository.named(session, name)
    if not found:
        raise NotFound(f"no kernel {name!r}", hint="`mitigauge kernel list` shows all.")
    exact = [kernel for kernel in found if name in (kernel.release, kernel.digest)]
    exact = exact or [kernel for kernel in found if kernel.label == name][:1]
    if not exact and len(found) > 1:
        several = ", ".join((kernel.release or kernel.digest[:12]) for kernel in found[:5])
        raise InvalidInput(f"{name!r} may be one of several: {several}", hint="Give a release.")
    return (exact or found)[0]


def built_layouts(session: Session, release: str) -> Sequence[str]:
    """Releases of the builds of one kernel in layouts of their own, in the layouts' order.

    None of a kernel that was not built here.
    """
    known = repository.built(session, [release]).get(release)
    if known is None or known.source_digest is None:
        return []
    own = {
        each.layout: str(each.release) for each in repository.same_but_for_layout(session, known)
    }
    return [own[layout.name] for layout in LAYOUTS if layout.name in own]


def in_layouts(session: Session, release: str, count: int) -> Sequence[str]:
    """*count* of the :func:`built_layouts`.

    Raises InvalidInput where fewer were built, or the kernel was not built here.
    """
    found = built_layouts(session, str(show(session, release).release))
    if len(found) < count:
        raise InvalidInput(
            f"kernel {release} was built in {len(found)} of {count} layouts",
            hint=f"`mitigauge kernel build … --layouts {count}` builds the others.",
        )
    return found[:count]


def _require_free(session: Session, release: str) -> None:
    """Raises InvalidInput where a kernel that is not removed has the release."""
    others = repository.named(session, release)
    if any(k.release == release and k.state != KernelState.REMOVED for k in others):
        raise InvalidInput(
            f"kernel {release} is stored already, from another package",
            hint="A release stands for one build: build it with a CONFIG_LOCALVERSION of its "
            "own, or remove the other with `mitigauge kernel remove`.",
        )


def _require_own_release(session: Session, recipe: Recipe) -> None:
    """A release stands for one build: two recipes of one release could not be told on a host."""
    others = repository.ending_in(session, recipe.local_version)
    if others:
        raise InvalidInput(
            f"two recipes have the release …{recipe.local_version}: {recipe.digest[:40]}… and "
            f"{others[0].digest[:40]}…",
            hint="Nobody meets this by chance: look at the patches of both "
            "(`mitigauge kernel show`) before anything of them is booted.",
        )


def remove(session: Session, kernel: Kernel) -> None:
    """Its package is not wanted any more: the store deletes it once nothing names it."""
    audit.record(
        session,
        Action.KERNEL_REMOVE,
        Subject(SubjectKind.KERNEL, kernel.release or kernel.digest),
        before={"state": kernel.state, "package_sha256": kernel.package_sha256},
        after={"state": KernelState.REMOVED},
    )
    kernel.state = KernelState.REMOVED
    kernel.package_sha256 = kernel.package_bytes = None


def _known(session: Session, digest: str) -> Kernel:
    kernel = repository.by_digest(session, digest)
    if kernel is None:
        raise NotFound(f"no kernel of recipe {digest[:12]}", hint="It was never begun.")
    return kernel


def noted_functions(digest: str | None, blobs: BlobStore) -> str:
    """What :mod:`mitigauge.kernels.functions` reads of a kernel, by its `functions_sha256`.

    Empty where nothing was noted.
    """
    return "" if digest is None else unpacked(blobs.read(digest))
