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
    """Names of functions that hunks lie in or define, in the patch's order, each once."""
    found: dict[str, None] = {}
    for line in patch.splitlines():
        hunk = _HUNK.match(line)
        if hunk:
            name = _name(hunk["near"])
        elif line[:1] in ("+", "-") and not line.startswith(("+++", "---")):
            name = _name(line[1:]) if line.rstrip().endswith((")", "{", ",")) else ""
        else:
            name = ""
        if name:
            found.setdefault(name)
        if len(found) >= MOST:
            break
    return list(found)


def _name(text: str) -> str:
    """The function that a line of C or assembly in the first column defines; empty: none."""
    match = _ASSEMBLY.match(text) or _DEFINED.match(text)
    if not match or match["name"] in _NOT or match["name"].isupper():
        return ""
    return match["name"]
