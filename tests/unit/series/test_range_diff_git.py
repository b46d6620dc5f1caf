"""What changed between two revisions, beside what `git range-diff` says of the same commits."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from mitigauge.kernels.mails.files import read_mails
from mitigauge.kernels.patch import Patch
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.range_diff import Change, range_diff

SIGNS = {Change.SAME: "=", Change.CHANGED: "!", Change.NEW: ">", Change.GONE: "<"}
PAIR = re.compile(r" *(\d+|-+): +(?:[0-9a-f]+|-+) ([=!<>]) +(\d+|-+): ")
# The sign of a pair as git writes it, and the places in both revisions.
Pair = tuple[str, int | None, int | None]
FILES = ("a.c", "b.c", "c.c", "d.c", "e.c", "f.c")


@dataclass(frozen=True)
class Step:
    """A patch: lines of one file by their number, and what they become."""

    title: str
    path: str
    lines: Mapping[int, str]
    why: str = "Because."


class Repository:
    """A small repository: two bases, and a revision on top of each."""

    def __init__(self, where: Path) -> None:
        self.where = where
        self.git("init", "--quiet", "--initial-branch=base-1")
        for name in FILES:
            lines = (f"\t{name[0]}_{number}();\n" for number in range(1, 41))
            (where / name).write_text("".join(["int first(void)\n", *lines]))
        self.git("add", *FILES)
        self.git("commit", "--quiet", "--message=Base")

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=T", "-c", "user.email=t@example.org")
        none = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(
            ["git", *who, *words], cwd=self.where, check=True, capture_output=True, text=True,
            env=os.environ | none,
        ).stdout  # fmt: skip

    def move_base(self, function: str) -> None:
        """A later base: lines have other numbers and stand in a function of that name."""
        self.git("checkout", "--quiet", "-b", "base-2", "base-1")
        for name in FILES:
            path = self.where / name
            path.write_text("#include <new.h>\n\n" + path.read_text().replace("first", function))
        self.git("commit", "--quiet", "--all", "--message=Later base")

    def add(self, number: int, base: str, steps: Sequence[Step]) -> list[Patch]:
        """Revision *number* on top of *base*, as its mails have it."""
        self.git("checkout", "--quiet", "-b", f"v{number}", base)
        for step in steps:
            path = self.where / step.path
            text = path.read_text()
            for line, now in step.lines.items():
                text = text.replace(f"\t{step.path[0]}_{line}();\n", now)
            path.write_text(text)
            self.git("commit", "--quiet", "--all", f"--message={step.title}\n\n{step.why}")
        mails = self.where / f"mails-{number}"
        self.git("format-patch", "--quiet", f"-v{number}", "-o", str(mails), base)
        [revision] = revisions(read_mails([mails]))
        assert revision.faults == ()
        return [sent.patch for sent in revision.patches]


def said(
    where: Path, before: Sequence[Step], after: Sequence[Step], *, function: str = "first"
) -> tuple[list[Pair], list[Pair]]:
    """What git says of two revisions, and what we say of their mails, both in one order.

    The later one lies on a later base, whose *function* may have another name.
    """
    repository = Repository(where)
    repository.move_base(function)
    base = "base-2"
    patches = [repository.add(1, "base-1", before), repository.add(2, base, after)]
    text = repository.git("range-diff", "--no-patch", "--no-color", "base-1..v1", f"{base}..v2")
    found = [PAIR.match(line) for line in text.splitlines()]
    git = [(match[2], _place(match[1]), _place(match[3])) for match in found if match]
    ours = [(SIGNS[each.change], each.before, each.after) for each in range_diff(*patches)]
    assert len(git) == len(found) > 0
    return sorted(git, key=str), sorted(ours, key=str)


def _place(text: str) -> int | None:
    return None if text.startswith("-") else int(text)


def lines(word: str, *numbers: int) -> dict[int, str]:
    return {number: f"\t{word}({number});\n" for number in numbers}


KEPT = Step("keep", "a.c", lines("kept", 10, 30))
EDITED = Step("edit", "b.c", lines("edited", 10, 11, 12, 13, 14))
EDITED_SINCE = Step("edit", "b.c", lines("edited", 10, 11, 12, 13) | {14: "\totherwise(14);\n"})
MOVED = Step("move", "c.c", lines("moved", 20))
DROPPED = Step("drop", "d.c", lines("dropped", 10, 11, 12))
TITLED = Step("old title", "e.c", lines("titled", 10, 11, 12))
TITLED_SINCE = Step("new title", "e.c", lines("titled", 10, 11, 12))
ADDED = Step("add", "f.c", lines("added", 5, 6, 7))
WHOLE = Step("all of it", "a.c", lines("new", *range(1, 13)))
FEW = Step("a few", "a.c", lines("new", *range(1, 6)))
THIRD = Step("a third", "a.c", lines("new", *range(1, 5)))
MOST = Step("most of it", "a.c", lines("new", *range(6, 13)))


def test_kept_moved_edited_titled_dropped_and_new_patches_are_those_of_git(tmp_path: Path) -> None:
    before = (KEPT, EDITED, MOVED, DROPPED, TITLED)
    after = (MOVED, KEPT, ADDED, EDITED_SINCE, TITLED_SINCE)
    git, ours = said(tmp_path, before, after)
    assert git == ours
    assert set(ours) == {
        ("=", 1, 2), ("!", 2, 4), ("=", 3, 1), ("<", 4, None), ("!", 5, 5), (">", None, 3),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            [Step("one", "a.c", lines("one", 10))], [Step("two", "a.c", lines("two", 10))],
            id="one line with another title",
        ),
        pytest.param(
            [Step("one", "a.c", lines("one", 10, 30))], [Step("two", "a.c", lines("two", 13, 33))],
            id="other lines of the same file",
        ),
        pytest.param([WHOLE], [THIRD], id="a third is left"),
        pytest.param([WHOLE], [MOST], id="more than half is left"),
        pytest.param([KEPT, DROPPED], [DROPPED, KEPT], id="turned round"),
    ],
)  # fmt: skip
def test_patches_are_alike_for_us_where_they_are_for_git(
    tmp_path: Path, before: list[Step], after: list[Step]
) -> None:
    git, ours = said(tmp_path, before, after)
    assert git == ours


def test_the_words_of_a_mail_are_no_change_for_us(tmp_path: Path) -> None:
    since = Step(KEPT.title, KEPT.path, KEPT.lines, "Since.")
    assert said(tmp_path, [KEPT], [since]) == ([("!", 1, 1)], [("=", 1, 1)])


def test_another_name_of_the_function_around_a_hunk_is_no_change_for_us(tmp_path: Path) -> None:
    git, ours = said(tmp_path, [KEPT, MOVED], [MOVED, KEPT], function="begin")
    assert git == [("!", 1, 2), ("!", 2, 1)]
    assert ours == [("=", 1, 2), ("=", 2, 1)]


def test_the_same_title_is_the_same_patch_for_us_whatever_it_does(tmp_path: Path) -> None:
    git, ours = said(tmp_path, [KEPT], [Step(KEPT.title, "f.c", lines("else", 1, 2, 3))])
    assert git == [("<", 1, None), (">", None, 1)]
    assert ours == [("!", 1, 1)]


def test_a_patch_of_which_two_fifths_are_left_is_the_same_one_for_us(tmp_path: Path) -> None:
    git, ours = said(tmp_path, [WHOLE], [FEW])
    assert git == [("<", 1, None), (">", None, 1)]
    assert ours == [("!", 1, 1)]


def test_of_two_parts_we_take_the_first_that_is_alike_and_git_the_most_alike(
    tmp_path: Path,
) -> None:
    git, ours = said(tmp_path, [FEW, MOST], [WHOLE])
    assert git == [("!", 2, 1), ("<", 1, None)]
    assert ours == [("!", 1, 1), ("<", 2, None)]
