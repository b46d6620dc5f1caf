"""One word for one state: on the pages, in commands and in the glossary."""

from __future__ import annotations

import re
from enum import StrEnum

import pytest

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.settings import REPOSITORY
from mitigauge.jobs.states import JobState
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.runs.states import BootState
from mitigauge.tracking.bisect.states import AnswerKind, BisectionState
from mitigauge.tracking.regressions.states import ConfirmationState, RegressionState
from mitigauge.tracking.series.states import RevisionState

PAGES = (REPOSITORY / "web" / "src" / "words.ts").read_text()
TABLES: dict[str, type[StrEnum]] = {
    "EXPERIMENT_STATE": ExperimentState,
    "BISECTION_STATE": BisectionState,
    "JOB_STATE": JobState,
    "REGRESSION_STATE": RegressionState,
    "CONFIRMATION_STATE": ConfirmationState,
    "ANSWER": AnswerKind,
    "REVISION_STATE": RevisionState,
    "BOOT_STATE": BootState,
    "CLAIM": ClaimOutcome,
}
ROW = re.compile(r'^  "?([\w-]+)"?: \{\s*label: "([^"]*)"', re.MULTILINE)


def on_pages(table: str) -> dict[str, str]:
    """State → word of one table of the dashboard."""
    found = re.search(
        rf"export const {table}\b[^=]*= \{{\n(.*?)^\}};", PAGES, re.DOTALL | re.MULTILINE
    )
    assert found
    return dict(ROW.findall(found[1]))


def in_commands(state: StrEnum) -> str:
    """As commands and mails print it."""
    return state.value.replace("_", " ").replace("-", " ")


@pytest.mark.parametrize("table", TABLES)
def test_a_state_is_called_alike_on_pages_and_in_commands(table: str) -> None:
    assert on_pages(table) == {state.value: in_commands(state) for state in TABLES[table]}
