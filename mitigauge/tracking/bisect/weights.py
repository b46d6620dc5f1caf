"""Prior weights of candidates. Pure."""

from __future__ import annotations

# What a patch weighs none of whose functions the case runs: its data, or where it moves other code,
# may still matter. A judgement, kept small: a wrong one costs a few boots, and none of the
# confidence in the end.
UNREACHED = 0.1


def weight_of(*, same_binary: bool, unreached: str) -> float:
    """0 for the same binary, ``UNREACHED`` where an exact count tells that the case runs none of
    the functions that it changes, else 1.

    *unreached*: by which count; empty: that is not known.
    """
    if same_binary:
        return 0.0
    return UNREACHED if unreached else 1.0


def unreached_in_words(unreached: str) -> str:
    """Why it weighs less than others; empty: it does not."""
    if not unreached:
        return ""
    what = "the case runs none of the functions that it changes"
    return f"weighs {UNREACHED:.3g} times as much: {what} ({unreached})"
