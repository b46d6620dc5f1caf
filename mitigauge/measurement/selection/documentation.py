"""Which words of an option a kernel's own documentation lists. Pure; the text may be a patch's."""

from __future__ import annotations

import re

FILE = "Documentation/admin-guide/kernel-parameters.txt"
MOST_BYTES = 4 << 20
# An entry begins one tab in; what it takes stands further in, a word a line, with a dash behind it.
_ENTRY = re.compile(r"^\t(?P<name>[A-Za-z0-9_.-]+)=")
_ANY_ENTRY = re.compile(r"^\t[^\t\s]")
_WORD = re.compile(r"^\t[\t ]+(?P<word>[a-z0-9_,]+)[\t ]+-[\t ]")


def documented_words(text: str, option: str) -> frozenset[str] | None:
    """The words that *text*, of :data:`FILE`, lists for *option*; None: it lists none of it."""
    words: set[str] = set()
    within = False
    for line in text.splitlines():
        if entry := _ENTRY.match(line):
            within = entry["name"].replace("-", "_") == option.replace("-", "_")
        elif _ANY_ENTRY.match(line):
            within = False
        elif within and (word := _WORD.match(line)):
            words.add(word["word"])
    return frozenset(words) or None
