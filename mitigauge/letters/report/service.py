"""Reports of stored experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from sqlalchemy.orm import Session

from mitigauge.claims.schemas import ClaimSourceView
from mitigauge.claims.service import claims_beside, claims_beside_view
from mitigauge.errors import NotFound
from mitigauge.letters.report.matrix import render_markdown, render_text
from mitigauge.pages.consequence_schemas import ConsequencesView
from mitigauge.pages.consequences import consequences_beside
from mitigauge.pages.detail_schemas import DetailsView
from mitigauge.pages.details import detailed
from mitigauge.pages.experiments import show_experiment, show_head
from mitigauge.pages.profile_schemas import CaseProfilesView
from mitigauge.pages.profiles import profiles_beside
from mitigauge.pages.schemas import ExperimentView
from mitigauge.pages.threads import threads_of
from mitigauge.tables.claims_by_place import by_place
from mitigauge.tables.counter_schemas import CountersView
from mitigauge.tables.counter_text import counter_lines, counter_markdown_lines
from mitigauge.tables.counters import counters_of, has_counters
from mitigauge.tables.detail_text import reached_lines, reached_markdown_lines
from mitigauge.tables.loss import crosses, loss_of
from mitigauge.tables.loss_schemas import LossView
from mitigauge.tables.loss_text import loss_lines, loss_markdown_lines
from mitigauge.tables.thread_schemas import ThreadsView
from mitigauge.tables.threads import table_of

# Tables of threads that a page shows; the others are asked for by case and host.
MOST_THREAD_TABLES = 12


@dataclass(frozen=True, slots=True)
class Report:
    """An experiment with published claims, explaining functions and costs beside it."""

    view: ExperimentView
    claims: Sequence[ClaimSourceView]
    profiles: Sequence[CaseProfilesView]
    beside: ConsequencesView
    details: Sequence[DetailsView] = ()

    def text(self, *, caveats: bool = True) -> str:
        """For a mailing list; without *caveats* within a mail that has said them."""
        text = render_text(self.view, self.claims, self.profiles, self.beside, caveats=caveats)
        further = self._losses(loss_lines), self._counters(counter_lines)
        return text + "".join(f"{line}\n" for line in chain(*further, reached_lines(self.details)))

    def markdown(self) -> str:
        """The same as Markdown."""
        text = render_markdown(self.view, self.claims, self.profiles, self.beside)
        further = self._losses(loss_markdown_lines), self._counters(counter_markdown_lines)
        lines = chain(*further, reached_markdown_lines(self.details))
        return text + "".join(f"{line}\n" for line in lines)

    def _losses(self, lines: Callable[[LossView], Iterator[str]]) -> Iterator[str]:
        """The loss matrices, where anything is crossed."""
        return (
            lines(loss_of(self.view, self.claims)) if crosses(self.view.comparisons) else iter(())
        )

    def _counters(self, lines: Callable[[CountersView], Iterator[str]]) -> Iterator[str]:
        """The counter tables, where anything was counted."""
        if not has_counters(self.view.comparisons):
            return iter(())
        return lines(counters_of(self.view, self.claims))


def counters_beside(
    session: Session, experiment_id: int, *, case_id: int | None = None, host: str | None = None
) -> CountersView:
    """The experiment's counter tables with published claims beside them.

    Of all cases and hosts, or of those named. Raises :class:`NotFound` where there is no such
    experiment, or no such case among those that count.
    """
    view = show_experiment(session, experiment_id)
    if not has_counters(view.comparisons) and (case_id, host) == (None, None):
        return counters_of(view)
    found = counters_of(view, claims_beside_view(session, view), case_id=case_id, host=host)
    if not found.tables:
        raise NotFound(
            f"experiment {experiment_id} has no counters of case {case_id or 'any'} on host "
            f"{host or 'any'}",
            hint="Leave both out to see which there are.",
        )
    return found


def threads_beside(
    session: Session, experiment_id: int, *, case_id: int | None = None, host: str | None = None
) -> ThreadsView:
    """The experiment's tables of threads by name with published claims beside them.

    Of all cases and hosts, or of those named. Raises :class:`NotFound` where there is no such
    experiment, case or host.
    """
    head = show_head(session, experiment_id)
    found, left_out = threads_of(
        session, experiment_id, case_id=case_id, host=host, most=MOST_THREAD_TABLES
    )
    beside = by_place(claims_beside(session, experiment_id) if found else ())
    return ThreadsView(
        experiment_id=head.id,
        experiment=head.name,
        state=head.state.value,
        emulated=head.emulated,
        counted=head.counted,
        tables=[table_of(one, head.host_facts.get(one.run.host.name), beside) for one in found],
        left_out=left_out,
    )


def losses_beside(
    session: Session, experiment_id: int, *, case_id: int | None = None, metric: str | None = None
) -> LossView:
    """The experiment's loss matrices with published claims beside them.

    Of all cases and metrics, or of those named. Raises :class:`NotFound` where there is no such
    experiment, case or metric among what is crossed.
    """
    view = show_experiment(session, experiment_id)
    if not crosses(view.comparisons) and (case_id, metric) == (None, None):
        return loss_of(view)
    found = loss_of(view, claims_beside_view(session, view), case_id=case_id, metric=metric)
    if not found.tables and (case_id, metric) != (None, None):
        raise NotFound(
            f"experiment {experiment_id} has no loss matrix of case {case_id or 'any'}, metric "
            f"{metric or 'any'}",
            hint="Leave both out to see which there are.",
        )
    return found


def gathered(session: Session, view: ExperimentView) -> Report:
    """The report of *view*, with all that stands beside it."""
    return Report(
        view,
        claims_beside_view(session, view),
        profiles_beside(session, view),
        consequences_beside(session, view),
        detailed(session, view.id),
    )
