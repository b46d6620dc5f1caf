"""Which builds share a compiler cache: what a patch may write, none without it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from mitigauge.kernels.config_profile import profile_of
from mitigauge.kernels.patch import Patch
from mitigauge.tracking.series.service import slug
from pipelines.adapters.compiler_cache import (
    LIVES_S,
    SHARED,
    UNPATCHED,
    cache_begun,
    forget_caches,
)
from pipelines.adapters.git_tree import GitTree
from pipelines.kernel_order import Order

ONE, OTHER = Patch("shared", "one"), Patch("base", "other")


def order(*patches: Patch, label: str = "", tree: GitTree | None = None) -> Order:
    return Order("linux-source-7.2", profile_of("lab"), patches, label=label, tree=tree)


@pytest.mark.parametrize("name", ["shared", "base", "own", UNPATCHED, SHARED, "../shared"])
def test_no_name_from_outside_is_the_cache_of_kernels_without_patches(name: str) -> None:
    patched = order(Patch(name, "text"), label=name)
    assert patched.scope not in (UNPATCHED, SHARED)
    assert patched.scope == order(Patch("other name", "text")).scope
    assert patched.scope.startswith("patches-")


def test_each_set_of_patches_writes_a_cache_of_its_own() -> None:
    scopes = {order(*p).scope for p in [(), (ONE,), (OTHER,), (ONE, OTHER), (OTHER, ONE)]}
    assert len(scopes) == 5
    assert order().scope == UNPATCHED


def test_a_build_begins_by_the_caches_of_its_own_first_patches_and_no_others() -> None:
    third = Patch("third", "third")
    assert order(ONE, OTHER, third).beginnings == [order(ONE, OTHER).scope, order(ONE).scope]
    assert order(ONE).beginnings == order().beginnings == []


def test_a_new_cache_begins_as_the_first_of_its_beginnings_that_there_is(tmp_path: Path) -> None:
    for name in ("one", "one-two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "of").write_text(name)
    own = cache_begun(tmp_path, "one-two-three", ["none", "one-two", "one"])
    assert (own / "of").read_text() == "one-two"
    # What it writes then is its own, and stays.
    (own / "of").write_text("three")
    cache_begun(tmp_path, "one-two-three", ["one-two", "one"])
    assert (own / "of").read_text() == "three"
    assert (tmp_path / "one-two" / "of").read_text() == "one-two"
    assert not list(tmp_path.glob("*.new"))
    assert not cache_begun(tmp_path, "two", ["none"]).exists()


def test_a_cache_that_cannot_be_copied_begins_empty(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    own = cache_begun(tmp_path, "x" * 252, ["one"])
    assert not own.exists()
    assert (tmp_path / "one").is_dir()


def test_commits_of_a_tree_write_the_cache_of_that_tree(tmp_path: Path) -> None:
    one, other = (order(tree=GitTree(tmp_path / name)) for name in ("one", "other"))
    assert len({one.scope, other.scope, UNPATCHED}) == 3
    assert order(ONE, tree=GitTree(tmp_path)).scope == order(ONE).scope


def test_a_subject_of_digits_is_no_number_of_a_series() -> None:
    assert slug("[PATCH] 7") == "patch-7"
    assert (slug("7"), slug("!")) == ("series-7", "series")


def test_a_cache_that_nobody_uses_is_forgotten_and_ours_never(tmp_path: Path) -> None:
    names = ["patches-old", "a-series-of-before", UNPATCHED, SHARED]
    for name in names:
        (tmp_path / name).mkdir()
    now = (tmp_path / names[0]).stat().st_mtime
    forget_caches(tmp_path, now + LIVES_S - 60)
    assert len(list(tmp_path.iterdir())) == 4
    forget_caches(tmp_path, now + LIVES_S + 60)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([UNPATCHED, SHARED])
