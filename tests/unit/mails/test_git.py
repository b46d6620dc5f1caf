"""What we read of mails is what git reads of them: `git mailsplit` and `git mailinfo` as judges."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.kernels.diff import diff_in
from mitigauge.kernels.mails.mailbox import split
from mitigauge.kernels.mails.reader import read_all
from mitigauge.kernels.patch import patch_in
from tests.series_mails import diff, mailbox, raw_mail

CASES = REPOSITORY / "tests" / "fixtures" / "cases"
# Git knows no sender of a mail that was cut off nor of `user at host`, undoes no format=flowed, and
# takes any diff.
NOT_AS_GIT = {
    "43-torn-second-revision.mbox", "45-flowed.eml", "49-cut-off-after-heads.eml",
    "61-pipermail-stranger.mbox",
}  # fmt: skip
# Git keeps what a quilt's file or a mail's structure says elsewhere out of this.
MAILS = [
    *sorted((REPOSITORY / "tests" / "series").rglob("*.patch")),
    *(file for file in sorted(CASES.rglob("*")) if file.suffix in {".eml", ".mbox", ".patch"}
      and "quilt-folder" not in file.parts[-2] and file.name not in NOT_AS_GIT),
]  # fmt: skip
WORDS = ("From the manual: at 10:00:00 it is.", "From 2001 on.\n\nFrom here to 12 it is")
BOX = mailbox(
    [
        raw_mail(f"[PATCH {n}/2] toys: {n}", f"{said}\n---\n{diff('a', 'a', 'b')}")
        for n, said in enumerate(WORDS, 1)
    ]
)


def git_split(folder: Path, content: bytes) -> list[bytes]:
    """The mails of a mailbox as `git mailsplit` writes them."""
    (folder / "box").write_bytes(content)
    (folder / "out").mkdir()
    subprocess.run(
        ["git", "mailsplit", "-b", "--keep-cr", f"-o{folder / 'out'}", folder / "box"],
        check=True, capture_output=True,
    )  # fmt: skip
    return [file.read_bytes() for file in sorted((folder / "out").iterdir())]


def git_info(folder: Path, raw: bytes) -> tuple[dict[str, str], str]:
    """Author and subject, and the patch, as `git mailinfo` reads them."""
    message, patch = folder / "message", folder / "patch"
    done = subprocess.run(
        ["git", "mailinfo", "-b", message, patch],
        input=raw, check=True, capture_output=True,
    )  # fmt: skip
    lines = [line.split(": ", 1) for line in done.stdout.decode().splitlines() if ": " in line]
    return dict(lines), patch.read_text(errors="replace")


@pytest.mark.parametrize("content", [BOX, *(f.read_bytes() for f in MAILS if f.suffix == ".mbox")])
def test_a_mailbox_is_split_as_git_splits_it(tmp_path: Path, content: bytes) -> None:
    ours = [raw.strip() for raw in split(content)]
    theirs = [raw.split(b"\n", 1)[1].strip() for raw in git_split(tmp_path, content)]
    assert ours == theirs


def test_words_that_git_takes_for_the_begin_of_a_mail_split_none() -> None:
    words = "From here to 12:13:14 2001\nit is so."
    assert len(list(split(mailbox([raw_mail("[PATCH] toys: Mend", words)])))) == 1


@pytest.mark.parametrize("file", MAILS, ids=lambda file: "/".join(file.parts[-2:]))
def test_a_mail_says_what_git_reads_of_it(tmp_path: Path, file: Path) -> None:
    raws = list(split(file.read_bytes()))
    for raw, mail in zip(raws, read_all(raws), strict=True):
        said, patch = git_info(tmp_path, raw)
        assert not mail.fault
        assert mail.sender.address == said["Email"]
        assert mail.sender.name in (said["Author"], "")
        ours = patch_in(mail, file.name)
        # Git keeps words behind a diff, which both leave alone when it is applied.
        assert (ours.text if ours else "") == diff_in(patch).text
        # `-b` keeps brackets that are no word of git's.
        assert not ours or ours.title in said["Subject"]
