"""Bases from git: real repositories, and their files unpacked in a real sandbox."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.settings import settings_from
from pipelines.adapters import build_root
from pipelines.adapters.build_root import BuildRoot
from pipelines.adapters.git_tree import GitTree
from pipelines.adapters.named_trees import commit_of, is_commit


def git(repository: Path, *words: str) -> str:
    """What git says in a repository, for nobody in particular."""
    people = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER")
              for what in ("NAME", "EMAIL")}  # fmt: skip
    return subprocess.run(
        ["git", "-C", str(repository), *words],
        check=True, capture_output=True, text=True,
        env={**os.environ, **people, "GIT_CONFIG_GLOBAL": "/dev/null"},
    ).stdout.strip()  # fmt: skip


@pytest.fixture
def place() -> Iterator[Path]:
    # Not pytest's folder, which is closed to the sandbox's user.
    place = Path(tempfile.mkdtemp(prefix="git-tree-"))
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


@pytest.fixture
def repository(place: Path) -> Path:
    """Two commits: the second one changes a file. Its first one is tagged v1."""
    directory = place / "linux"
    directory.mkdir()
    git(directory, "init", "--quiet")
    for number in (1, 2):
        (directory / "Makefile").write_text(f"VERSION = {number}\n")
        (directory / "link").unlink(missing_ok=True)
        (directory / "link").symlink_to("Makefile")
        git(directory, "add", "--all")
        git(directory, "commit", "--quiet", "--message", f"Version {number}")
    git(directory, "tag", "v1", "HEAD~1")
    return directory


@pytest.fixture
def root(place: Path, repository: Path) -> BuildRoot:
    """A build root that holds nothing but tar."""
    found = BuildRoot(place)
    for name in ("usr/bin", "proc", "dev", "tmp", "run", "build/out", "build/source"):
        (found.root / name).mkdir(parents=True)
    program = shutil.which("tar")
    assert program is not None
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for file in (program, *re.findall(r"(/\S+) \(", libraries)):
        target = found.root / file.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    return found


def test_a_tag_a_branch_and_an_id_mean_their_commit(repository: Path) -> None:
    trees = {"mainline": repository}
    first, second = git(repository, "rev-parse", "v1"), git(repository, "rev-parse", "HEAD")
    assert commit_of("mainline@v1", trees) == (GitTree(repository), first)
    assert commit_of("mainline@HEAD~1", trees)[1] == first
    assert commit_of(f"mainline@{second[:12]}", trees)[1] == second


def test_a_source_package_is_no_commit() -> None:
    assert not is_commit("linux-source-7.2")


@pytest.mark.parametrize(
    ("base", "says"),
    [
        ("mainline@v9", "linux has no commit 'v9'"),
        ("next@v1", "no source tree is called 'next'"),
        ("mainline@--output=/tmp/x", "is no base"),
        ("mainline@v1 v2", "is no base"),
        ("main\x1b[2Jline@v1", "is no base"),
        ("@", "is no base"),
    ],
)
def test_what_means_no_commit_is_said(base: str, says: str, repository: Path) -> None:
    with pytest.raises((InvalidInput, NotFound)) as error:
        commit_of(base, {"mainline": repository})
    assert says in error.value.message
    assert "\x1b" not in error.value.message
    assert error.value.hint


def test_a_directory_that_is_no_repository_is_said(place: Path) -> None:
    with pytest.raises(NotFound, match="has no commit 'v1'"):
        commit_of("mainline@v1", {"mainline": place})


def test_the_files_of_the_commit_are_unpacked_once(root: BuildRoot, repository: Path) -> None:
    source, said = GitTree(repository), list[str]()
    commit = source.resolve("v1")
    tree = root.checked_out(source, commit, said.append)
    assert (tree / "Makefile").read_text() == "VERSION = 1\n"
    assert (tree / "link").readlink() == Path("Makefile")
    assert not (tree / ".git").exists()
    assert root.checked_out(source, commit, said.append) == tree
    assert said == [f"Unpacking commit {commit[:12]}"]


def test_trees_of_commits_that_nobody_uses_any_more_go(
    root: BuildRoot, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_root, "KEPT_COMMITS", 1)
    source = GitTree(repository)

    def tree_of(name: str) -> Path:
        return root.checked_out(source, source.resolve(name), lambda _: None)

    old = tree_of("v1")
    package = old.parent / "linux-source-7.2_7.2.12-1"
    package.mkdir()
    newer = tree_of("HEAD")
    assert old.exists(), "it was used just now"
    for tree in (old, newer, package):
        os.utime(tree, (time.time() - 3600,) * 2)
    shutil.rmtree(newer)
    tree_of("HEAD")
    assert not old.exists()
    assert package.exists()


def test_trees_are_named_by_the_operator() -> None:
    found = settings_from({"MITIGAUGE_TREES": "mainline=/srv/linux, stable=/srv/stable"})
    assert found.source_trees == {"mainline": Path("/srv/linux"), "stable": Path("/srv/stable")}
    assert settings_from({}).source_trees == {}


@pytest.mark.parametrize("said", ["/srv/linux", "a=b", "a b=/srv", "=/srv"])
def test_a_tree_that_is_written_otherwise_is_refused(said: str) -> None:
    with pytest.raises(InvalidInput, match="MITIGAUGE_TREES has"):
        _ = settings_from({"MITIGAUGE_TREES": said}).source_trees
