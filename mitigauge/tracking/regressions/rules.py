"""What a change of a regression does to it, and why it may not. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text, quoted
from mitigauge.tracking.regressions.schemas import RegressionChange
from mitigauge.tracking.regressions.states import EntryKind, RegressionState

# As tokens and a proxy's users are called, or a person's mail address.
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+:-]{0,129}")
# Without a word of why, nobody could tell later whether it was right.
NEEDS_A_NOTE = (RegressionState.FALSE, RegressionState.NOT_WORTH_IT)


@dataclass(frozen=True, slots=True)
class Standing:
    """What people decided of a regression."""

    state: RegressionState
    owner: str
    bug: str
    bisection_id: int | None
    duplicate_of: int | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the history."""

    kind: EntryKind
    before: str = ""
    after: str = ""
    text: str = ""


def changed(before: Standing, change: RegressionChange) -> tuple[Standing, list[Entry]]:
    """How it stands after *change*, and what its history says of that; the note stands first.

    Raises :class:`InvalidInput` for what cannot be, with the way out.
    """
    note = clean_text(change.note).strip()
    after = _after(before, change)
    _require_sense(after, note)
    entries = _entries(before, after)
    if note:
        if entries:
            entries[0] = replace(entries[0], text=note)
        else:
            entries = [Entry(EntryKind.NOTE, text=note)]
    if not entries:
        raise InvalidInput(
            "nothing would change",
            hint="Give another state, owner or bug, or a note.",
        )
    return after, entries


def _after(before: Standing, change: RegressionChange) -> Standing:
    owner = before.owner if change.owner is None else _owner(change.owner)
    bug = before.bug if change.bug is None else _bug(change.bug)
    state = change.state or _implied(before, change)
    duplicate_of = before.duplicate_of
    if change.duplicate_of is not None:
        if change.state not in (None, RegressionState.DUPLICATE):
            raise InvalidInput(
                f"it cannot be {change.state} and a duplicate",
                hint="What joins another regression has its state.",
            )
        state, duplicate_of = RegressionState.DUPLICATE, change.duplicate_of
    elif state is not RegressionState.DUPLICATE:
        duplicate_of = None
    return Standing(
        state=state,
        owner=owner,
        bug=bug,
        bisection_id=change.bisection_id or before.bisection_id,
        duplicate_of=duplicate_of,
    )


def _implied(before: Standing, change: RegressionChange) -> RegressionState:
    """The state where none is given: who takes a regression that is nobody's has it assigned."""
    unowned = before.state in (RegressionState.NEW, RegressionState.CONFIRMED)
    if change.owner and unowned:
        return RegressionState.ASSIGNED
    if change.owner == "" and before.state is RegressionState.ASSIGNED:
        return RegressionState.CONFIRMED
    return before.state


def _require_sense(after: Standing, note: str) -> None:
    if after.state is RegressionState.ASSIGNED and not after.owner:
        raise InvalidInput("it would be assigned to nobody", hint="Say who works on it: an owner.")
    if after.state is RegressionState.DUPLICATE and after.duplicate_of is None:
        raise InvalidInput(
            "a duplicate of what", hint="Give the number of the regression that it joins."
        )
    if after.state in NEEDS_A_NOTE and not note:
        raise InvalidInput(
            f"without a note nobody can tell later why it was {after.state}",
            hint="Say in a note what you saw.",
        )
    if after.state is RegressionState.KNOWN and not after.bug and not note:
        raise InvalidInput(
            "it would be known without a bug or a note",
            hint="Give the bug's address, or say in a note by whom it is known.",
        )


def _entries(before: Standing, after: Standing) -> list[Entry]:
    pairs = [
        (EntryKind.STATE, before.state, after.state),
        (EntryKind.OWNER, before.owner, after.owner),
        (EntryKind.BUG, before.bug, after.bug),
        (EntryKind.BISECTION, before.bisection_id or "", after.bisection_id or ""),
        (EntryKind.JOINED, before.duplicate_of or "", after.duplicate_of or ""),
    ]
    return [Entry(kind, str(old), str(new)) for kind, old, new in pairs if old != new]


def _owner(text: str) -> str:
    owner = text.strip()
    if owner and not _OWNER.fullmatch(owner):
        raise InvalidInput(
            f"nobody can be called {quoted(owner, 80)}",
            hint="An owner is a name as it stands beside tokens, or a mail address: letters, "
            "digits and . _ @ + : -.",
        )
    return owner


def _bug(text: str) -> str:
    bug = text.strip()
    if not bug:
        return ""
    try:
        parts = urlsplit(bug)
        proper = (
            parts.scheme in ("https", "http") and bool(parts.hostname) and "@" not in parts.netloc
        )
    except ValueError:
        proper = False
    if not proper or not bug.isprintable() or " " in bug:
        raise InvalidInput(
            f"{quoted(bug, 80)} is no bug's address",
            hint="Give it whole: https://bugzilla.kernel.org/show_bug.cgi?id=1.",
        )
    return bug
