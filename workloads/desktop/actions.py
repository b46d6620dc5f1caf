"""What a desktop does, and in which order: the same for both profiles, from the seed alone."""

from __future__ import annotations

import random

# In the order in which tables show them.
KINDS = (
    "login", "start", "open", "edit", "save", "recalc", "render", "print", "zip_low", "zip_high",
    "search", "copy",
)  # fmt: skip
# A loop is all of these, in random order; within a group the order is fixed.
GROUPS = (
    ("start",), ("open", "edit", "save"), ("recalc",), ("render", "print"), ("zip_low",),
    ("zip_high",), ("search",), ("copy",),
)  # fmt: skip
# Of each profile: application → the kinds of actions that it does.
APPLICATIONS = {
    "light": {
        "launch": ("start",), "text": ("open", "edit"), "awk": ("recalc", "render"),
        "gzip": ("print", "zip_low", "zip_high"), "grep": ("search",), "cp": ("save", "copy"),
    },
    "office": {
        "launch": ("start",), "writer": ("open", "edit", "save", "print"), "calc": ("recalc",),
        "browser": ("render",), "files": ("zip_low", "zip_high", "search", "copy"),
    },
}  # fmt: skip
LOOP_KINDS = tuple(kind for kind in KINDS if kind != "login")
SEED = 20260317
# What a desktop tells of its disk since its boot: requests, and milliseconds that they took
# (Documentation/block/stat.rst).
DISK = ("reads", "read_ms", "writes", "write_ms")


def loop_order(session: int, loop: int) -> list[str]:
    """Kinds of a session's loop, both numbered from 0."""
    groups = list(GROUPS)
    random.Random(f"{SEED}/{session}/{loop}").shuffle(groups)
    return [kind for group in groups for kind in group]


def think_s(session: int, loop: int, place: int, mean_s: float) -> float:
    """Pause before an action: uniform from half the mean to one and a half times it."""
    return mean_s * random.Random(f"{SEED}/think/{session}/{loop}/{place}").uniform(0.5, 1.5)
