"""docs/concepts.md and the glossary beside the states, steps and limits of the code."""

from __future__ import annotations

import re
from enum import StrEnum

import pytest

from mitigauge.access.roles import Role
from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.effect import Verdict
from mitigauge.jobs.states import JobState
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.runs import outcomes
from mitigauge.measurement.runs.states import OPEN_BOOT_STATES, Activity, BootState, RunState
from mitigauge.tracking.regressions.states import RegressionState
from pipelines import decision
from pipelines.decision import Step
from pipelines.steps import STEPS
from tests.unit.docs.pages import blocks, page, section, spans

STATES = page("docs/concepts.md")
GLOSSARY = section(page("docs/concepts.md"), "Glossary")
RUN, BOOT = "Run: one comparison on one host", "Boot: one arm in one block"
JOB = "Job: what the service does by itself"


def first_column(text: str, heading: str) -> set[str]:
    """What stands in backticks in the first column of the tables below *heading*."""
    return set(re.findall(r"^\| `([\w.-]+)` \|", section(text, heading), re.MULTILINE))


def drawn(heading: str) -> set[str]:
    """The states that the diagram below *heading* shows."""
    [diagram] = [b.text for b in blocks(STATES) if b.section == heading and b.language == "mermaid"]
    arrows = re.findall(r"^ *(\S+) --> ([^\s:]+)", diagram, re.MULTILINE)
    return {name for arrow in arrows for name in arrow} - {"[*]"}


def values(states: type[StrEnum]) -> set[str]:
    return {state.value for state in states}


def test_every_step_is_explained_and_every_step_explained_exists() -> None:
    assert first_column(STATES, RUN) == values(Step)
    assert set(STEPS) == set(Step)


def test_steps_that_other_sentences_name_exist() -> None:
    named = {span for span in spans(STATES) if re.fullmatch(r"(boot|measure)\.[\w-]+", span)}
    assert named <= values(Step)


def test_the_diagrams_show_every_state() -> None:
    assert drawn(RUN) == values(RunState)
    assert drawn(BOOT) == values(BootState)
    assert drawn(JOB) == values(JobState)


def test_every_state_that_a_boot_ends_in_is_explained() -> None:
    still_open = {state.value for state in OPEN_BOOT_STATES}
    assert first_column(STATES, BOOT) == values(BootState) - still_open


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (decision.FAULTS_IN_A_ROW_LIMIT, "{} faults in a row of either kind"),
        (decision.LOST_WORKERS_LIMIT, "{} workers in a row that began a step"),
        (outcomes.BLOCK_REPEATS + 1, "{} times an invalid block"),
        (outcomes.FAILED_PREPARATIONS, "{} runs in a row that could not prepare"),
        (decision.SILENT_PREPARATIONS_LIMIT, "{} times no answer to `prepare`"),
    ],
)
def test_limits_are_those_of_the_code(limit: int, words: str) -> None:
    assert f"| {words.format(limit)}" in section(STATES, RUN)


def definitions() -> dict[str, str]:
    """The glossary's words with what they mean."""
    found = re.findall(r"^\*\*(.+)\*\*\n: ((?:.+\n)+)", GLOSSARY, re.MULTILINE)
    return {word.strip(): " ".join(meaning.split()) for word, meaning in found}


@pytest.mark.parametrize(
    ("word", "states"),
    [
        ("state of an experiment", ExperimentState),
        ("state of a run", RunState),
        ("state of a boot", BootState),
        ("verdict", Verdict),
        ("outcome of a claim", ClaimOutcome),
        ("activity", Activity),
        ("role", Role),
        ("state of a regression", RegressionState),
    ],
)
def test_the_glossary_names_every_state_and_no_other(word: str, states: type[StrEnum]) -> None:
    assert set(spans(definitions()[word])) == values(states)


def test_the_glossary_explains_each_word_once() -> None:
    words = [each for entry in definitions() for each in entry.split(", ")]
    assert len(definitions()) == GLOSSARY.count("\n**")
    assert sorted(words) == sorted(set(words))


# The words that the design of the project is written in.
WORDS = """
    series, revision, kernel, build, setting, mode, arm, host, host class, clock, workload, case,
    metric, experiment, block, boot, iteration, fingerprint, interim analysis, verdict, claim,
    baseline, comparison, run, lease, epoch, nonce, step, question, system, side, poll, lab,
    infrastructure fault, profile, report
"""


def test_the_glossary_has_the_words_of_the_design() -> None:
    wanted = {" ".join(word.split()) for word in WORDS.split(",")}
    assert wanted <= {each for entry in definitions() for each in entry.split(", ")}
