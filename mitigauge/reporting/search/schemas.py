"""What a search finds."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from pydantic import Field

from mitigauge.core.view import View

LONGEST: Final = 200
MOST_OF_A_KIND: Final = 5
LARGEST_LIMIT: Final = 50


class FoundKind(StrEnum):
    """Kinds of what can be found, in the order in which they are shown."""

    EXPERIMENT = "experiment"
    REGRESSION = "regression"
    BISECTION = "bisection"
    SERIES = "series"
    TREND = "trend"
    HOST = "host"
    KERNEL = "kernel"
    WEEK = "week"


class Found(View):
    """One thing that was found."""

    kind: FoundKind
    id: str = Field(description="number, or the name that commands and addresses take")
    title: str
    detail: str = Field(description="state and the like, in one line")
    href: str | None = Field(description="its page of the dashboard; null: it has none")


class FoundGroup(View):
    """What was found of one kind: the best few, and how many there are."""

    kind: FoundKind
    total: int
    found: list[Found]


class SearchView(View):
    """What was found, by kind; kinds of which nothing was found are left out."""

    query: str
    groups: list[FoundGroup]
