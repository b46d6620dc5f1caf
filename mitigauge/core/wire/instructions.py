"""instructions.json: the code of a profile's hottest functions, and where in it samples fell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypedDict

FILE: Final = "instructions.json"
MOST_FUNCTIONS: Final = 40
# Of all functions; a byte of code is an instruction at most.
MOST_CODE_BYTES: Final = 64 << 10
# Symbols that one function names.
MOST_TARGETS: Final = 4_000
LONGEST_NAME: Final = 200


class Function(TypedDict):
    """One function; places are bytes after its start, a sample is (place, how many, weight)."""

    name: str
    code: str
    samples: list[list[int]]
    targets: Mapping[str, str]


class Listing(TypedDict):
    """What the file has always; `detail`: why there are no functions."""

    detail: str
    functions: list[Function]


class Instructions(Listing, total=False):
    """The file."""

    left_out: int
