"""What is to be built: a base, patches, a configuration; and which builds it may begin with."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from mitigauge.core.errors import AuthorsFault
from mitigauge.kernels.config_profile import Profile
from mitigauge.kernels.patch import Patch, is_machinery
from mitigauge.kernels.recipe import PLAIN, Layout, Recipe
from pipelines.adapters.compiler_cache import UNPATCHED
from pipelines.adapters.git_tree import GitTree


class BuildFailed(AuthorsFault):
    """A kernel could not be built; the message says patch, file, line and the compiler's words."""


@dataclass(frozen=True)
class Order:
    """What is to be built.

    *base*: a source package, or ``TREE@REVISION``; with *tree*, a commit of it by its full id.
    """

    base: str
    profile: Profile
    patches: Sequence[Patch] = ()
    layout: Layout = PLAIN
    label: str = ""
    tree: GitTree | None = None
    loose: bool = False
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)

    @property
    def scope(self) -> str:
        """Which builds write the same compiler cache: a patch may write anything into its own.

        One for each set of patches, and for each tree without any; made of digests, so that no
        subject, label or file name can be the one that kernels without patches write.
        """
        if self.patches:
            return f"patches-{_digest_of(patch.sha256 for patch in self.patches)}"
        return f"tree-{_digest_of([str(self.tree.directory)])}" if self.tree else UNPATCHED

    @property
    def beginnings(self) -> list[str]:
        """Scopes of its first few patches, the most of them first."""
        fewer = range(len(self.patches) - 1, 0, -1)
        return [replace(self, patches=self.patches[:number]).scope for number in fewer]


def beginnings(recipe: Recipe, order: Order) -> Iterator[Recipe]:
    """Recipes of its first few patches, the most of them first.

    Only make knows what a change of its own files means, and not of all: none is in between.
    """
    for number in reversed(range(len(order.patches))):
        if any(map(is_machinery, order.patches[number].files)):
            return
        yield replace(recipe, patches=recipe.patches[:number])


def _digest_of(words: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:40]
