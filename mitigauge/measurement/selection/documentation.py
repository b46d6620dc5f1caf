"""What a kernel's own documentation lists of a mitigation. Pure; the texts may be a patch's."""

from __future__ import annotations

import re
from dataclasses import dataclass

PARAMETERS = "Documentation/admin-guide/kernel-parameters.txt"
PAGES = "Documentation/admin-guide/hw-vuln"
MOST_BYTES = 4 << 20
# An entry begins one tab in; what it takes stands further in, a word a line, with a dash behind it.
_ENTRY = re.compile(r"^\t(?P<name>[A-Za-z0-9_.-]+)=")
_ANY_ENTRY = re.compile(r"^\t[^\t\s]")
_WORD = re.compile(r"^\t[\t ]+(?P<word>[a-z0-9_,]+)[\t ]+-[\t ]")
# On a vulnerability's page: what its file may say, and its option with a word, an item a line.
_STATE = re.compile(r"^[\t *-]{0,40}'(?P<state>(?:Not affected|Vulnerable|Mitigation)[^']{0,200})'")
_OPTION = re.compile(r"^[\t ]{0,40}[*-] ``(?P<name>[A-Za-z0-9_.-]+)=(?P<word>[a-z0-9_,]+)``")


@dataclass(frozen=True, slots=True)
class Documentation:
    """Texts of one kernel's source; empty where they are not at hand."""

    parameters: str = ""
    """Its list of parameters, :data:`PARAMETERS`."""
    page: str = ""
    """Its page of the vulnerability, below :data:`PAGES`."""


def page_file(page: str) -> str:
    """The file of a vulnerability's page."""
    return f"{PAGES}/{page}.rst"


def documented_words(text: str, option: str) -> frozenset[str] | None:
    """The words that *text*, of :data:`PARAMETERS`, lists for *option*; None: it lists none."""
    words: set[str] = set()
    within = False
    for line in text.splitlines():
        if entry := _ENTRY.match(line):
            within = _is_option(entry["name"], option)
        elif _ANY_ENTRY.match(line):
            within = False
        elif within and (word := _WORD.match(line)):
            words.add(word["word"])
    return frozenset(words) or None


def words_of_page(text: str, option: str) -> frozenset[str] | None:
    """The words that a vulnerability's page lists for *option*; None: it lists none."""
    found = map(_OPTION.match, text.splitlines())
    words = {each["word"] for each in found if each and _is_option(each["name"], option)}
    return frozenset(words) or None


def documented_states(text: str) -> frozenset[str] | None:
    """What a vulnerability's page says that its file may hold; None: it lists no mitigation."""
    found = map(_STATE.match, text.splitlines())
    states = frozenset(each["state"] for each in found if each)
    return states if any(each.startswith("Mitigation") for each in states) else None


def _is_option(name: str, option: str) -> bool:
    return name.replace("-", "_") == option.replace("-", "_")
