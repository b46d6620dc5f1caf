"""Which cases of a revision's spec were measured, and why, as it is stored and said. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from pydantic import BaseModel, Field

from mitigauge.analysis.profiles.exact.names import (
    LEFT_OUT,
    NOTHING_DIFFERS,
    changes_in_words,
    names_in_words,
    open_in_words,
)

MOST_CHANGED = 50


class CaseReach(BaseModel):
    """A case, and what is known of it."""

    case: str
    runs: list[str] | None = Field(
        description="the first 8 of what was changed that it runs; null: it cannot be told"
    )
    why: str = Field("", description="why it cannot be told whether it runs any of it")
    kernel: str = Field("", description="the kernel that it was counted on; empty: on none")
    counted_at: datetime | None = None


class CaseChoice(BaseModel):
    """What was chosen of one comparison of kernels in one mode."""

    comparison: str
    changed: list[str] = Field(
        description=f"functions whose code differs between its kernels, {MOST_CHANGED} at most"
    )
    changed_count: int = Field(description="how many there are")
    objects: list[str] = Field(
        default_factory=list, description=f"data that differ, {MOST_CHANGED} at most"
    )
    object_count: int = Field(0, description="how many there are")
    measured: list[CaseReach]
    left_out: list[CaseReach] = Field(description="those that are known to run none of them")


def choice_in_words(choice: CaseChoice) -> Iterator[str]:
    """What was changed, which cases run it, and which are left out; a line each."""
    for line in _changes_in_words(choice):
        yield f"{choice.comparison}: {line}"
    for each in choice.measured:
        known = f"runs {', '.join(each.runs)}{_known_by(each)}" if each.runs else ""
        yield f"{choice.comparison}: {each.case} {known or open_in_words(each.why)}"
    for each in choice.left_out:
        why = f"{LEFT_OUT}{_known_by(each)}, and is left out"
        yield f"{choice.comparison}: {each.case} {why}"


def _changes_in_words(choice: CaseChoice) -> Iterator[str]:
    """Nothing where nobody knows, which is the case where all is measured and nothing named."""
    if choice.changed or choice.objects or choice.left_out:
        yield from changes_in_words(
            choice.changed, choice.objects, choice.changed_count, choice.object_count
        )


def _known_by(reach: CaseReach) -> str:
    if not reach.kernel:
        return ""
    at = f" on {reach.counted_at:%Y-%m-%d}" if reach.counted_at else ""
    return f" (counted on {reach.kernel}{at})"


def nothing_in_words(choices: Sequence[CaseChoice]) -> str:
    """Why nothing is measured, and how it is all the same."""
    names = sorted({name for choice in choices for name in choice.changed})
    count = max((choice.changed_count for choice in choices), default=0)
    changed = names_in_words(names, max(count, len(names)))
    why = f"no case of ours runs what it changes: {changed}" if names else NOTHING_DIFFERS
    return f"{why}; `mitigauge series start` with --all-cases measures all the same"
