"""One search over everything that has a number or a name."""

from __future__ import annotations

from itertools import groupby
from typing import Final
from urllib.parse import quote

from sqlalchemy.orm import Session

from mitigauge.core.errors import InvalidInput
from mitigauge.reporting.search import repository
from mitigauge.reporting.search.schemas import (
    LONGEST,
    MOST_OF_A_KIND,
    Found,
    FoundGroup,
    FoundKind,
    SearchView,
)

# Pages of the dashboard; kernels have none.
_PAGES: Final = {
    FoundKind.EXPERIMENT: "/experiments/",
    FoundKind.REGRESSION: "/regressions/",
    FoundKind.BISECTION: "/bisections/",
    FoundKind.SERIES: "/series/",
    FoundKind.TREND: "/trends/",
    FoundKind.HOST: "/hosts/",
    FoundKind.WEEK: "/weekly/",
}


def search(session: Session, query: str, *, limit: int = MOST_OF_A_KIND) -> SearchView:
    """What has each word of *query*, at most *limit* of a kind; only spaces ask for nothing.

    Raises :class:`InvalidInput` for a query that is too long.
    """
    if len(query) > LONGEST:
        raise InvalidInput(
            f"the search has {len(query)} characters", hint=f"Give at most {LONGEST} of them."
        )
    words = list(dict.fromkeys(query.split()))
    rows = repository.find(session, words, limit=limit) if words else []
    groups = [
        FoundGroup(kind=FoundKind(kind), total=of[0]["total"], found=[_view(row) for row in of])
        for kind, of in ((kind, list(rows)) for kind, rows in groupby(rows, lambda r: r["kind"]))
    ]
    return SearchView(query=" ".join(words), groups=groups)


def _view(row: repository.Row) -> Found:
    kind = FoundKind(row["kind"])
    page = _PAGES.get(kind)
    href = f"{page}{quote(row['id'], safe='')}" if page else None
    return Found(kind=kind, id=row["id"], title=row["title"], detail=row["detail"], href=href)
