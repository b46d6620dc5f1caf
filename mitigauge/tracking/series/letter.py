"""What a cover letter or a commit message says beside its text: trailers, changelog. Pure."""

from __future__ import annotations

import re

from mitigauge.kernels.diff import words_before

# What a series says for its base where each revision's letter names the commit.
BASE_COMMIT = "base-commit"
LONGEST_CHANGELOG = 8000
_TRAILER = re.compile(r"^(?P<name>[A-Za-z][A-Za-z-]{1,40}):[ \t]+(?P<value>\S.*)$")
_CHANGES = re.compile(
    r"^\s*(?:[-*#]+\s*)?(?:changes?(?:log)?\b.*?\bv?(?P<new>\d{1,3})\b|v\d{1,3}\s*(?:->|→)\s*v(?P<arrow>\d{1,3})"
    r"|v(?P<short>\d{1,3})\s*:)",
    re.IGNORECASE,
)
_END = re.compile(r"^(?:---|-- ?$|diff --git |base-commit:|change-id:|[A-Za-z].*\(\d+\):$)")
CHANGE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{3,120}")
COMMIT = re.compile(r"[0-9a-f]{12,64}")


def trailers(text: str) -> list[tuple[str, str]]:
    """``Name: value`` lines before the diff, names in small letters."""
    found = []
    for line in words_before(text).splitlines():
        match = _TRAILER.match(line)
        if match:
            found.append((match["name"].lower(), match["value"].strip()[:300]))
    return found


def change_id(text: str) -> str:
    """The series' id that stays from revision to revision; empty where it names none."""
    return _last(text, "change-id", CHANGE_ID)


def base_commit(text: str) -> str:
    """The commit on which the patches were made; empty where it names none."""
    return _last(text, "base-commit", COMMIT)


def _last(text: str, name: str, form: re.Pattern[str]) -> str:
    values = [value for said, value in trailers(text) if said == name]
    return values[-1] if values and form.fullmatch(values[-1]) else ""


def changelog(text: str, version: int) -> str:
    """What the letter says has changed in revision *version*; empty where it says nothing."""
    taken: list[str] = []
    inside = False
    for line in text.splitlines():
        begins = _CHANGES.match(line)
        if begins:
            number = begins["arrow"] or begins["new"] or begins["short"]
            inside = int(number) == version
        elif inside and (_END.match(line) or (line and not _belongs(line, taken))):
            inside = False
        elif inside:
            taken.append(line)
    return "\n".join(taken).strip()[:LONGEST_CHANGELOG]


def _belongs(line: str, taken: list[str]) -> bool:
    """Whether a line goes on with a list: an item, or indented, or no blank line before it."""
    return line[0] in "-*+ \t•" or not taken or bool(taken[-1].strip())
