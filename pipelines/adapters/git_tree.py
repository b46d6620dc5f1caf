"""Source trees from git: a commit of a repository that the operator named, as files.

A base is written ``TREE@REVISION``: the tree's name as MITIGAUGE_TREES has it, and whatever git
takes for a commit. The commit's full id is what fixes a kernel's recipe. Nothing is fetched.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mitigauge.errors import InvalidInput, NotFound
from mitigauge.hostile import clean_text

GIT_LIMIT_S = 300.0
_BASE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,39})@([A-Za-z0-9][A-Za-z0-9._/~^-]{0,199})")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# A repository's own settings start no program of theirs, and nothing is asked of a server.
_SETTINGS = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never")
_ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class GitBase:
    """One commit of one repository. *tree*: what the operator calls the repository."""

    tree: str
    directory: Path
    commit: str

    def archive(self, target: Path) -> None:
        """Write the commit's files into the tar file *target*. Raises NotFound where git fails."""
        done = _git(self.directory, "archive", "--format=tar", f"--output={target}", self.commit)
        if done.returncode:
            raise NotFound(
                f"{self.tree}@{self.commit[:12]} cannot be read: {_words(done.stderr)}",
                hint=f"Look with `git -C {self.directory} show --stat {self.commit[:12]}`.",
            )


def is_git_base(name: str) -> bool:
    """Whether a base is a commit and not a source package."""
    return "@" in name


def git_base(name: str, trees: Mapping[str, Path]) -> GitBase:
    """The commit that ``TREE@REVISION`` means.

    Raises InvalidInput for another form, NotFound for a tree or a commit that there is not.
    """
    form = _BASE.fullmatch(name)
    if form is None:
        raise InvalidInput(
            f"{clean_text(name[:80])!r} is no base", hint="Write TREE@REVISION: mainline@v7.2."
        )
    tree, revision = form.groups()
    if tree not in trees:
        known = ", ".join(sorted(trees)) or "none"
        raise NotFound(
            f"no source tree is called {tree!r}",
            hint=f"Known: {known}. Name it: MITIGAUGE_TREES={tree}=/path/to/the/repository",
        )
    return GitBase(tree, trees[tree], _commit(tree, trees[tree], revision))


def holding(commit: str, trees: Mapping[str, Path]) -> str:
    """The base of a commit whose id a mail names: the first tree, by name, that has it.

    Raises NotFound where the mail names none, or no tree has it.
    """
    if not commit:
        raise NotFound(
            "the letter names no base-commit",
            hint="`git format-patch --base` writes it; or `mitigauge series set NAME --base BASE`.",
        )
    for tree, directory in sorted(trees.items()):
        try:
            return f"{tree}@{_commit(tree, directory, commit)}"
        except NotFound:
            continue
    known = ", ".join(sorted(trees)) or "none is named in MITIGAUGE_TREES"
    raise NotFound(
        f"base-commit {commit[:12]} is in no source tree ({known})",
        hint="Fetch it there, or `mitigauge series set NAME --base BASE`.",
    )


def _commit(tree: str, directory: Path, revision: str) -> str:
    if not directory.is_dir():
        raise NotFound(
            f"{directory} is no directory", hint=f"MITIGAUGE_TREES says that {tree} is there."
        )
    done = _git(
        directory, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )
    found = done.stdout.strip()
    if done.returncode or not _COMMIT.fullmatch(found):
        why = _words(done.stderr) or "git knows no such commit"
        raise NotFound(
            f"{tree} has no commit {revision!r}: {why}",
            hint=f"Fetch it: `git -C {directory} fetch`.",
        )
    return found


def _git(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    try:
        return subprocess.run(
            ["git", "-C", str(directory), *settings, *words],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=GIT_LIMIT_S,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **_ENVIRONMENT},
        )
    except subprocess.TimeoutExpired:
        raise NotFound(
            f"git did not answer within {GIT_LIMIT_S:.0f} s in {directory}",
            hint="Is it on a file system that hangs?",
        ) from None


def _words(said: str) -> str:
    return clean_text(" ".join(said.split()))[:300]
