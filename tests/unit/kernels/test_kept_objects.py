"""What a build leaves for one of more patches: who gets it, and when it is gone."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mitigauge.kernels.config_profile import profile_of
from mitigauge.kernels.patch import Patch, is_machinery
from mitigauge.kernels.recipe import Base, Recipe, Toolchain
from pipelines.adapters import kept_objects
from pipelines.kernel_order import Order, beginnings


def left(tmp_path: Path, text: str) -> Path:
    """An output folder with one object, that no build has now."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.o").write_text(text)
    return out


def keep(tmp_path: Path, name: str, *, patched: bool = True, age_s: float = 10) -> None:
    kept_objects.keep(tmp_path / "objects", name, left(tmp_path, name), patched=patched)
    then = time.time() - age_s
    os.utime(tmp_path / "objects" / ("patched" if patched else "plain") / name, (then, then))


def begun(tmp_path: Path, *names: str) -> str:
    """The object that a build begins with; nothing where it begins with none."""
    out = tmp_path / "new"
    out.mkdir(exist_ok=True)
    taken = kept_objects.begin(tmp_path / "objects", names, out)
    assert out.is_dir()
    assert taken is None or (out / "a.o").read_text() == taken
    return taken or ""


def test_a_build_begins_with_a_copy_of_the_first_that_is_kept(tmp_path: Path) -> None:
    keep(tmp_path, "one")
    keep(tmp_path, "two")
    assert begun(tmp_path, "three", "two", "one") == "two"
    (tmp_path / "new" / "a.o").write_text("written by a later patch")
    assert begun(tmp_path, "two") == "two"
    assert begun(tmp_path, "three") == ""


def test_what_is_from_the_future_is_not_taken(tmp_path: Path) -> None:
    keep(tmp_path, "one", age_s=-3600)
    assert begun(tmp_path, "one") == ""


def test_the_oldest_make_room_and_kernels_without_patches_have_room_of_their_own(
    tmp_path: Path,
) -> None:
    keep(tmp_path, "base", patched=False, age_s=100)
    for number in range(3):
        keep(tmp_path, f"p{number}", age_s=50 - number)
    assert begun(tmp_path, "p0") == ""
    assert begun(tmp_path, "p1") == "p1"
    # It was used just now, and the next oldest goes.
    keep(tmp_path, "p3", age_s=0.1)
    assert begun(tmp_path, "p2") == ""
    assert [begun(tmp_path, name) for name in ("p1", "base")] == ["p1", "base"]


def test_what_is_too_large_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_objects, "LARGEST", 1)
    kept_objects.keep(tmp_path / "objects", "one", left(tmp_path, "x" * 5000), patched=True)
    assert begun(tmp_path, "one") == ""


def test_what_nobody_used_is_forgotten_and_all_of_it_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = tmp_path / "objects"
    kept_objects.forget(objects, time.time())
    keep(tmp_path, "old", age_s=kept_objects.LIVES_S + 60)
    keep(tmp_path, "new")
    monkeypatch.setattr(kept_objects, "LEAST_FREE", 0)
    kept_objects.forget(objects, time.time())
    assert [begun(tmp_path, name) for name in ("old", "new")] == ["", "new"]
    monkeypatch.setattr(kept_objects, "LEAST_FREE", 1 << 60)
    kept_objects.forget(objects, time.time())
    assert begun(tmp_path, "new") == ""


def recipe(patches: Sequence[Patch]) -> Recipe:
    return Recipe(
        Base("linux-source-7.2", "7.2"), tuple(patch.sha256 for patch in patches), "lab", "0" * 64,
        Toolchain("debian", ("gcc 14",)), "1" * 64,
    )  # fmt: skip


def patch_of(file: str) -> Patch:
    return Patch(file, f"--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-a\n+b\n")


def test_a_build_goes_on_from_its_own_first_patches_back_to_one_of_the_makefiles() -> None:
    patches = [patch_of(file) for file in ("a.c", "kernel/Makefile", "b.h", "c.c")]
    order = Order("linux-source-7.2", profile_of("lab"), patches)
    of = recipe(patches)
    assert [each.patches for each in beginnings(of, order)] == [of.patches[:3], of.patches[:2]]
    first = replace(order, patches=patches[:1])
    assert [each.patches for each in beginnings(recipe(patches[:1]), first)] == [()]
    assert not list(beginnings(recipe([]), replace(order, patches=[])))


@pytest.mark.parametrize(
    ("file", "is_one"),
    [
        ("Makefile", True), ("kernel/Makefile", True), ("arch/x86/Kbuild", True),
        ("scripts/mod/modpost.c", True), ("tools/objtool/check.c", True),
        ("arch/x86/kernel/vmlinux.lds.S", True), ("arch/x86/boot/header.S", True),
        ("init/Kconfig", True), ("arch/x86/boot/compressed/misc.c", True),
        ("kernel/sys.c", False), ("include/linux/fs.h", False), ("sound/tools.c", False),
        ("Documentation/kbuild/makefiles.rst", False), ("lib/scripts.c", False),
    ],
)  # fmt: skip
def test_what_decides_how_a_kernel_is_built_is_told_apart(file: str, is_one: bool) -> None:
    assert is_machinery(file) is is_one
