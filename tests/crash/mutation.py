"""What a mutation is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """One fault: *old* becomes *new* in *file*, and one of *tests* must fail for it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    why: str
