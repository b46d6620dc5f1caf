"""Names of functions as a line of text. Pure; without anything that takes long to load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

NAMES_SHOWN = 8
# Why a case can be left out.
LEFT_OUT = "runs none of it"
NOTHING_DIFFERS = "no function and no data of the kernel differ"


def names_in_words(names: Sequence[str], count: int | None = None) -> str:
    """``one, two and 3 more``; *count*: how many there are, where *names* are some of them."""
    more = (count or len(names)) - len(names[:NAMES_SHOWN])
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def open_in_words(why: str) -> str:
    """That it cannot be told whether a case runs a change, and why."""
    return f"is measured: whether it runs it cannot be told{f' ({why})' if why else ''}"


def changes_in_words(
    functions: Sequence[str],
    objects: Sequence[str],
    function_count: int | None = None,
    object_count: int | None = None,
) -> Iterator[str]:
    """What differs between kernels, a line a kind; counts as in :func:`names_in_words`."""
    if functions:
        yield f"functions changed: {names_in_words(functions, function_count)}"
    if objects:
        told = names_in_words(objects, object_count)
        yield f"data changed: {told}; which cases read it is not known"
    if not functions and not objects:
        yield NOTHING_DIFFERS
