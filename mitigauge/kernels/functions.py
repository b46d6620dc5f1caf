"""What the functions of two kernels have in common, by their code. Pure.

Of each function a build notes how many instructions it has and a digest of them without addresses,
names and padding, so that it stays where the function is only called otherwise or lies elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass

from mitigauge.errors import InvalidInput

# Shorter ones are alike by chance: a stub that returns 0 has the code of a hundred others.
SHORTEST = 8
MOST = 1_000_000
# Data among the code that differs between any two builds.
_NAMES_THE_BUILD = re.compile(r"init_uts_ns$|__SCK__")
_LINE = re.compile(r"([0-9]{1,9}) ([0-9a-f]{16}) ([A-Za-z0-9_.$]{1,200})")


@dataclass(frozen=True, slots=True)
class Code:
    """One function's code: its instructions without padding, and a digest of them."""

    instructions: int
    digest: str


def functions_of(text: str) -> dict[str, Code]:
    """Functions by name, from a line ``INSTRUCTIONS DIGEST NAME`` each.

    A name that several functions have is left out: nothing says which of them is meant. Raises
    InvalidInput for anything else, naming the line.
    """
    found = every_function(text)
    return {name: codes[0] for name, codes in found.items() if len(codes) == 1}


def every_function(text: str) -> dict[str, list[Code]]:
    """The same, with all the codes of a name that several functions have, in order."""
    found: dict[str, list[Code]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        said = _LINE.fullmatch(line)
        if said is None or number > MOST:
            raise InvalidInput(
                f"line {number} of the functions is {line[:80]!r}", hint="Build the kernel again."
            )
        found.setdefault(said[3], []).append(Code(int(said[1]), said[2]))
    return {name: sorted(codes, key=astuple) for name, codes in found.items()}


def changed(before: Mapping[str, list[Code]], after: Mapping[str, list[Code]]) -> set[str]:
    """Names of functions whose code differs, that are new, or gone.

    Only of those that *before* has can anybody know what runs them: a new one is reached through a
    function that calls it, which differs too.
    """
    return {
        name
        for name in {*before, *after}
        if before.get(name) != after.get(name) and not _NAMES_THE_BUILD.match(name)
    }


def renamed(before: Mapping[str, Code], after: Mapping[str, Code]) -> dict[str, str]:
    """Old name → new name of functions that one kernel lacks and the other has, of one code.

    Only where one gone and one new function have that code, and it is not too short to tell.
    """
    gone = _by_code(before, after)
    new = _by_code(after, before)
    return {gone[code]: new[code] for code in gone if code in new}


def _by_code(these: Mapping[str, Code], others: Mapping[str, Code]) -> dict[Code, str]:
    """Names that the others lack by their code, where it is one name's alone."""
    own = {
        name: code
        for name, code in these.items()
        if name not in others and code.instructions >= SHORTEST
    }
    times = Counter(own.values())
    return {code: name for name, code in own.items() if times[code] == 1}
