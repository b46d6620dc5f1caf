"""One experiment as commands print it, from this machine or a service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.remote.routes import at
from cli.source import answer

if TYPE_CHECKING:
    from mitigauge.reporting.pages.schemas import ExperimentView


def experiment_view(experiment_id: int) -> ExperimentView:
    """An experiment with its matrices. Raises NotFound."""
    from mitigauge.reporting.pages import experiments as views
    from mitigauge.reporting.pages.schemas import ExperimentView

    return answer(
        lambda session: views.show_experiment(session, experiment_id),
        lambda client: client.get(
            at("/api/experiments/{}/matrix.json", experiment_id), ExperimentView
        ),
        reads=True,
    )
