"""What changed between two revisions, patch by patch, and which symbols were renamed. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from mitigauge.kernels.patch import Patch
from mitigauge.tracking.series.edit_script import Budget, TooMany, grouped, opcodes

# Of two patches' changed lines, how much they must share to be one patch that was changed.
ALIKE = 0.4
MOST_LINES = 300
# Changed lines of a patch by which it is told whether it is like another one.
MOST_ALIKE = 500
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
    """Each patch of *after* in order with what it was, then those that are gone.

    Within a bound for all of it together: beyond, a patch that changed says how long it is.
    """
    budget = Budget()
    old, new = [body_of(patch) for patch in before], [body_of(patch) for patch in after]
    pairs = _paired(before, after, old, new)
    found = []
    for place, patch in enumerate(after):
        was = pairs.get(place)
        if was is None:
            found.append(_change(Change.NEW, None, place, patch.title, "", []))
            continue
        lines = _difference(old[was], new[place], budget)
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
    try:
        found = opcodes(old, new, Budget())
    except TooMany:
        return []
    votes: Counter[tuple[str, str]] = Counter()
    for tag, a, b, c, d in found:
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
    return [line[:LONGEST_LINE] for line in lines
            if line[:1] in "+ -" and not line.startswith(("+++", "---"))]  # fmt: skip


def _paired(
    before: Sequence[Patch],
    after: Sequence[Patch],
    old: Sequence[Sequence[str]],
    new: Sequence[Sequence[str]],
) -> dict[int, int]:
    """Place in *after* → place in *before*: the same diff, else the same title, else alike."""
    pairs: dict[int, int] = {}
    _pair(pairs, ["\n".join(lines) for lines in old], ["\n".join(lines) for lines in new])
    _pair(pairs, [patch.title for patch in before], [patch.title for patch in after])
    _pair_alike(pairs, old, new)
    return pairs


def _pair(pairs: dict[int, int], old: Sequence[str], new: Sequence[str]) -> None:
    """Pair what is the same on both sides, the first with the first."""
    free: dict[str, list[int]] = defaultdict(list)
    taken = set(pairs.values())
    for was, text in enumerate(old):
        if was not in taken:
            free[text].append(was)
    for place, text in enumerate(new):
        if place not in pairs and free.get(text):
            pairs[place] = free[text].pop(0)


def _pair_alike(
    pairs: dict[int, int], old: Sequence[Sequence[str]], new: Sequence[Sequence[str]]
) -> None:
    """Pair what shares enough of its changed lines."""
    taken = set(pairs.values())
    of_old = {was: _changed(lines) for was, lines in enumerate(old) if was not in taken}
    holding: dict[str, list[int]] = defaultdict(list)
    for was, lines in of_old.items():
        for line in lines:
            holding[line].append(was)
    for place, body in enumerate(new):
        if place in pairs:
            continue
        lines = _changed(body)
        shared = Counter(was for line in lines for was in holding.get(line, ()))
        for was in sorted(shared):
            both = len(lines) + len(of_old[was]) - shared[was]
            if was not in taken and shared[was] / both >= ALIKE:
                pairs[place] = was
                taken.add(was)
                break


def _changed(body: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for line in body:
        if line[:1] in "+-" and line[1:].strip():
            found.add(line)
        if len(found) == MOST_ALIKE:
            break
    return found


def _difference(old: Sequence[str], new: Sequence[str], budget: Budget) -> list[str]:
    """The diff of two diffs with three lines around each change; nothing where they are one."""
    if list(old) == list(new):
        return []
    try:
        found = opcodes(old, new, budget)
    except TooMany:
        return [f"{len(old)} and {len(new)} lines: too many to be compared"]
    said: list[str] = []
    for hunk in grouped(found):
        first, last = hunk[0], hunk[-1]
        said.append(f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@")
        for tag, a, b, c, d in hunk:
            if tag == "equal":
                said += [f" {line}" for line in old[a:b]]
                continue
            said += [f"-{line}" for line in old[a:b]]
            said += [f"+{line}" for line in new[c:d]]
    return said


def _range(begin: int, end: int) -> str:
    """Lines as heads of hunks name them."""
    count = end - begin
    first = begin + 1 if count else begin
    return f"{first}" if count == 1 else f"{first},{count}"


@dataclass
class Comparison:
    """What differs between pairs of revisions, worked out outside of transactions.

    Asked for a pair that it does not know, it notes it, and says nothing of it yet; a deferred one
    is worked out by :meth:`work_out` before it is asked again.
    """

    deferred: bool = False
    known: dict[tuple[str, ...], tuple[list[PatchChange], list[Renamed]]] = field(
        default_factory=dict
    )
    wanted: dict[tuple[str, ...], tuple[Sequence[Patch], Sequence[Patch]]] = field(
        default_factory=dict
    )

    def of(
        self, before: Sequence[Patch], after: Sequence[Patch]
    ) -> tuple[list[PatchChange], list[Renamed]]:
        """What changed, and what was renamed; nothing where it is to be worked out first."""
        key = (*(patch.sha256 for patch in before), "", *(patch.sha256 for patch in after))
        key += tuple(patch.title for patch in (*before, *after))
        if key not in self.known and not self.deferred:
            self.known[key] = range_diff(before, after), renamed(before, after)
        if key not in self.known:
            self.wanted[key] = (before, after)
            return [], []
        return self.known[key]

    def work_out(self) -> None:
        """All that was asked for and not known."""
        for key, (before, after) in self.wanted.items():
            self.known[key] = range_diff(before, after), renamed(before, after)
        self.wanted = {}


def on_top(before: Sequence[Patch], fix: Sequence[Patch]) -> list[PatchChange]:
    """*before* as it is, and *fix* new on top of it."""
    same = [
        _change(Change.SAME, place, place, patch.title, patch.title, [])
        for place, patch in enumerate(before)
    ]
    new = [
        _change(Change.NEW, None, place, patch.title, "", [])
        for place, patch in enumerate(fix, len(before))
    ]
    return same + new


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
