"""Pieces of a long answer as lines. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def whole_lines(pieces: Iterable[str]) -> Iterator[str]:
    """The lines in *pieces*, each with its end, wherever the pieces were cut."""
    rest = ""
    for piece in pieces:
        *whole, rest = (rest + piece).split("\n")
        yield from (f"{line}\n" for line in whole)
    if rest:
        yield rest
