"""Mails made plain text, whatever they are."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.kernels.mails.files import read_mails
from mitigauge.kernels.mails.reader import mail_of, mails_of
from mitigauge.kernels.mails.subject import patch_subject
from tests.series_mails import mailbox, raw_mail, raw_series


def test_a_mail_has_its_ids_without_brackets_and_addresses_in_small_letters() -> None:
    mail = mail_of(raw_mail("[PATCH] x: y", "text", sender="Ä Name <Some.One@Example.ORG>",
                            ident="a1", parent="root@example.org",
                            more="References: <r0@example.org>\n <r1@example.org>"))  # fmt: skip
    assert (mail.message_id, mail.parent) == ("a1@example.org", "root@example.org")
    assert mail.references == ("r0@example.org", "r1@example.org")
    assert mail.sender.address == "some.one@example.org"
    assert mail.body == "text"
    assert mail.sent_at is not None


@pytest.mark.parametrize(
    ("charset", "content", "read"),
    [
        ("utf-8", "größe".encode(), "größe"),
        ("iso-8859-1", "größe".encode("latin-1"), "größe"),
        # A charset that is wrong, and one that there is not.
        ("utf-8", "größe".encode("latin-1"), "größe"),
        ("x-unheard-of", "größe".encode(), "größe"),
        ("utf-16", b"odd", "odd"),
    ],
)
def test_a_body_is_read_in_its_charset_or_as_well_as_may_be(
    charset: str, content: bytes, read: str
) -> None:
    head = raw_mail("[PATCH] x: y", "", more=f"Content-Type: text/plain; charset={charset}")
    assert mail_of(head + content).body == read


def test_the_plain_part_of_several_is_taken() -> None:
    plain = base64.b64encode(b"the text\r\nof it").decode()
    body = (
        "--b\nContent-Type: text/html\n\n<p>no</p>\n--b\nContent-Type: text/plain\n"
        f"Content-Transfer-Encoding: base64\n\n{plain}\n--b--\n"
    )
    mail = mail_of(raw_mail("x", body, more="Content-Type: multipart/mixed; boundary=b"))
    assert mail.body == "the text\nof it"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0\xff\xfe",
        b"Subject: =?utf-8?b?!!!?=\nDate: yesterday\nFrom: nobody\n\n",
        b"Subject: =?nothing?q?a?=\nDate: Mon, 99 Nov 99999 10:00:00 +9999\nTo: @,@,;\n\nbody",
        b"From: " + b"a@b," * 5000 + b"\n\n",
        b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n" * 200,
        b"References: " + b"<" * 100_000 + b"\n\n",
        b"Content-Type: message/rfc822\n\n" * 2000 + b"x",
        b"Content-Type: text/plain; charset=utf-7\n\n+2AA-",
    ],
)
def test_no_mail_is_too_wrong_to_be_looked_at(raw: bytes) -> None:
    mail = mail_of(raw)
    assert "\0" not in mail.subject
    assert len(mail.to) <= 60
    assert mail.body.encode().decode() == mail.body


def test_what_a_terminal_would_obey_is_taken_out_of_headers() -> None:
    mail = mail_of(raw_mail("[PATCH] \x1b[31mred", ""))
    assert "\x1b" not in mail.subject


def test_a_mailbox_has_all_its_mails_and_a_file_of_one_has_it() -> None:
    mails = raw_series(1, ["diff --git a/x b/x\n"] * 2)
    assert len(list(mails_of(mailbox(mails)))) == 3
    [one] = mails_of(mails[0])
    assert one.message_id == "v1-0@example.org"


def test_a_line_that_begins_with_from_splits_no_mail() -> None:
    [mail] = mails_of(mailbox([raw_mail("[PATCH] x: y", "From here on it is\nFrom 12 to 13\n")]))
    assert "From 12 to 13" in mail.body


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("[PATCH] a: b", (1, 1, 1, "a: b")),
        ("[PATCH v3 02/10] a: b", (3, 2, 10, "a: b")),
        ("[PATCHv2 0/3] a: b", (2, 0, 3, "a: b")),
        ("[RFC PATCH net-next v12 1/2] a: [b] c", (12, 1, 2, "a: [b] c")),
        ("[RFC v2 1/2] a: b", (2, 1, 2, "a: b")),
        ("[tip: x86/bugs] [PATCH 5.15 3/4] a", (1, 3, 4, "a")),
    ],
)
def test_subjects_of_patches(subject: str, said: tuple[int, int, int, str]) -> None:
    found = patch_subject(subject)
    assert found is not None
    assert (found.version, found.position, found.total, found.title) == said


@pytest.mark.parametrize(
    "subject", ["Re: [PATCH v3 02/10] a: b", "a: b", "[ANNOUNCE] v7 of it", "", "[" * 5000]
)
def test_subjects_of_other_mails(subject: str) -> None:
    assert patch_subject(subject) is None


def test_files_and_folders_of_mails_are_read_in_their_order(tmp_path: Path) -> None:
    for number, raw in enumerate(raw_series(1, ["diff --git a/x b/x\n"] * 2)):
        (tmp_path / f"{number}.patch").write_bytes(raw)
    (tmp_path / "notes.md").write_text("Subject: no")
    assert [mail.message_id[:4] for mail in read_mails([tmp_path])] == ["v1-0", "v1-1", "v1-2"]


def test_what_is_no_file_or_has_no_mails_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is not there"):
        read_mails([tmp_path / "x"])
    with pytest.raises(InvalidInput, match="has no mails"):
        read_mails([tmp_path])
    (tmp_path / "big.mbox").write_bytes(b"")
    with (tmp_path / "big.mbox").open("wb") as file:
        file.truncate(65 << 20)
    with pytest.raises(InvalidInput, match="more than 64 MiB"):
        read_mails([tmp_path])


@pytest.mark.parametrize(
    ("subject", "label", "place"),
    [
        ("[PATCH v2.1] a", "v2.1", (1, 1)),
        ("[PATCHv3.2 2/3] a", "v3.2", (2, 3)),
        ("[RFCv2 PATCH 1/3] a", "v2", (1, 3)),
        ("[PATCH take 2] a", "v2", (1, 1)),
        ("[PATCH 01/12v3] a", "v3", (1, 12)),
        ("[PATCH v2a] a", "v2a", (1, 1)),
        ("[PATCH v1000 1/2] a", "v1000", (1, 2)),
        ("[PATCH v2 v3] a", "v2 v3", (1, 1)),
        ("[PATCH 5.10/5.15 1/2] a", "v1", (1, 2)),
        ("[PATCH 5.10/5.15] a", "v1", (1, 1)),
        ("[PATCH 4.19.y/5.4.y v2 2/3] a", "v2", (2, 3)),
        ("[PATCH 1/2 5.10/5.15] a", "v1", (1, 2)),
        ("[PATCH v5.10 v2 1/2] a", "v2", (1, 2)),
        ("[PATCH v6.9-rc1 1/2] a", "v1", (1, 2)),
        ("[PATCH x86/64 2/3] a", "v1", (2, 3)),
        ("[PATCH V4L/DVB 1 of 2] a", "v1", (1, 2)),
        ("[PATCH review 1/2] a", "v1", (1, 2)),
    ],
)
def test_what_stands_for_a_version_or_a_place_and_what_names_a_tree(
    subject: str, label: str, place: tuple[int, int]
) -> None:
    found = patch_subject(subject)
    assert found is not None
    assert (found.label, (found.position, found.total)) == (label, place)


@pytest.mark.parametrize("before", [b"\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n \t\n\n"])
def test_what_stands_before_the_first_mail_changes_nothing(before: bytes) -> None:
    mails = raw_series(1, ["diff --git a/x b/x\n"] * 2)
    assert mails_of(before + mailbox(mails)) == mails_of(mailbox(mails))
    assert mails_of(before + mails[1]) == mails_of(mails[1])


def test_a_mailbox_whose_first_line_was_lost_still_has_all_its_mails() -> None:
    box = mailbox(raw_series(1, ["diff --git a/x b/x\n"] * 2))
    assert len(mails_of(box.split(b"\n", 1)[1])) == 3
    assert len(mails_of(b"Saved by a program.\n" + box)) == 4


def test_a_file_that_seems_to_hold_other_mails_is_not_taken_for_one() -> None:
    odd = b"From one 2026-11-03T10:00\n" + raw_mail("[PATCH 1/2] a", "A.\n\n")
    [mail] = mails_of(odd + b"From two 2026-11-03T10:01\n" + raw_mail("[PATCH 2/2] b", "B.\n"))
    assert "begins another mail" in mail.fault
    assert mails_of(odd)[0].subject == "[PATCH 1/2] a"


def flowed(body: str, more: str = "") -> str:
    kind = f"Content-Type: text/plain; charset=UTF-8; format=flowed{more}"
    return mail_of(raw_mail("[PATCH] a", body, more=kind)).body


def test_flowed_text_is_what_it_was_before_it_was_sent() -> None:
    assert (
        flowed("It is \nlong.\n\n  \tint a;\n-\tb\n+\tc\n")
        == "It is long.\n\n \tint a;\n-\tb\n+\tc\n"
    )
    assert flowed("It is lon \nger.\n", "; DelSp=yes") == "It is longer.\n"
    assert flowed("> quoted \nown\n-- \nname\n") == "> quoted \nown\n-- \nname\n"
    # Some programs say so and leave the text as it was.
    assert flowed(" \tint a;\n-\tb\n   \tc\n") == " \tint a;\n-\tb\n   \tc\n"
    assert flowed(" From here\n  x\n  \n  y\n") == "From here\n x\n \n y\n"


def test_a_maildir_has_mails_in_files_of_any_name_and_none_that_still_come(tmp_path: Path) -> None:
    for name in ("cur", "new", "tmp"):
        (tmp_path / name).mkdir()
    one, two, three = raw_series(1, ["diff --git a/x b/x\n"] * 2)
    (tmp_path / "cur" / "10.M1.host:2,S").write_bytes(two)
    (tmp_path / "new" / "9.M1.host").write_bytes(one)
    (tmp_path / "new" / ".hidden").write_bytes(three)
    (tmp_path / "tmp" / "11.M1.host").write_bytes(three)
    assert [mail.message_id[:4] for mail in read_mails([tmp_path])] == ["v1-0", "v1-1"]
