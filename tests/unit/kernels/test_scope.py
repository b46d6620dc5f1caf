"""Which builds share a compiler cache: what a patch may write, none without it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from mitigauge.kernels.config_profile import profile_of
from mitigauge.kernels.patch import Patch
from mitigauge.tracking.series.service import slug
from pipelines.adapters.git_tree import GitTree
from pipelines.kernel_build import CACHE_LIVES_S, SHARED, UNPATCHED, Order, forget_caches

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
    forget_caches(tmp_path, now + CACHE_LIVES_S - 60)
    assert len(list(tmp_path.iterdir())) == 4
    forget_caches(tmp_path, now + CACHE_LIVES_S + 60)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([UNPATCHED, SHARED])
