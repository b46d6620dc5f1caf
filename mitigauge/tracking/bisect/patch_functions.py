"""Which functions a patch touches, as far as its text says. Pure."""

from __future__ import annotations

import re

MOST = 200
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?(?P<near>.*)$")
# A definition begins in the first column and ends its parameters' list with its name before it.
_DEFINED = re.compile(r"^(?:[A-Za-z_][\w\s*]*?[\s*])?(?P<name>[A-Za-z_]\w*)\s*\(")
_ASSEMBLY = re.compile(r"^SYM_[A-Z_]+\((?P<name>\w+)\)")
_NOT = {"if", "for", "while", "switch", "return", "sizeof", "defined", "EXPORT_SYMBOL"}


def functions_in(patch: str) -> list[str]:
    """Names of functions that changed lines lie in or define, in the patch's order, each once."""
    found: dict[str, None] = {}
    current = ""
    for line in patch.splitlines():
        if hunk := _HUNK.match(line):
            current = _name(hunk["near"])
            continue
        if line[:1] not in (" ", "+", "-") or line.startswith(("+++", "---")):
            continue
        current = _after(line[1:], current)
        if current and line[0] != " ":
            found.setdefault(current)
        if len(found) >= MOST:
            break
    return list(found)


def _after(text: str, current: str) -> str:
    """The function that a line lies in, *current* being that of the line before."""
    if text.startswith("}"):
        return ""
    if text.rstrip().endswith((")", "{", ",")):
        return _name(text) or current
    return current


def _name(text: str) -> str:
    """The function that a line of C or assembly in the first column defines; empty: none."""
    match = _ASSEMBLY.match(text) or _DEFINED.match(text)
    if not match or match["name"] in _NOT or match["name"].isupper():
        return ""
    return match["name"]
