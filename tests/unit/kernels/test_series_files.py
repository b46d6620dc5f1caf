"""The patches of the tests: whole, signed, and each below the tree."""

from __future__ import annotations

import re
from email import message_from_string
from pathlib import Path

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.kernels.patch_files import read_patches
from mitigauge.reporting.letters.reply.cover_letter import findings

SERIES = REPOSITORY / "tests" / "series"
REVISIONS = sorted((SERIES / "vmscape-bhb").iterdir())
SINGLE = sorted(
    file for folder in ("syscall", "broken", "vmscape-long") for file in (SERIES / folder).iterdir()
)
HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", re.MULTILINE)


@pytest.mark.parametrize("revision", REVISIONS, ids=lambda path: str(path.name))
def test_a_revision_is_numbered_whole_and_signed(revision: Path) -> None:
    mails = sorted(revision.glob("*.patch"))
    count = len(mails) - 1
    assert count >= 8
    for number, mail in enumerate(mails):
        text = mail.read_text()
        assert f"[PATCH {revision.name} {number}/{count}]" in text
        assert number == 0 or "Signed-off-by: Mitigauge Test Series" in text
    assert len(read_patches([revision])) == count


@pytest.mark.parametrize("revision", REVISIONS, ids=lambda path: str(path.name))
def test_a_revision_is_one_thread_of_the_one_series(revision: Path) -> None:
    first, *others = (message_from_string(f.read_text()) for f in sorted(revision.glob("*.patch")))
    assert "\nchange-id: 20261123-vmscape-bhb-test-" in str(first.get_payload())
    assert {mail["In-Reply-To"] for mail in others} == {first["Message-ID"]}
    ids = [mail["Message-ID"] for mail in (first, *others)]
    assert len({*ids}) == len(ids)


@pytest.mark.parametrize("file", SINGLE, ids=lambda path: str(path.name))
def test_a_patch_alone_is_read(file: Path) -> None:
    [patch] = read_patches([file])
    assert patch.title
    assert patch.files


@pytest.mark.parametrize(
    "file", [*SINGLE, *(f for r in REVISIONS for f in sorted(r.glob("*.patch"))[1:])],
    ids=lambda path: f"{path.parent.name}/{path.name[:7]}",
)  # fmt: skip
def test_the_lines_of_each_hunk_are_as_many_as_it_says(file: Path) -> None:
    parts = re.split(r"(?m)^diff --git ", file.read_text())[1:]
    for part in parts:
        begins = [match.start() for match in HUNK.finditer(part)]
        for at, end in zip(begins, [*begins[1:], len(part)], strict=True):
            head, *lines = part[at:end].rstrip("\n").split("\n")
            said = HUNK.match(head)
            assert said
            old = sum(line[:1] in (" ", "-", "") for line in lines if line != "--")
            new = sum(line[:1] in (" ", "+", "") for line in lines if line != "--")
            lines_old, lines_new = int(said[1] or 1), int(said[2] or 1)
            # The mail's signature may follow the last hunk.
            assert lines_old <= old <= lines_old + 3
            assert lines_new <= new <= lines_new + 3


@pytest.mark.parametrize("revision", REVISIONS, ids=lambda path: str(path.name))
def test_what_the_cover_letter_does_not_say_is_found(revision: Path) -> None:
    [letter] = revision.glob("*cover-letter*")
    assert [finding.kind for finding in findings(letter.read_text())] == ["count", "interval"]


def test_a_cover_letter_beside_its_patches_is_left_out_and_told_of(tmp_path: Path) -> None:
    cover = "From: A <a@example.org>\nSubject: [PATCH 0/1] toys: mend\n\nIt mends.\n"
    patch = (
        "From: A <a@example.org>\nSubject: [PATCH 1/1] toys: one\n\n---\n"
        "diff --git a/toys/one.c b/toys/one.c\n--- a/toys/one.c\n+++ b/toys/one.c\n"
        "@@ -1 +1 @@\n-a\n+b\n"
    )
    paths = [tmp_path / "0000-cover-letter.patch", tmp_path / "0001-one.patch"]
    for path, text in zip(paths, (cover, patch), strict=True):
        path.write_text(text)
    told: list[str] = []
    assert [each.title for each in read_patches(paths, told.append)] == ["toys: one"]
    assert told == ["left out: 0000-cover-letter.patch: it is the cover letter"]
    with pytest.raises(InvalidInput, match="cover letters, without a patch"):
        read_patches([paths[0], paths[0]])
