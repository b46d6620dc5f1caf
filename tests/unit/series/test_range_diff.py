"""What changed between two revisions."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

from mitigauge.kernels.mails.files import read_mails
from mitigauge.kernels.patch import Patch
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.range_diff import MOST_LINES, Change, Renamed, range_diff, renamed
from tests.measuring import within_processor_s
from tests.series_mails import diff

OURS = Path(__file__).parents[2] / "series" / "vmscape-bhb"


def patch(title: str, text: str) -> Patch:
    return Patch(title, f"Subject: {title}\n\nWhy.\n---\n{text}")


ONE = patch("mend one", diff("one.c", "int one;", "int uno;"))
TWO = patch("mend two", diff("two.c", "int two;", "int due;"))


def test_the_same_diff_on_other_lines_is_the_same_patch() -> None:
    moved = ONE.text.replace("@@ -1,3 +1,3 @@", "@@ -9,3 +9,3 @@").replace("1111111", "3333333")
    [change] = range_diff([ONE], [Patch("mend one", moved)])
    assert (change.change, change.before, change.after, change.lines) == (Change.SAME, 1, 1, [])


def test_new_gone_and_moved_patches_are_told_apart() -> None:
    three = patch("mend three", diff("three.c", "a", "b"))
    changes = range_diff([ONE, TWO], [three, ONE])
    assert [(c.change, c.before, c.after) for c in changes] == [
        (Change.NEW, None, 1),
        (Change.SAME, 1, 2),
        (Change.GONE, 2, None),
    ]


def test_another_title_alone_is_a_change_with_nothing_to_show() -> None:
    [change] = range_diff([ONE], [Patch("mend uno", ONE.text)])
    assert (change.change, change.title_before, change.lines) == (Change.CHANGED, "mend one", [])


def test_a_patch_with_another_title_and_most_lines_alike_is_the_same_one_changed() -> None:
    before = patch("a", diff("one.c", "x", "y") + diff("two.c", "v", "w"))
    after = patch("b", diff("one.c", "x", "y") + diff("two.c", "v", "z"))
    [change] = range_diff([before], [after])
    assert change.change is Change.CHANGED
    assert "-+w" in change.lines
    assert "++z" in change.lines


def test_a_symbol_that_has_another_name_is_found_and_a_changed_value_is_none() -> None:
    before = patch("a", diff("one.c", "x", "call old_name();") + diff("two.c", "n = 64;", "q"))
    after = patch("a", diff("one.c", "x", "call new_name();") + diff("two.c", "n = 32;", "q"))
    assert renamed([before], [after]) == [Renamed(before="old_name", after="new_name", times=1)]


def test_a_name_that_still_stands_somewhere_was_not_renamed() -> None:
    before = patch("a", diff("one.c", "x", "call old_name();"))
    after = patch("a", diff("one.c", "x", "call new_name();") + diff("b.c", "x", "old_name();"))
    assert renamed([before], [after]) == []


def test_the_test_series_says_what_its_letters_say() -> None:
    found = [revisions(read_mails([OURS / f"v{n}"]))[0] for n in (1, 2, 3, 4)]
    assert [revision.faults for revision in found] == [()] * 4
    patches = [[sent.patch for sent in revision.patches] for revision in found]
    kinds = [
        [c.change.value for c in range_diff(before, after)] for before, after in pairwise(patches)
    ]
    assert [(k.count("same"), k.count("changed"), k.count("new")) for k in kinds] == [
        (7, 1, 0),
        (5, 3, 0),
        (8, 0, 1),
    ]
    [name] = renamed(patches[1], patches[2])
    assert (name.before, name.after) == ("vmscape_clear_history", "vmscape_flush_history")


def test_patches_of_any_size_are_compared_within_seconds() -> None:
    def long(word: str) -> Patch:
        lines = "".join(f"+{word}{number % 7};\n" for number in range(60_000))
        return patch(word, f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n{lines}")

    with within_processor_s(20):
        [change, *_] = range_diff([long("a")], [Patch("a", long("b").text)])
        assert renamed([long("a")], [long("b")]) == []
    assert len(change.lines) <= MOST_LINES


def test_revisions_of_any_size_are_compared_within_a_bound() -> None:
    """2,400 lines a side, all of few kinds: what made the quadratic way run out of time."""
    rng = random.Random(1)

    def patches(kinds: list[str]) -> list[Patch]:
        return [
            Patch(f"patch {n}", "diff --git a/x b/x\n" + "".join(
                f"+{rng.choice(kinds)}\n" for _ in range(2400)
            ))
            for n in range(20)
        ]  # fmt: skip

    before, after = patches(["", "a", "b", "c"]), patches(["", "a", "b", "d" * 5000])
    with within_processor_s(20):
        found = range_diff(before, after)
        renamed(before, after)
    assert [each.change for each in found] == ["changed"] * 20
    assert all(len(line) <= 300 for each in found for line in each.lines)
    assert any("too many to be compared" in each.lines[0] for each in found)
