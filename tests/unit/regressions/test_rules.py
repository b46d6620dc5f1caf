"""What a change of a regression does to it, and what may not be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.tracking.regressions.rules import Standing, changed
from mitigauge.tracking.regressions.schemas import RegressionChange
from mitigauge.tracking.regressions.states import EntryKind
from mitigauge.tracking.regressions.states import RegressionState as State

NEW = Standing(State.NEW, owner="", bug="", bisection_id=None, duplicate_of=None)
BUG = "https://bugzilla.kernel.org/show_bug.cgi?id=17"


def change(**more: Any) -> RegressionChange:
    return RegressionChange(version=1, **more)


def kinds(of: Standing, **more: Any) -> list[str]:
    return [entry.kind for entry in changed(of, change(**more))[1]]


def test_who_takes_one_that_is_nobodys_has_it_assigned() -> None:
    after, entries = changed(NEW, change(owner=" alice ", note="mine"))
    assert (after.state, after.owner) == (State.ASSIGNED, "alice")
    said = [(entry.kind, entry.before, entry.after) for entry in entries]
    assert said == [("state", "new", "assigned"), ("owner", "", "alice")]
    assert [entry.text for entry in entries] == ["mine", ""]


def test_a_new_owner_alone_changes_no_other_state() -> None:
    known = replace(NEW, state=State.KNOWN, bug=BUG)
    assert changed(known, change(owner="bob"))[0].state is State.KNOWN


def test_one_that_is_given_back_is_nobodys_and_real() -> None:
    mine = replace(NEW, state=State.ASSIGNED, owner="alice")
    after, _ = changed(mine, change(owner=""))
    assert (after.state, after.owner) == (State.CONFIRMED, "")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"state": State.ASSIGNED}, "assigned to nobody"),
        ({"state": State.FALSE}, "without a note"),
        ({"state": State.NOT_WORTH_IT, "note": "  "}, "without a note"),
        ({"state": State.KNOWN}, "without a bug or a note"),
        ({"state": State.DUPLICATE}, "a duplicate of what"),
        ({"state": State.FIXED, "duplicate_of": 3}, "cannot be fixed and a duplicate"),
        ({}, "nothing would change"),
        ({"state": State.NEW}, "nothing would change"),
        ({"owner": "two words"}, "nobody can be called"),
        ({"owner": "<b>"}, "nobody can be called"),
        ({"bug": "17"}, "no bug's address"),
        ({"bug": "javascript:alert(1)"}, "no bug's address"),
        ({"bug": "https://user@host/1"}, "no bug's address"),
        ({"bug": "https://"}, "no bug's address"),
        ({"bug": "https://host/a b"}, "no bug's address"),
        ({"bug": "http://[::1"}, "no bug's address"),
    ],
)
def test_what_cannot_be_is_refused_by_name(more: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as refused:
        changed(NEW, change(**more))
    assert refused.value.hint


def test_known_needs_a_bug_or_a_word() -> None:
    assert changed(NEW, change(state=State.KNOWN, bug=BUG))[0].bug == BUG
    assert changed(NEW, change(state=State.KNOWN, note="as in 7.1"))[0].state is State.KNOWN
    had = replace(NEW, bug=BUG)
    assert kinds(had, state=State.KNOWN) == [EntryKind.STATE]


def test_what_joins_another_is_over_and_may_be_parted_again() -> None:
    joined, entries = changed(NEW, change(duplicate_of=5))
    assert (joined.state, joined.duplicate_of) == (State.DUPLICATE, 5)
    assert [entry.kind for entry in entries] == [EntryKind.STATE, EntryKind.JOINED]
    parted, _ = changed(joined, change(state=State.CONFIRMED))
    assert parted.duplicate_of is None
    # A note changes nothing of that.
    assert changed(joined, change(note="see there"))[0] == joined


def test_a_note_alone_is_an_entry() -> None:
    after, entries = changed(NEW, change(note="seen on Tuesday\x1b[31m"))
    assert after == NEW
    assert [(entry.kind, entry.text) for entry in entries] == [
        (EntryKind.NOTE, "seen on Tuesday�[31m")
    ]


def test_a_note_has_a_limit_and_fields_are_known() -> None:
    for wrong in ({"note": "x" * 4001}, {"assignee": "me"}, {"bisection_id": 0}, {"version": 0}):
        with pytest.raises(ValueError, match="validation error"):
            RegressionChange.model_validate({"version": 1, **wrong})
