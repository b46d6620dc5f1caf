"""Candidate kernels go by count and age, and no other kernel ever does."""

from __future__ import annotations

import os
from pathlib import Path

from tests.loading import load

prune = load("ansible/roles/kernel/library/kernel_prune.py")


def release(number: int) -> str:
    return f"7.2.12-mg{number:010x}"


def test_only_kernels_that_were_built_are_found_the_newest_first(tmp_path: Path) -> None:
    for at, name in ((1, release(1)), (3, release(3)), (2, release(2)), (9, "6.12.9-amd64"),
                     (9, "7.2.12-mgnothex0000")):  # fmt: skip
        image = tmp_path / f"boot/vmlinuz-{name}"
        image.parent.mkdir(exist_ok=True)
        image.write_text("")
        os.utime(image, (at, at))
    assert prune.candidates(tmp_path) == [(3.0, release(3)), (2.0, release(2)), (1.0, release(1))]


def test_kernels_that_were_unpacked_are_candidates_too(tmp_path: Path) -> None:
    for name in (release(1), "6.12.9-imported"):
        (tmp_path / "var/lib/mitigauge/kernels" / name).mkdir(parents=True)
    assert [name for _, name in prune.candidates(tmp_path)] == [release(1)]


def test_those_beyond_the_count_go_and_those_too_old() -> None:
    found = [(float(n), release(n)) for n in range(9, 0, -1)]
    assert prune.to_remove(found, keep=7, oldest=0.0, kept=()) == [release(2), release(1)]
    assert prune.to_remove(found, keep=99, oldest=3.0, kept=()) == [release(2), release(1)]


def test_what_is_up_wanted_or_the_default_stays_and_counts_for_nothing() -> None:
    found = [(float(n), release(n)) for n in range(4, 0, -1)]
    kept = {release(1), release(4)}
    assert prune.to_remove(found, keep=1, oldest=0.0, kept=kept) == [release(2)]


def test_grubs_default_is_read_from_its_environment(tmp_path: Path) -> None:
    (tmp_path / "grubenv").write_text(f"# GRUB\nsaved_entry=gnulinux-{release(7)}-advanced-1\n###")
    assert prune.defaults(tmp_path / "grubenv") == {release(7)}
    assert prune.defaults(tmp_path / "absent") == set()
