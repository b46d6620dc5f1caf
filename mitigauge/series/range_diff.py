"""What changed between two revisions, patch by patch, and which symbols were renamed. Pure."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from mitigauge.kernels.patch import Patch

# Of two patches' changed lines, how much they must share to be one patch that was changed.
ALIKE = 0.4
MOST_LINES = 300
# Lines of one side times those of the other: comparing takes so much time.
MOST_COMPARED = 16_000_000
LONGEST_LINE = 300
MOST_SHOWN = 200
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")


class Change(StrEnum):
    """What became of a patch."""

    SAME = "same"
    CHANGED = "changed"
    NEW = "new"
    GONE = "gone"


class PatchChange(BaseModel):
    """One patch in both revisions; positions from 1. *lines*: a diff of the two diffs."""

    model_config = ConfigDict(frozen=True)

    change: Change
    before: int | None
    after: int | None
    title: str
    title_before: str
    lines: list[str]
    cut: int = 0
    """Lines that were left out of *lines*."""


class Renamed(BaseModel):
    """A symbol that has another name in the later revision, and nowhere its old one."""

    model_config = ConfigDict(frozen=True)

    before: str
    after: str
    times: int
    """Lines of the patches that say so; 0: none does, but the function's code stayed as it was."""


def body_of(patch: Patch) -> list[str]:
    """The lines of a diff that stay when it is made on another tree: no line numbers, no hashes."""
    text = patch.text
    begin = text.find("diff --git ")
    lines = text[begin if begin >= 0 else 0 :].split("\n-- \n", 1)[0].splitlines()
    return ["@@" if line.startswith("@@") else line for line in lines
            if not line.startswith("index ") and line != "--"]  # fmt: skip


def range_diff(before: Sequence[Patch], after: Sequence[Patch]) -> list[PatchChange]:
    """Each patch of *after* in order with what it was, then those that are gone."""
    old, new = [body_of(patch) for patch in before], [body_of(patch) for patch in after]
    pairs = _paired(before, after, old, new)
    found = []
    for place, patch in enumerate(after):
        was = pairs.get(place)
        if was is None:
            found.append(_change(Change.NEW, None, place, patch.title, "", []))
            continue
        lines = _difference(old[was], new[place])
        kind = Change.CHANGED if lines or before[was].title != patch.title else Change.SAME
        found.append(_change(kind, was, place, patch.title, before[was].title, lines))
    gone = [place for place in range(len(before)) if place not in pairs.values()]
    return found + [
        _change(Change.GONE, place, None, before[place].title, before[place].title, [])
        for place in gone
    ]


def with_code(said: Sequence[Renamed], shown: Mapping[str, str]) -> list[Renamed]:
    """*said* by patches, and up to 200 more that the code of two kernels shows: new name by old."""
    known = {each.before for each in said} | {each.after for each in said}
    more = [
        Renamed(before=was, after=now, times=0)
        for was, now in sorted(shown.items())
        if was not in known and now not in known
    ]
    return [*said, *more[:MOST_SHOWN]]


def renamed(before: Sequence[Patch], after: Sequence[Patch]) -> list[Renamed]:
    """Symbols that one revision names and the next one does not, line for line replaced.

    A line that differs in one word alone votes for that word's new name. A name is renamed where
    the old one stands nowhere in the later revision and the new one nowhere in the earlier.
    """
    old, new = _all_lines(before), _all_lines(after)
    if len(old) * len(new) > MOST_COMPARED:
        return []
    votes: Counter[tuple[str, str]] = Counter()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "replace" and b - a == d - c:
            votes.update(_votes(old[a:b], new[c:d]))
    were, are = _words(old), _words(new)
    return [
        Renamed(before=was, after=now, times=times)
        for (was, now), times in votes.most_common(20)
        if was not in are and now not in were
    ]


def _votes(old: Iterable[str], new: Iterable[str]) -> Iterable[tuple[str, str]]:
    for was, now in zip(old, new, strict=True):
        if _WORD.sub("", was) != _WORD.sub("", now):
            continue
        pairs = {(a, b) for a, b in zip(_WORD.findall(was), _WORD.findall(now), strict=True)
                 if a != b}  # fmt: skip
        yield from pairs


def _words(lines: Iterable[str]) -> set[str]:
    return {word for line in lines for word in _WORD.findall(line)}


def _all_lines(patches: Sequence[Patch]) -> list[str]:
    lines = [line for patch in patches for line in body_of(patch)]
    return [line for line in lines if line[:1] in "+ -" and not line.startswith(("+++", "---"))]


def _paired(
    before: Sequence[Patch],
    after: Sequence[Patch],
    old: Sequence[Sequence[str]],
    new: Sequence[Sequence[str]],
) -> dict[int, int]:
    """Place in *after* → place in *before*: the same diff, else the same title, else alike."""
    pairs: dict[int, int] = {}

    def pair(same: Sequence[Sequence[bool]]) -> None:
        for place in range(len(after)):
            for was in range(len(before)):
                if place not in pairs and was not in pairs.values() and same[place][was]:
                    pairs[place] = was

    pair([[n == o for o in old] for n in new])
    pair([[a.title == b.title for b in before] for a in after])
    changed_old, changed_new = [_changed(b) for b in old], [_changed(b) for b in new]
    pair([[_alike(n, o) >= ALIKE for o in changed_old] for n in changed_new])
    return pairs


def _changed(body: Sequence[str]) -> set[str]:
    return {line for line in body if line[:1] in "+-" and line[1:].strip()}


def _alike(one: set[str], other: set[str]) -> float:
    both = len(one | other)
    return len(one & other) / both if both else 0.0


def _difference(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The diff of two diffs with three lines around each change; nothing where they are one."""
    if list(old) == list(new):
        return []
    if len(old) * len(new) > MOST_COMPARED:
        return [f"{len(old)} and {len(new)} lines: too many to be compared"]
    return list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]


def _change(
    kind: Change, before: int | None, after: int | None, title: str, was: str, lines: list[str]
) -> PatchChange:
    return PatchChange(
        change=kind,
        before=None if before is None else before + 1,
        after=None if after is None else after + 1,
        title=title,
        title_before=was,
        lines=[line[:LONGEST_LINE] for line in lines[:MOST_LINES]],
        cut=max(0, len(lines) - MOST_LINES),
    )
