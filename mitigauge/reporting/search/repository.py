"""SQL of the search: one statement over all kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.orm import Session

from mitigauge.measurement.experiments.filter import number_in
from mitigauge.reporting.pages.experiment_list_repository import has_word
from mitigauge.reporting.search.schemas import FoundKind
from mitigauge.storage.database.engine import driver_rows
from mitigauge.storage.database.like import within

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Source:
    """Where one kind is found, and what is shown of it."""

    table: str
    columns: Sequence[str]
    """Of which one has the word."""
    title: str
    detail: str
    order: str
    """A column of the table is named with it where the answer has one of the same name: `id`."""
    ref: str = "id::text"
    """Its number or name."""
    number: str = "id"
    """What a number is compared with; empty: nothing."""
    condition: str = "true"
    elsewhere: str = ""
    """A condition on rows of another table that have the word."""


_SOURCES: Final = {
    FoundKind.EXPERIMENT: _Source(
        "experiment", ["name", "question"], "name", "concat_ws(', ', state, nullif(question, ''))",
        "experiment.id desc",
    ),
    FoundKind.REGRESSION: _Source(
        "regression", ["case_title", "mode", "host_class", "bug", "owner"], "case_title",
        "concat_ws(', ', state, mode, host_class)", "found_at desc, regression.id desc",
    ),
    FoundKind.BISECTION: _Source(
        "bisection", ["title", "case_title"], "title", "concat_ws(', ', state, case_title)",
        "bisection.id desc",
        elsewhere="""exists (select from bisection_candidate c where c.bisection_id = bisection.id
          and answer -> 'candidates' @> to_jsonb(c.position)
          and (c.name ilike {word} or c.title ilike {word}))""",
    ),
    FoundKind.SERIES: _Source(
        "series", ["name", "title", "key"], "title", "name", "created_at desc, series.id desc",
        ref="name",
        elsewhere="""exists (select from series_revision v
          where v.series_id = series.id and v.message_id ilike {word})""",
    ),
    FoundKind.TREND: _Source(
        "trend", ["case_title", "metric_title", "mode", "host_class"], "case_title",
        "concat_ws(', ', metric_title, mode, host_class)",
        "changed_at desc nulls last, trend.id desc",
    ),
    FoundKind.HOST: _Source(
        "host", ["name", "host_class", "machine"], "name", "concat_ws(', ', host_class, machine)",
        "name, host.id", ref="name", number="",
    ),
    FoundKind.KERNEL: _Source(
        "kernel", ["label", "coalesce(release, '')"], "coalesce(release, label)",
        "concat_ws(', ', state, label)",
        "started_at desc, kernel.id desc", ref="coalesce(release, id::text)",
    ),
    FoundKind.WEEK: _Source(
        "weekly_report", ["week"], "week", "case when complete then '' else 'not over' end",
        "week desc", ref="week", number="", condition="superseded_at is null",
    ),
}  # fmt: skip


def find(session: Session, words: Sequence[str], *, limit: int) -> list[Row]:
    """The best few of each kind that have each of *words*, with the total of the kind.

    What has a word for its number comes first.
    """
    given: dict[str, Any] = {"limit": limit}
    for place, word in enumerate(words):
        given[f"word{place}"] = within(word)
        number = number_in(word)
        if number is not None:
            given[f"number{place}"] = number
    selects = [_select(kind, source, given, words) for kind, source in _SOURCES.items()]
    return driver_rows(session, "\nunion all\n".join(selects), given)


def _select(kind: FoundKind, of: _Source, given: Row, words: Sequence[str]) -> str:
    each = [_word(of, place, word, given) for place, word in enumerate(words)]
    numbers = [
        f"{of.number} = %(number{place})s::bigint"
        for place in range(len(words))
        if of.number and f"number{place}" in given
    ]
    first = f"({' or '.join(numbers)}) desc, " if numbers else ""
    return (
        f"(select '{kind}' as kind, {of.ref} as id, {of.title} as title, {of.detail} as detail,"
        f" count(*) over () as total from {of.table} where {' and '.join([of.condition, *each])}"
        f" order by {first}{of.order} limit %(limit)s)"
    )


def _word(of: _Source, place: int, word: str, given: Row) -> str:
    name = f"word{place}"
    either = [has_word(of.columns, name, word)]
    if of.number and f"number{place}" in given:
        either.append(f"{of.number} = %(number{place})s::bigint")
    if of.elsewhere:
        either.append(of.elsewhere.format(word=f"%({name})s"))
    return f"({' or '.join(either)})"
