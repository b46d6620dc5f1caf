"""Git repositories that the operator named, and the commits of them that kernels are built from.

A base is written ``TREE@REVISION``: the repository's name as MITIGAUGE_TREES has it, and whatever
git takes for a commit. The commit's full id is what fixes a kernel's recipe.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.hostile_text import clean_text
from pipelines.adapters.git_tree import GitTree

_BASE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,39})@([A-Za-z0-9][A-Za-z0-9._/~^-]{0,199})")


def is_commit(base: str) -> bool:
    """Whether a base is a commit and not a source package."""
    return "@" in base


def commit_of(base: str, trees: Mapping[str, Path]) -> tuple[GitTree, str]:
    """The repository and the full id of the commit that ``TREE@REVISION`` means.

    Raises InvalidInput for another form, NotFound for a tree or a commit that there is not.
    """
    form = _BASE.fullmatch(base)
    if form is None:
        raise InvalidInput(
            f"{clean_text(base[:80])!r} is no base", hint="Write TREE@REVISION: mainline@v7.2."
        )
    name, revision = form.groups()
    if name not in trees:
        known = ", ".join(sorted(trees)) or "none"
        raise NotFound(
            f"no source tree is called {name!r}",
            hint=f"Known: {known}. Name it: MITIGAUGE_TREES={name}=/path/to/the/repository",
        )
    tree = GitTree(trees[name])
    return tree, tree.resolve(revision)


def base_holding(commit: str, trees: Mapping[str, Path]) -> str:
    """The base of a commit whose id a mail names: in the first tree, by name, that has it.

    Raises NotFound where the mail names none, or no tree has it.
    """
    if not commit:
        raise NotFound(
            "the letter names no base-commit",
            hint="`git format-patch --base` writes it; or `mitigauge series set NAME --base BASE`.",
        )
    for name, directory in sorted(trees.items()):
        try:
            return f"{name}@{GitTree(directory).resolve(commit)}"
        except NotFound:
            continue
    known = ", ".join(sorted(trees)) or "none is named in MITIGAUGE_TREES"
    raise NotFound(
        f"base-commit {commit[:12]} is in no source tree ({known})",
        hint="Fetch it there, or `mitigauge series set NAME --base BASE`.",
    )
