"""Mails and patches as people really have them, through the commands, each a process.

`tests/fixtures/cases` holds each input with what is right.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mitigauge.kernels.mails.files import read_mails
from mitigauge.kernels.patch_files import read_patches
from mitigauge.tracking.series.mail_thread import revisions
from tests.commands import CASES, Command
from tests.series_mails import mailbox

# Cases of patches → titles, and files of the first.
READ = {
    "08-mbox-multipart-dropped.mbox": (["first", "second"], ["x.c"]),
    "09-pure-rename.patch": (["drivers: Rename a.c"], ["drivers/a.c", "drivers/b.c"]),
    "12a-from-in-message.patch": (["x86/bugs: Clear the history"], ["x.c"]),
    "12b-from-in-message-qp.patch": (["x86/bugs: Clear the history"], ["x.c"]),
    "13-quilt-folder": (["first", "second"], ["x.c"]),
    "24-noprefix-tools-arch.patch": (
        ["tools/x86: Decode one more opcode"],
        ["tools/arch/x86/lib/inat.c"],
    ),
    "59-last-blank-line-of-a-part.mbox": (["fork: call c()"], ["kernel/fork.c"]),
    "62-colon-behind-the-brackets.mbox": (["fork: call c()", "exit: call c()"], ["kernel/fork.c"]),
}


@pytest.fixture
def command(tmp_path: Path, database_url: str) -> Command:
    return Command(tmp_path, database_url)


def added(command: Command, case: str) -> dict[str, Any]:
    """The one revision that `series add` stores of a case."""
    [revision] = command.json("series", "add", CASES / case)["revisions"]
    assert revision["state"] == "waiting", revision["why"]
    return dict(revision)


@pytest.mark.parametrize("case", READ)
def test_patches_are_read_as_git_reads_them(command: Command, case: str) -> None:
    found = command.json("kernel", "build", CASES / case, "--check")
    titles, files = READ[case]
    assert [patch["title"] for patch in found] == titles
    assert found[0]["files"] == files


def test_a_diff_of_quilt_is_no_less_a_patch(command: Command, tmp_path: Path) -> None:
    revision = added(command, "06-quilt-mail-series")
    assert revision["label"] == "v2"
    assert [patch["title"] for patch in revision["patches"]] == ["x86/a: First", "x86/a: Second"]
    box = tmp_path / "series.mbox"
    mails = sorted((CASES / "06-quilt-mail-series").iterdir())
    box.write_bytes(mailbox([mail.read_bytes() for mail in mails]))
    found = command.json("kernel", "build", box, "--check")
    assert [patch["title"] for patch in found] == ["x86/a: First", "x86/a: Second"]


def test_parts_of_mails_are_read_by_both_commands_alike(command: Command) -> None:
    case = "08-mbox-multipart-dropped.mbox"
    assert [patch["title"] for patch in added(command, case)["patches"]] == ["first", "second"]


@pytest.mark.parametrize(
    ("case", "label", "count"),
    [("10-stable-subject", "v1", 2), ("18-patchwork-subjects", "v2", 2),
     ("09-pure-rename.patch", "v1", 1)],
)  # fmt: skip
def test_subjects_name_revision_and_place(
    command: Command, case: str, label: str, count: int
) -> None:
    revision = added(command, case)
    assert (revision["label"], len(revision["patches"])) == (label, count)


def test_names_in_raw_utf8_are_read(command: Command) -> None:
    revision = added(command, "20-raw-utf8-headers.eml")
    assert revision["title"] == "MAINTAINERS: Add Łucja"
    [mail] = read_mails([CASES / "20-raw-utf8-headers.eml"])
    assert mail.sender.name == "Łucja Żółć"


def test_a_blank_line_of_context_that_a_program_stripped_still_applies(
    command: Command, tmp_path: Path
) -> None:
    case = CASES / "11-stripped-blank-context.eml"
    added(command, case.name)
    assert [patch["title"] for patch in command.json("kernel", "build", case, "--check")] == ["x"]
    text = revisions(read_mails([case]))[0].patches[0].patch.text
    (tmp_path / "x.c").write_text("int a;\nint c;\n\n")
    subprocess.run(["git", "apply", "-p1"], cwd=tmp_path, input=text.encode(), check=True)
    assert (tmp_path / "x.c").read_text() == "int b;\nint c;\n\n"


def test_quoted_printable_is_decoded_whatever_stands_in_the_message() -> None:
    [patch] = read_patches([CASES / "12b-from-in-message-qp.patch"])
    assert "+a = 2;\n" in patch.text
    assert "=3D" not in patch.text


def test_the_command_approves_what_was_looked_at_alone(command: Command) -> None:
    revision = added(command, "10-stable-subject")
    name = command.json("series", "list")[0]["name"]
    refused = command.run("series", "approve", name, "v1", "0" * 16, code=1)
    assert "is not what you looked at" in refused.stderr
    command.run("series", "approve", name, "v1", code=1)
    shown = command.run("series", "show", name, "v1").stdout
    assert revision["digest"] in shown
    done = command.run("series", "approve", name, "v1", revision["digest"][:16])
    assert "is approved" in done.stdout


def test_a_series_that_is_known_takes_no_other_name(command: Command) -> None:
    added(command, "10-stable-subject")
    path = CASES / "10-stable-subject"
    [known] = command.json("series", "list")
    command.run("series", "add", path, "--name", known["name"])
    said = command.run("series", "add", path, "--name", "other", code=1).stderr
    assert f"this series is known as {known['name']}: it cannot be named 'other'" in said


@pytest.mark.parametrize(
    ("case", "files", "said"),
    [
        ("21-v2-after-v1.mbox", [["kernel/sched/core.c", "kernel/sched/idle.c"]],
         "left out: 21-v2-after-v1.mbox, mail 1: it is of v1, and v2 is there"),
        ("22-blank-first-line.mbox", [["fs/pipe.c"], ["fs/pipe.c"]], ""),
        ("48-resent.mbox", [["mm/ksm.c"]], "mail 2: it is the same patch as 48-resent"),
        ("47-thread.mbox.gz", [["kernel/time/tick-sched.c"]] * 2, ""),
    ],
)  # fmt: skip
def test_mails_of_one_patch_are_one_and_a_mailbox_is_one_however_it_begins(
    command: Command, case: str, files: list[list[str]], said: str
) -> None:
    done = command.run("kernel", "build", CASES / case, "--check", "--json")
    assert [patch["files"] for patch in json.loads(done.stdout)] == files
    assert said in done.stderr


@pytest.mark.parametrize(
    ("case", "shown", "left_out"),
    [
        ("22-blank-first-line.mbox", [("v1", "waiting", 2)], ""),
        ("23-v2-point-1.mbox", [("v2", "waiting", 1)], "ida-4-2@example.org is of v2.1"),
        ("43-torn-second-revision.mbox", [("v1", "waiting", 1), ("v2", "refused", 0)], ""),
        ("44-two-stable-trees.mbox", [("v1", "waiting", 2)], ""),
        ("46-maildir", [("v1", "waiting", 2)], ""),
        ("47-thread.mbox.gz", [("v1", "waiting", 2)], ""),
        ("49-cut-off-after-heads.eml", [("v1", "refused", 0)], ""),
        ("60-partial-reroll.mbox", [("v2", "waiting", 2), ("v3", "refused", 1)], ""),
        (
            "61-pipermail-stranger.mbox",
            [("v1", "refused", 1)],
            "left out: x3@example.org is from bo@example.org",
        ),
    ],
)
def test_series_are_stored_with_what_is_wrong_with_them(
    command: Command, case: str, shown: list[tuple[str, str, int]], left_out: str
) -> None:
    assert left_out in command.run("series", "add", CASES / case, "--name", "x").stderr
    revisions = command.json("series", "show", "x")["revisions"]
    found = [(r["label"], r["state"], len(r["patches"])) for r in revisions]
    assert sorted(found) == shown


def test_flowed_mails_bring_the_patch_that_was_sent(command: Command, tmp_path: Path) -> None:
    case = CASES / "45-flowed.eml"
    plain = tmp_path / "plain.eml"
    text = case.read_text().replace("; format=flowed", "").replace("\n  \t", "\n \t")
    plain.write_text(text)
    one, other = (command.json("kernel", "build", each, "--check") for each in (case, plain))
    assert one[0]["sha256"] == other[0]["sha256"]


def test_a_patch_that_was_not_sent_again_is_told_of(command: Command) -> None:
    case = CASES / "60-partial-reroll.mbox"
    command.run("series", "add", case, "--name", "x")
    missing = "patch 1 of 2 is missing: it was not sent again or did not arrive; v2 has one"
    assert missing in command.run("series", "show", "x").stdout
    refused = command.run("kernel", "build", case, "--check", code=1).stderr
    assert (
        "patch 1 of 2 of v3 is missing: it was not sent again or did not arrive; v2 has one"
        in refused
    )


def test_a_strangers_patch_is_none_of_the_series_in_archives_of_mailman(command: Command) -> None:
    case = CASES / "61-pipermail-stranger.mbox"
    refused = command.run("kernel", "build", case, "--check", code=1).stderr
    assert "it is from bo@example.org, not from ada@example.org" in refused
    assert "patch 2 of 2 of v1 is missing" in refused
