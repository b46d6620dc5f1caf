"""The diff that stands in a mail's text, without the words around it. Pure.

The same fix has the same bytes thereby, whatever greeting or signature it comes with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mitigauge.errors import InvalidInput

_GIT = re.compile(r"diff --git \S")
_EXTENDED = re.compile(
    r"(?:index|old mode|new mode|new file mode|deleted file mode|similarity index"
    r"|dissimilarity index|rename from|rename to|copy from|copy to) |GIT binary patch$"
)
_HUNK = re.compile(r"@@ -\d{1,9}(?:,(?P<old>\d{1,9}))? \+\d{1,9}(?:,(?P<new>\d{1,9}))? @@")
_HINT = "Mail programs wrap lines: attach the diff, or send it by `git send-email`."


def diff_in(text: str) -> str:
    """All files' diffs in *text*, joined; empty where there is none.

    Quoted lines are no diff. Raises InvalidInput for a hunk that is not as long as it says.
    """
    return "".join(f"{line}\n" for line in _taken(text.removesuffix("\n").split("\n")))


def _taken(lines: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        begin = at
        at = _past_heads(lines, at)
        if at == begin:
            at += 1
            continue
        yield from lines[begin:at]
        while at < len(lines) and (hunk := _HUNK.match(lines[at])):
            end = _past_hunk(lines, at, hunk)
            # Programs take the blank off an empty line of context.
            yield from (line or " " for line in lines[at:end])
            at = end


def _past_heads(lines: Sequence[str], at: int) -> int:
    """Past the heads of one file's diff; *at* itself where none begins."""
    begin = at
    if _GIT.match(lines[at]):
        at += 1
        while at < len(lines) and _EXTENDED.match(lines[at]):
            at += 1
    if at + 1 < len(lines) and lines[at].startswith("--- ") and lines[at + 1].startswith("+++ "):
        return at + 2
    return at if at > begin else begin


def _past_hunk(lines: Sequence[str], at: int, hunk: re.Match[str]) -> int:
    """Past a hunk's last line, by the counts in its head."""
    old, new = int(hunk["old"] or 1), int(hunk["new"] or 1)
    name = f"the hunk {lines[at][:60]!r}"
    at += 1
    while old > 0 or new > 0:
        kind = (lines[at][:1] or " ") if at < len(lines) else ""
        if kind not in (" ", "-", "+", "\\") or not kind:
            raise InvalidInput(f"{name} is cut off or damaged", hint=_HINT)
        old -= kind in " -"
        new -= kind in " +"
        at += 1
    if old < 0 or new < 0:
        raise InvalidInput(f"{name} has other lines than it says", hint=_HINT)
    if at < len(lines) and lines[at].startswith("\\ "):
        at += 1
    return at
