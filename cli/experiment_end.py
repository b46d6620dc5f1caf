"""How a command that measures and waits ends: the report, and the exit code by the verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cli.experiment_view import experiment_view
from cli.output import echo
from cli.remote.choice import chosen_server
from cli.remote.routes import at
from mitigauge.core.settings import get_settings
from mitigauge.measurement.experiments.states import ExperimentState

# What takes long to load is imported by what needs it.
if TYPE_CHECKING:
    from mitigauge.reporting.pages.schemas import ExperimentView

# What `make` says where something failed, and what a test runner says where something was found.
FAILED, WORSE = 1, 3


def wait_to_end(experiment_id: int) -> int:
    """Follow an experiment to its end, print its report; the exit code."""
    from cli.progress import follow

    state = follow(experiment_id)
    if chosen_server():
        _print_report_there(experiment_id)
    else:
        path = print_report(experiment_id)
        echo(f"report: {path}")
    return exit_code_of(state, experiment_view(experiment_id))


def _print_report_there(experiment_id: int) -> None:
    from cli.remote.client import client

    echo("")
    echo(client().text(at("/api/experiments/{}/report", experiment_id)))


def print_report(experiment_id: int) -> Path:
    """Print an experiment's report; the file that has it as Markdown."""
    from mitigauge.reporting.letters.report.service import gathered
    from mitigauge.reporting.pages import experiments as views
    from mitigauge.storage.database.engine import transaction

    with transaction() as session:
        view = views.show_experiment(session, experiment_id)
        report = gathered(session, view)
    path = get_settings().home / "reports" / f"experiment-{experiment_id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report.markdown())
    echo("")
    echo(report.text())
    return path


def exit_code_of(state: ExperimentState, view: ExperimentView) -> int:
    """0: nothing is worse; 3: something is; 1: there is no answer."""
    if state is not ExperimentState.FINISHED:
        return FAILED
    cells = (cell for c in view.comparisons for row in c.rows for cell in row.cells)
    return WORSE if any(cell.verdict == "worse" for cell in cells) else 0
