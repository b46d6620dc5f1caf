"""The scripts between two builds, with a real make: only what changed is compiled again."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY

SCRIPTS = REPOSITORY / "pipelines" / "kernel_scripts"
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("make", "git"))), reason="needs make and git"
)
MAKEFILE = """\
all: out/a.o out/b.o out/c.o
out/%.o: source/%.c source/x.h
\t@echo CC $*
\t@cat $^ > $@
"""
BASE = {"a.c": "a\n", "b.c": "b\n", "c.c": "c\n", "x.h": "x\n"}
LONG_AGO = 1_500_000_000


def diff(file: str, before: str, after: str) -> str:
    return f"--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-{before}\n+{after}\n"


class Place:
    """A folder that stands for /build."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.source, self.out, self.patches = (
            directory / name for name in ("source", "out", "patches")
        )
        self.out.mkdir()

    def patched(self, *patches: str) -> None:
        """A fresh tree with the patches on it, as a build has it."""
        for folder in (self.source, self.patches):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        for name, text in BASE.items():
            (self.source / name).write_text(text)
            os.utime(self.source / name, (LONG_AGO, LONG_AGO))
        for number, text in enumerate(patches, 1):
            (self.patches / f"{number:04}.patch").write_text(text)
            self.run("apply", PATCH=f"{number:04}")

    def run(self, script: str, **variables: str) -> None:
        text = (SCRIPTS / script).read_text().replace("/build/", f"{self.directory}/")
        # git would take the tree for a part of a repository that it lies in.
        variables["GIT_CEILING_DIRECTORIES"] = str(self.directory)
        subprocess.run(["bash", "-c", text], check=True, env={**os.environ, **variables})

    def compiled(self) -> str:
        """What make compiles."""
        # Times of files may have steps of some milliseconds.
        time.sleep(0.05)
        (self.directory / "Makefile").write_text(MAKEFILE)
        done = subprocess.run(
            ["make", "-C", str(self.directory), "--no-print-directory"],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return " ".join(line[3:] for line in done.stdout.splitlines() if line.startswith("CC "))

    def goes_on(self, before: list[str], after: list[str]) -> str:
        """What is compiled with the patches *after*, from what a build of those *before* left."""
        self.patched(*before)
        self.compiled()
        self.run("keep")
        self.patched(*after)
        self.run("restore")
        return self.compiled()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_only_what_a_further_patch_changes_is_compiled_again(place: Place) -> None:
    first, second = diff("a.c", "a", "aa"), diff("b.c", "b", "bb")
    place.patched(first)
    assert place.compiled() == "a b c"
    place.run("keep")
    place.patched(first, second)
    place.run("restore")
    assert place.compiled() == "b"
    assert (place.out / "b.o").read_text() == "bb\nx\n"


def test_what_a_header_reaches_is_compiled_again(place: Place) -> None:
    first, second = diff("x.h", "x", "xx"), diff("x.h", "xx", "xxx")
    assert place.goes_on([first], [first, second]) == "a b c"


def test_a_patch_that_takes_another_one_back_is_compiled(place: Place) -> None:
    there, back = diff("a.c", "a", "aa"), diff("a.c", "aa", "a")
    assert place.goes_on([there], [there, back]) == "a"
    assert (place.out / "a.o").read_text() == "a\nx\n"


def test_a_build_without_patches_is_gone_on_from_too(place: Place) -> None:
    assert place.goes_on([], [diff("c.c", "c", "cc")]) == "c"


def test_what_was_staged_for_a_package_is_not_kept(place: Place) -> None:
    place.patched()
    (place.out / "staged").mkdir()
    place.run("keep")
    assert sorted(each.name for each in place.out.iterdir()) == ["patched"]
