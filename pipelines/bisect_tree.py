"""Commits of a git tree made into a bisection's draft."""

from __future__ import annotations

from pathlib import Path

from mitigauge.kernels.order import KernelInputs
from mitigauge.measurement.fleet.kernel_profiles import profile_for
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.bisect.draft import Change, Draft, Place
from mitigauge.tracking.bisect.question import Question
from mitigauge.tracking.bisect.records import Source
from mitigauge.tracking.bisect.states import BisectionKind
from pipelines.adapters.git_tree import Commit, GitTree


def from_tree(
    tree: Path, good: str, bad: str, profile: str, blobs: BlobStore, asked: Question, mode: str
) -> Draft:  # fmt: skip
    """Over the commits of a git tree from *good* to *bad*, along first parents.

    Raises InvalidInput for ends that are equal, reversed or unrelated, NotFound for those that
    are not there.
    """
    read = profile_for(profile, asked.environment, asked.hosts)
    directory = tree.resolve()
    line = GitTree(directory).line(good, bad)
    source = Source(
        profile=read.name, tree=str(directory), good=line.good, bad=line.bad, notes=list(line.notes)
    )
    return Draft(
        BisectionKind.COMMITS,
        f"{directory.name}: {good[:60]} to {bad[:60]}",
        asked,
        [_of_commit(commit) for commit in line.commits],
        [Place(mode)] * (len(line.commits) + 1),
        source,
        profile_sha256=KernelInputs.of(read, ()).put(blobs),
    )


def _of_commit(commit: Commit) -> Change:
    merge = "merge: " if commit.is_merge else ""
    return Change(commit.id, merge + commit.title, people=commit.people, files=commit.files)
