"""Reports of stored experiments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from sqlalchemy.orm import Session

from mitigauge.core.documents.table import TableSection, TableView
from mitigauge.core.documents.table_markdown import section_markdown_lines, table_markdown_lines
from mitigauge.core.documents.table_text import section_lines, table_lines
from mitigauge.reporting.letters.report.matrix import render_markdown, render_text
from mitigauge.reporting.pages.claim_schemas import ClaimSourceView
from mitigauge.reporting.pages.claims import claims_beside_view
from mitigauge.reporting.pages.detail_schemas import DetailsView
from mitigauge.reporting.pages.details import detailed
from mitigauge.reporting.pages.profile_schemas import CaseProfilesView
from mitigauge.reporting.pages.profiles import profiles_beside
from mitigauge.reporting.pages.schemas import ExperimentView
from mitigauge.reporting.tables.counter_table import counter_table
from mitigauge.reporting.tables.counters import counters_of, has_counters
from mitigauge.reporting.tables.detail_table import reached_sections
from mitigauge.reporting.tables.factorial_schemas import FactorialView
from mitigauge.reporting.tables.factorial_table import factorial_table, read_factorial
from mitigauge.reporting.tables.kind import TableQuery
from mitigauge.reporting.tables.loss import crosses, loss_of
from mitigauge.reporting.tables.loss_table import loss_table


@dataclass(frozen=True, slots=True)
class Report:
    """An experiment with published claims and explaining functions."""

    view: ExperimentView
    claims: Sequence[ClaimSourceView]
    profiles: Sequence[CaseProfilesView]
    details: Sequence[DetailsView] = ()
    factorial: FactorialView | None = None

    def text(self, *, within_mail: bool = False) -> str:
        """For a mailing list; *within_mail*: one that has said what it is about."""
        text = render_text(self.view, self.claims, self.profiles, within_mail=within_mail)
        lines = chain(
            *map(table_lines, self._tables()),
            *(["", *section_lines(section)] for section in self._reached()),
        )
        return text + "".join(f"{line}\n" for line in lines)

    def markdown(self) -> str:
        """The same as Markdown."""
        text = render_markdown(self.view, self.claims, self.profiles)
        lines = chain(
            *map(table_markdown_lines, self._tables()),
            *(["", *section_markdown_lines(section)] for section in self._reached()),
        )
        return text + "".join(f"{line}\n" for line in lines)

    def _tables(self) -> Iterator[TableView]:
        """Costs of knobs, loss matrices where anything is crossed, counters where any counted."""
        if self.factorial:
            yield factorial_table(self.factorial)
        if crosses(self.view.comparisons):
            yield loss_table(loss_of(self.view, self.claims))
        if has_counters(self.view.comparisons):
            yield counter_table(counters_of(self.view, self.claims))

    def _reached(self) -> Iterator[TableSection]:
        return chain.from_iterable(map(reached_sections, self.details))


def gathered(session: Session, view: ExperimentView) -> Report:
    """The report of *view*, with all that stands beside it."""
    return Report(
        view,
        claims_beside_view(session, view),
        profiles_beside(session, view),
        detailed(session, view.id),
        _factorial(session, view),
    )


def _factorial(session: Session, view: ExperimentView) -> FactorialView | None:
    if not any(comparison.factorial for comparison in view.comparisons):
        return None
    return read_factorial(session, view.id, TableQuery())
