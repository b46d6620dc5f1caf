"""Commits of a git tree between two ends: in order, kept, and refused where they make no line."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from mitigauge.core.errors import InvalidInput, NotFound
from pipelines.adapters.git_tree import GitTree


class Repository:
    """A repository of the test's own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.git("init", "-q", "-b", "master")

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=Ann Author", "-c", "user.email=ann@example.org")
        done = subprocess.run(["git", *who, *words], cwd=self.directory, check=True,
                              capture_output=True, text=True)  # fmt: skip
        return done.stdout.strip()

    def commit(self, title: str, body: str = "") -> str:
        """A commit that changes a file of its own name; its id."""
        (self.directory / f"{title}.c").write_text(f"{title}\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", title, *(["-m", body] if body else []))
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    directory = tmp_path / "linux"
    directory.mkdir()
    return Repository(directory)


@pytest.fixture
def tree(repository: Repository) -> GitTree:
    return GitTree(repository.directory)


def test_commits_stand_in_order_with_title_people_and_files(
    repository: Repository, tree: GitTree
) -> None:
    first, *others = [repository.commit(title) for title in ("a", "b", "c")]
    last = repository.commit("d", "Signed-off-by: Bob <bob@example.org>")
    line = tree.line(first[:12], "master")
    assert (line.good, line.bad) == (first, last)
    assert [commit.id for commit in line.commits] == [*others, last]
    assert [commit.title for commit in line.commits] == ["b", "c", "d"]
    assert line.commits[-1].people == ["Ann Author <ann@example.org>", "Bob <bob@example.org>"]
    assert line.commits[-1].files == ["d.c"]
    assert not line.notes


def test_a_merge_is_one_change_and_is_said(repository: Repository, tree: GitTree) -> None:
    first = repository.commit("a")
    repository.git("checkout", "-q", "-b", "topic")
    inside = repository.commit("inside")
    repository.git("checkout", "-q", "master")
    repository.commit("b")
    repository.git("merge", "-q", "--no-ff", "-m", "Merge topic", "topic")
    line = tree.line(first, "master")
    assert [commit.title for commit in line.commits] == ["b", "Merge topic"]
    assert inside not in [commit.id for commit in line.commits]
    assert "1 of 2 commits are merges" in line.notes[0]
    assert line.commits[1].files == ["inside.c"]


def test_a_good_end_that_came_in_by_a_merge_is_refused_with_the_commit_to_take(
    repository: Repository, tree: GitTree
) -> None:
    first = repository.commit("a")
    repository.git("checkout", "-q", "-b", "topic")
    inside = repository.commit("inside")
    repository.git("checkout", "-q", "master")
    repository.commit("b")
    repository.git("merge", "-q", "--no-ff", "-m", "Merge topic", "topic")
    with pytest.raises(InvalidInput, match="came in by a merge") as refused:
        tree.line(inside, "master")
    assert first[:12] in refused.value.hint


def test_ends_that_make_no_line_are_refused(repository: Repository, tree: GitTree) -> None:
    first, last = repository.commit("a"), repository.commit("b")
    with pytest.raises(InvalidInput, match="the same commit"):
        tree.line(last, "master")
    with pytest.raises(InvalidInput, match="the ends are reversed"):
        tree.line(last, first)
    repository.git("checkout", "-q", "--orphan", "elsewhere")
    repository.commit("x")
    with pytest.raises(InvalidInput, match="no ancestor"):
        tree.line(first, "elsewhere")
    for name in ("nothing", "--output=/tmp/x", ""):
        with pytest.raises(NotFound):
            tree.line(name, last)


def test_commits_of_a_branch_that_is_rewritten_and_cleaned_up_stay(
    repository: Repository, tree: GitTree, tmp_path: Path
) -> None:
    first = repository.commit("a")
    middle, last = repository.commit("b"), repository.commit("c")
    tree.line(first, last)
    repository.git("reset", "-q", "--hard", first)
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "-q", "--prune=now")
    tree.export(middle, tmp_path / "b.tar")
    with tarfile.open(tmp_path / "b.tar") as archive:
        assert sorted(archive.getnames()) == ["a.c", "b.c"]


def test_a_commit_that_is_gone_is_named(repository: Repository, tree: GitTree,
                                        tmp_path: Path) -> None:  # fmt: skip
    repository.commit("a")
    with pytest.raises(NotFound, match=r"commit 0123456789ab is gone"):
        tree.export("0123456789ab" + 28 * "0", tmp_path / "gone.tar")


def test_a_commit_is_taken_back_by_a_patch(repository: Repository, tree: GitTree) -> None:
    repository.commit("a")
    last = repository.commit("b")
    assert "-b" in tree.reversed(last).text
    (repository.directory / "revert.patch").write_text(tree.reversed(last).text)
    repository.git("apply", "revert.patch")
    assert not (repository.directory / "b.c").exists()


def test_nothing_that_the_tree_configures_is_run(
    repository: Repository, tree: GitTree, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    first = repository.commit("a")
    last = repository.commit("b")
    for name in ("diff.external", "core.fsmonitor", "core.pager"):
        repository.git("config", name, f"touch {canary}")
    hook = repository.directory / ".git" / "hooks" / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
    hook.chmod(0o755)
    tree.line(first, last)
    tree.reversed(last)
    assert not canary.exists()
