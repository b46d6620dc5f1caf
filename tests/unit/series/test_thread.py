"""Mails of a thread as revisions, and everything that may be wrong with them."""

from __future__ import annotations

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.kernels.mails.mail import Mail
from mitigauge.kernels.mails.reader import mail_of
from mitigauge.tracking.series.letter import base_commit, change_id, changelog, trailers
from mitigauge.tracking.series.mail_thread import (
    MOST_MAILS,
    FoundRevision,
    of_one_series,
    revisions,
)
from tests.series_mails import CHANGE_ID, diff, raw_mail, series

ONE, TWO = diff("toys/one.c", "a", "b"), diff("toys/two.c", "a", "b")


def only(mails: list[Mail]) -> FoundRevision:
    [found] = revisions(mails)
    return found


def test_a_whole_revision_has_its_patches_in_order_and_no_fault() -> None:
    mails = series(2, [ONE, TWO])
    found = only(mails[::-1])
    assert (found.version, found.title, found.faults) == (2, "toys: Mend them", ())
    assert [sent.patch.title for sent in found.patches] == ["toys: Mend toy 1", "toys: Mend toy 2"]
    assert found.change_id == CHANGE_ID
    assert found.first.message_id == "v2-0@example.org"


@pytest.mark.parametrize(
    "end", ["", "\n", "\n\n", "-- \n2.47.3\n", "--\n2.47\n\n", "-- \n2.53.0.rc1\n"]
)
def test_what_stands_below_a_diff_makes_no_other_patch(end: str) -> None:
    mails = series(1, [ONE, TWO + end])
    assert only(mails).patches[1].patch.text == TWO
    assert only(mails).digest == only(series(1, [ONE, TWO])).digest


def test_a_removed_line_that_looks_like_the_end_of_a_mail_stays() -> None:
    body = ONE.replace("-a\n+b\n three\n", "-a\n+b\n-- \n 2\n").replace("-1,3 +", "-1,4 +")
    assert only(series(1, [body])).patches[0].patch.text == body


def test_a_patch_alone_is_a_revision() -> None:
    found = only([mail_of(raw_mail("[PATCH v4] toys: Mend", f"Why.\n---\n{ONE}"))])
    assert (found.version, len(found.patches), found.faults) == (4, 1, ())


def test_a_thread_of_several_revisions_has_each() -> None:
    mails = [*series(3, [ONE]), *series(1, [ONE]), *series(2, [TWO])]
    assert [found.version for found in revisions(mails)] == [1, 2, 3]
    assert len({found.digest for found in revisions(mails)}) == 2


def test_answers_and_talk_are_no_patches() -> None:
    talk = mail_of(raw_mail("Re: [PATCH 1/2] toys: Mend toy 1", f"> {ONE}", sender="x@example.org"))
    assert only([*series(1, [ONE, TWO]), talk]).faults == ()


@pytest.mark.parametrize(
    ("left_out", "fault"),
    [((1,), "patch 1 of 3 is missing"), ((2, 3), "patch 2, 3 of 3 is missing")],
)
def test_a_patch_that_is_missing_is_named(left_out: tuple[int, ...], fault: str) -> None:
    mails = [m for place, m in enumerate(series(1, [ONE, TWO, ONE])) if place not in left_out]
    assert only(mails).faults == (fault,)


def test_two_mails_in_one_place_are_named() -> None:
    mails = series(1, [ONE, TWO])
    other = mail_of(raw_mail("[PATCH 2/2] toys: Other", f"Why.\n---\n{ONE}", ident="other"))
    [fault] = only([*mails, other]).faults
    assert "two mails stand as 2/2" in fault
    assert "v1-2@example.org" in fault
    assert "other@example.org" in fault


def test_a_mail_that_came_twice_is_one() -> None:
    mails = series(1, [ONE, TWO])
    assert only([*mails, *mails]).faults == ()


def test_two_revisions_under_one_number_are_a_fault() -> None:
    mails = [*series(1, [ONE]), *series(1, [ONE, TWO])]
    faults = only(mails).faults
    assert any("1 and 2 patches in all" in fault for fault in faults)


def test_who_answers_with_a_patch_of_the_series_is_left_out_and_named() -> None:
    evil = mail_of(raw_mail("[PATCH 2/2] toys: Mend toy 2", f"Why.\n---\n{ONE}",
                            sender="evil@example.net", ident="evil"))  # fmt: skip
    found = only([evil, *series(1, [ONE, TWO])])
    assert found.faults == ()
    assert found.patches[1].mail.sender.address == "one@example.org"
    assert found.strays == ("evil@example.org is from evil@example.net",)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (ONE.replace("toys/one.c", "../../etc/passwd"), "touches '../../etc/passwd'"),
        (ONE.replace("100644", "120000"), "a symbolic link"),
        (ONE.replace("100644", "160000"), "a submodule"),
        (ONE + "GIT binary patch\n", "a binary diff"),
        (ONE.replace("toys/one.c", "toys/.git/hooks/x"), "touches"),
    ],
)
def test_a_patch_that_reaches_beyond_the_tree_is_a_fault(body: str, fault: str) -> None:
    found = only(series(1, [TWO, body]))
    assert any(fault in said and "patch 2/2" in said for said in found.faults), found.faults


def test_two_hundred_patches_are_refused_by_number() -> None:
    assert only(series(1, [ONE] * 200)).faults[0] == "200 patches; at most 150 are taken"


def test_no_patch_and_too_many_mails_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no mail of these is a patch"):
        revisions([mail_of(raw_mail("hello", "you"))])
    mail = mail_of(raw_mail("hello", "you"))
    with pytest.raises(InvalidInput, match="more than 2000 mails"):
        revisions([mail] * (MOST_MAILS + 1))


LETTER = """\
It is about toys.

Changes in v3:
- mend two
  of them

- mend a third
Changes in v2:
- nothing

This is a sentence.

change-id: toys-1234
base-commit: 0123456789abcdef0123456789abcdef01234567
"""


def test_a_letter_says_what_changed_in_each_revision() -> None:
    assert changelog(LETTER, 3) == "- mend two\n  of them\n\n- mend a third"
    assert changelog(LETTER, 2) == "- nothing"
    assert changelog(LETTER, 1) == ""


@pytest.mark.parametrize(
    "said", ["v1 -> v2:\n - x", "v2:\n - x", "Changelog v2:\n - x", "* Changes since v2\n - x"]
)
def test_forms_of_changelogs(said: str) -> None:
    assert changelog(f"Text.\n\n{said}\n\nEnd of it.\n", 2) == "- x"


def test_ids_and_trailers_of_a_letter() -> None:
    assert change_id(LETTER) == "toys-1234"
    assert base_commit(LETTER) == "0123456789abcdef0123456789abcdef01234567"
    assert change_id("change-id: ../../x\n") == ""
    assert base_commit("base-commit: HEAD~1\n") == ""
    assert ("fixes", "abc (x)") in trailers("Text\n\nFixes: abc (x)\n---\ndiff --git a/x b/x\n")


def test_a_patch_with_a_nul_byte_is_a_fault_of_its_revision() -> None:
    [found] = revisions(series(1, [diff("toys/one.c", "a", "b\0")]))
    assert found.faults == ("patch 1/1 has a NUL byte",)


def test_a_revision_without_any_patch_that_can_be_read_is_still_one() -> None:
    torn = mail_of(raw_mail("[PATCH v2] toys: Mend", f"---\n{ONE.replace(' three', '<3')}"))
    first, second = revisions([mail_of(raw_mail("[PATCH] toys: Mend", f"---\n{ONE}")), torn])
    assert (first.faults, len(first.patches)) == ((), 1)
    assert (second.version, second.patches, second.first) == (2, (), torn)
    assert "cut off or damaged" in second.faults[0]


def test_a_version_that_is_no_whole_number_is_left_out_by_name() -> None:
    mails = [mail_of(raw_mail(f"[PATCH v{said}] toys: Mend", f"---\n{ONE}", ident=f"v{said}"))
             for said in ("2", "2.1", "3b")]  # fmt: skip
    found = only(mails)
    assert found.version == 2
    assert [stray.split(":")[0] for stray in found.strays] == [
        "v2.1@example.org is of v2.1", "v3b@example.org is of v3b"]  # fmt: skip
    with pytest.raises(InvalidInput, match=r"no mail of these is a patch \(v2.1@example.org is of"):
        revisions(mails[1:])


def test_a_patch_that_was_sent_again_with_other_words_is_one() -> None:
    mails = [mail_of(raw_mail(f"[PATCH{word}] toys: Mend", f"{words}\n---\n{ONE}", ident=words))
             for word, words in (("", "First."), (" RESEND", "Again."))]  # fmt: skip
    found = only(mails)
    assert (found.faults, len(found.patches)) == ((), 1)


def patch_mail(subject: str, body: str, ident: str, **heads: str) -> Mail:
    return mail_of(raw_mail(subject, f"Why.\n---\n{body}", ident=ident, **heads))


V2 = [
    mail_of(raw_mail("[PATCH v2 0/2] toys: Two", "Both.", ident="c")),
    patch_mail("[PATCH v2 1/2] toys: One", ONE, "p1", parent="c@example.org"),
    patch_mail("[PATCH v2 2/2] toys: Two", TWO, "p2", parent="c@example.org"),
]


@pytest.mark.parametrize("title", ["toys: Two", "toys: Another title"])
def test_one_patch_that_is_sent_again_is_of_the_series_that_it_answers(title: str) -> None:
    again = patch_mail(f"[PATCH v3 2/2] {title}", ONE, "p3", parent="p2@example.org")
    second, third = revisions([*V2, again])
    assert (second.faults, len(second.patches)) == ((), 2)
    assert third.key == second.key == "one@example.org: toys: Two"
    assert third.faults == (
        "patch 1 of 2 is missing: it was not sent again or did not arrive; v2 has one",
    )


def test_a_revision_that_answers_another_or_has_a_patch_of_it_is_of_its_series() -> None:
    alone = patch_mail("[PATCH] toys: One", ONE, "a")
    first, second = revisions([alone, *V2])
    assert (first.faults, second.faults, first.key) == ((), (), second.key)
    renamed = mail_of(raw_mail("[PATCH v3 0/1] toys: All", "x", ident="d", parent="c@example.org"))
    patch = patch_mail("[PATCH v3 1/1] toys: Whole", TWO, "e", parent="d@example.org")
    assert len({each.key for each in revisions([alone, *V2, renamed, patch])}) == 1


def test_whoever_answers_a_series_with_a_patch_has_a_series_of_their_own() -> None:
    evil = patch_mail("[PATCH v3 2/2] toys: Two", ONE, "e", parent="p2@example.org",
                      sender="evil@example.net")  # fmt: skip
    found = revisions([*V2, evil])
    assert len({each.key for each in found}) == 2
    own, left_out = of_one_series(found)
    assert own == found[:1]
    assert left_out == ["v3, 'toys: Two': patch 1 of 2 is missing"]


def test_of_two_whole_series_none_is_chosen() -> None:
    other = patch_mail("[PATCH v3] toys: Three", ONE, "o")
    found = revisions([*V2, other])
    assert of_one_series(found) == (found, [])


@pytest.mark.parametrize(
    "sender", ["nobody", "x" * 121 + "@example.org", "\u0142@example.org", "(x)", ""]
)
def test_who_has_no_address_that_is_read_is_not_the_same_as_another(sender: str) -> None:
    found = only(
        [
            patch_mail("[PATCH 1/2] toys: One", ONE, "p1", sender=sender),
            patch_mail("[PATCH 2/2] toys: Two", TWO, "p2", sender=sender),
        ]
    )
    assert found.faults == ("patch 2 of 2 is missing",)
    assert found.strays == ("p2@example.org is from somebody without an address",)


def test_senders_are_read_as_archives_of_mailman_write_them() -> None:
    senders = ["one at example.org (Author One)", "One AT example.org", "bo at example.org (Bo)"]
    mails = [
        patch_mail(f"[PATCH {n}/3] toys: {n}", ONE, f"p{n}", sender=sender)
        for n, sender in enumerate(senders, 1)
    ]
    assert [mail.sender.written for mail in mails] == [
        "Author One <one@example.org>", "", "Bo <bo@example.org>",
    ]  # fmt: skip
