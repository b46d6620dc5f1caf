"""Candidate kernels: each recipe built once, stored, and its failures noted."""

from __future__ import annotations

import fcntl
import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.core.errors import MitigaugeError
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.settings import get_settings
from mitigauge.kernels import repository, service
from mitigauge.kernels.recipe import GIT, Base, Recipe
from mitigauge.kernels.states import KernelState
from mitigauge.storage.database.engine import Fence, transaction, unfenced
from mitigauge.storage.files.blobs import BlobStore
from pipelines.adapters import kept_objects
from pipelines.adapters.build_root import BuildRoot, build_root
from pipelines.adapters.compiler_cache import forget_caches
from pipelines.adapters.file_lock import alone
from pipelines.adapters.named_trees import commit_of, is_commit
from pipelines.adapters.patched_file import patched_file
from pipelines.adapters.sandbox import remove
from pipelines.kernel_order import Order
from pipelines.kernel_work import SCRIPTS, Report, Work


@dataclass(frozen=True)
class Builder:
    """Where kernels are built and kept.

    *report* hears what is begun, *detail* what is compiled just now. *why_to_stop* is asked while
    a sandbox works, and ends it once it says something. *fence*: see
    :func:`mitigauge.storage.database.engine.transaction`.
    """

    directory: Path
    engine: Engine
    blobs: BlobStore
    report: Report = lambda _text: None
    detail: Report = lambda _text: None
    why_to_stop: Callable[[], str] = lambda: ""
    fence: Fence = unfenced

    def transaction(self) -> AbstractContextManager[Session]:
        """A transaction under the builder's fence."""
        return transaction(self.engine, self.fence)

    def build(self, order: Order, *, anew: bool = False) -> int:
        """Build it unless it was; the id of its kernel.

        Raises :class:`BuildFailed` where the source does not build, after the failure and its
        log were stored, and MitigaugeError where our own side does not.
        """
        order, root = self._resolved(order)
        recipe = _recipe(root, order)
        self._sweep()
        with self._turn(recipe):
            with self.transaction() as session:
                kernel = service.begin(session, recipe, order.patches, order.label)
                if kernel.state == KernelState.BUILT and not anew:
                    self.report(f"{kernel.release} was built already")
                    return kernel.id
            tree = _tree(root, recipe, order, self.report)
            return self._built(root, tree, recipe, order, anew=anew)

    def file_of(self, order: Order, name: str, most_bytes: int) -> str | None:
        """A file of the source with the patches on it; None where it is not to be had.

        Nothing is built: the patches are applied to that file alone.
        """
        order, root = self._resolved(order)
        tree = _tree(root, _recipe(root, order), order, self.report)
        return patched_file(tree, name, [patch.text for patch in order.patches], most_bytes)

    def new_warnings(self, order: Order) -> list[list[str] | None]:
        """What the compiler says under W=1 of the files of each patch, and did not before it.

        A sentence a warning, with file and line; as many lists as patches apply as they are; None
        where a file does not compile by itself. Nothing is built but those files, and of a header
        that changes nothing is told.
        """
        order, root = self._resolved(order)
        recipe = _recipe(root, order)
        self._sweep()
        with self._turn(recipe):
            tree = _tree(root, recipe, order, self.report)
            work = self._work(recipe, root)
            try:
                return list(work.new_warnings(tree, order))
            finally:
                work.clear()

    def _work(self, recipe: Recipe, root: BuildRoot) -> Work:
        return Work(
            self.directory / "builds" / recipe.digest[:16], root, self.directory, self.blobs,
            self.report, self.detail, self.why_to_stop,
        )  # fmt: skip

    def _resolved(self, order: Order) -> tuple[Order, BuildRoot]:
        """The order with its commit, and the root that has its base."""
        if order.tree is None and is_commit(order.base):
            tree, commit = commit_of(order.base, get_settings().source_trees)
            order = replace(order, tree=tree, base=commit)
        packages = () if order.tree else (order.base,)
        return order, build_root(self.directory, packages, self.report)

    def _built(
        self, root: BuildRoot, tree: Path, recipe: Recipe, order: Order, *, anew: bool
    ) -> int:
        work = self._work(recipe, root)
        try:
            built = work.build(tree, recipe, order, from_nothing=anew)
            kept = work.stored_log()
        except BaseException as error:
            why = error.message if isinstance(error, MitigaugeError) else "it was interrupted"
            # Room first: what is to be noted needs some, and a full disk may be why it failed.
            log = work.log_and_clear()
            with self.transaction() as session:
                service.failed(session, recipe.digest, clean_text(why), log)
            raise
        finally:
            work.clear()
        with self.transaction() as session:
            service.finished(session, recipe.digest, built, kept)
            kernel = repository.by_digest(session, recipe.digest)
            assert kernel is not None
            return kernel.id

    def _sweep(self) -> None:
        """Remove what builds left that were killed, and note them: their locks are free."""
        for lock in (self.directory / "builds").glob("*.lock"):
            with lock.open("w") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                remove(lock.with_suffix(""))
                with self.transaction() as session:
                    service.ended_unheard(session, lock.stem)

        forget_caches(self.directory / "ccache", time.time())
        kept_objects.forget(self.directory / "objects", time.time())

    @contextmanager
    def _turn(self, recipe: Recipe) -> Iterator[None]:
        """One build of a recipe at a time; a second one then finds what the first one made."""
        lock = self.directory / "builds" / f"{recipe.digest[:16]}.lock"
        with alone(lock):
            yield


def _tree(root: BuildRoot, recipe: Recipe, order: Order, report: Report) -> Path:
    """The base's unpacked tree."""
    if order.tree is None:
        return root.tree(recipe.base, report)
    return root.checked_out(order.tree, order.base, report)


def _recipe(root: BuildRoot, order: Order) -> Recipe:
    return Recipe(
        base=Base(GIT, order.base) if order.tree else root.base(order.base),
        patches=tuple(patch.sha256 for patch in order.patches),
        profile=order.profile.name,
        profile_sha256=order.profile.sha256,
        toolchain=root.toolchain(),
        scripts_sha256=_scripts_digest(),
        layout=order.layout,
        loose=order.loose,
    )


def _scripts_digest() -> str:
    """SHA-256 over our own scripts: another way of building is another kernel."""
    digest = hashlib.sha256()
    for script in sorted(SCRIPTS.iterdir()):
        digest.update(f"{script.name}\0{script.stat().st_size}\0".encode() + script.read_bytes())
    return digest.hexdigest()
