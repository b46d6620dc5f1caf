"""Whether a patch that applies with less context, or by a merge, lands where it was meant to. Pure.

Each hunk of a diff ends its head with the function that it lies in, as git finds it. A patch whose
hunk names a function may move within it, and never into another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Lines of context that must fit; the usual number is three.
CONTEXT_LINES = 2
_FILE = re.compile(r"^\+\+\+ (?:b/)?(?P<file>[^\t\n]+)")
_INDEX = re.compile(r"^index (?P<blob>[0-9a-f]{7,64})\.\.[0-9a-f]{7,64}")
_HUNK = re.compile(r"^@@ -(?P<old>\d+)(?:,\d+)? \+(?P<line>\d+)(?:,\d+)? @@ ?(?P<head>.*)$")
# What a function's definition begins with: a name before a bracket, and no end of a declaration.
_SYMBOL = re.compile(r"SYM_\w+\((?P<name>\w+)")
_FUNCTION = re.compile(r"(?<!\w)(?P<name>[A-Za-z_]\w*+)\s*+\(")


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk: its file, its first line as the diff says, and the function that it names."""

    file: str
    line: int
    function: str


def hunks(diff: str) -> Iterator[Hunk]:
    """The hunks of a diff, in its order; *function* is empty where the head names none."""
    file = ""
    for line in diff.splitlines():
        named = _FILE.match(line)
        if named:
            file = named["file"].removeprefix("b/")
        hunk = _HUNK.match(line)
        if hunk:
            yield Hunk(file, int(hunk["old"]), _function(hunk["head"]))


def bases(patch: str) -> list[str]:
    """The ids, perhaps abbreviated, of the files' contents that the patch was made from."""
    found = (_INDEX.match(line) for line in patch.splitlines())
    ids = dict.fromkeys(each["blob"] for each in found if each)
    return [each for each in ids if each.strip("0")]


def misplaced(patch: str, applied: str) -> str:
    """Why what was *applied* is not where the *patch* means; empty where it is.

    Both are diffs; hunks are matched by file, and by their order in it.
    """
    meant, found = _by_file(patch), _by_file(applied)
    if [hunk.file for hunk in meant] != [hunk.file for hunk in found]:
        return "its hunks run together there"
    for wanted, got in zip(meant, found, strict=True):
        if wanted.function and wanted.function != got.function:
            there = f"in {got.function}()" if got.function else "outside of any function"
            return f"its change of {wanted.function}() in {wanted.file} would be {there}"
    return ""


def moved(patch: str, applied: str) -> str:
    """Which hunks lie elsewhere than the patch says: ``FILE:LINE for LINE, …``."""
    pairs = zip(_by_file(patch), _by_file(applied), strict=False)
    said = [f"{a.file}:{b.line} for {a.line}" for a, b in pairs if a.line != b.line]
    return ", ".join(said) or "where it says"


def _by_file(diff: str) -> list[Hunk]:
    return sorted(hunks(diff), key=lambda hunk: (hunk.file, hunk.line))


def _function(head: str) -> str:
    """The name of the function that a hunk's head defines; empty for a declaration, say."""
    if head.rstrip().endswith((";", ":")) or head.startswith("#"):
        return ""
    found = _SYMBOL.match(head) or _FUNCTION.search(head)
    return found["name"] if found else ""
