"""Reading what an experiment's tables are made of, with published claims beside it."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.core.errors import NotFound
from mitigauge.reporting.pages.claims import claims_beside, claims_beside_view
from mitigauge.reporting.pages.experiments import show_experiment, show_head
from mitigauge.reporting.pages.threads import threads_of
from mitigauge.reporting.tables.claims_by_place import by_place
from mitigauge.reporting.tables.counter_schemas import CountersView
from mitigauge.reporting.tables.counters import counters_of, has_counters
from mitigauge.reporting.tables.loss import crosses, loss_of
from mitigauge.reporting.tables.loss_schemas import LossView
from mitigauge.reporting.tables.thread_schemas import ThreadsView
from mitigauge.reporting.tables.threads import table_of

# Tables of threads that a page shows; the others are asked for by case and host.
MOST_THREAD_TABLES = 12


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
