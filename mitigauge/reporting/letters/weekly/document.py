"""A weekly report arranged for reading, before anybody decides how it looks.

Texts are still as hostile as they came; each renderer neutralises them. Addresses are paths of the
dashboard and are ours.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from mitigauge.core.view import View

Tone = Literal["", "worse", "better", "emulated", "bad", "faint"]


class Span(View):
    """Some words in a line."""

    text: str
    tone: Tone = ""
    href: str = Field("", description="path of the dashboard; empty: leads nowhere")


Line = list[Span]


class Point(View):
    """One value of a picture, with its interval if it has one."""

    at: datetime
    value: float
    low: float | None = None
    high: float | None = None


class Picture(View):
    """A line of values over time."""

    id: str
    title: str = Field(description="what it shows, for those who do not see it")
    unit: str
    points: list[Point]
    changed_at: datetime | None = Field(None, description="where the level changed")
    zero: bool = Field(False, description="whether 0 belongs into it, as for effects")


class Entry(View):
    """One thing that is told in a few lines."""

    head: Line
    lines: list[Line]
    picture: Picture | None = None


class Column(View):
    """A column of a table."""

    title: str
    right: bool = False


class Table(View):
    """Figures beside one another."""

    caption: str = ""
    columns: list[Column]
    rows: list[list[Line]]


class Section(View):
    """One part of the report."""

    id: str
    title: str
    about: list[Line] = Field(default_factory=list)
    entries: list[Entry] = Field(default_factory=list)
    tables: list[Table] = Field(default_factory=list)
    more: str = Field("", description="what was left out")


class Document(View):
    """The whole report, in the order in which it is read."""

    week: str
    title: str
    subject: str = Field(description="of the mail")
    lead: list[Line]
    sections: list[Section]


def line_of(*parts: str | Span) -> Line:
    """A line of words."""
    return [part if isinstance(part, Span) else Span(text=part) for part in parts]
