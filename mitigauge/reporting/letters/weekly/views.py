"""What the API and the command line show of weekly reports."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from mitigauge.core.view import View
from mitigauge.reporting.letters.weekly.data import Counts
from mitigauge.reporting.letters.weekly.document import Document


class WeeklyLine(View):
    """A line in the list of weekly reports."""

    week: str
    in_words: str
    complete: bool = Field(description="whether the week was over when the report was made")
    version: int
    made_at: datetime
    sent_at: datetime | None
    new_worse: int
    new_better: int
    open_worse: int
    counts: Counts


class WeeklyView(View):
    """One week's report, arranged for reading."""

    week: str
    in_words: str
    complete: bool
    version: int
    made_at: datetime
    before: str | None = Field(description="the week before it that has a report")
    after: str | None
    document: Document
