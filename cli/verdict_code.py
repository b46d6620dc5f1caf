"""The exit code of a command that measures and waits: by what the verdicts say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mitigauge.experiments.states import ExperimentState

# What takes long to load is imported by what needs it.
if TYPE_CHECKING:
    from mitigauge.views.schemas import ExperimentView

# What `make` says where something failed, and what a test runner says where something was found.
FAILED, WORSE = 1, 3


def waited(experiment_id: int) -> int:
    """Follow an experiment to its end, print its report; the exit code."""
    from cli.demo import print_report
    from cli.output import echo
    from cli.progress import follow
    from mitigauge.database import transaction
    from mitigauge.views import experiments as views

    state = follow(experiment_id)
    path = print_report(experiment_id)
    echo(f"report: {path}")
    with transaction() as session:
        return code_of(state, views.show_experiment(session, experiment_id))


def code_of(state: ExperimentState, view: ExperimentView) -> int:
    """0: nothing is worse; 3: something is; 1: there is no answer."""
    if state is not ExperimentState.FINISHED:
        return FAILED
    cells = (cell for c in view.comparisons for row in c.rows for cell in row.cells)
    return WORSE if any(cell.verdict == "worse" for cell in cells) else 0
