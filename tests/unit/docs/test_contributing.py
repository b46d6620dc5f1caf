"""CONTRIBUTING.md followed to the letter, in a copy of the project.

Every file that the page shows is written where the page says, every command below it is run. So
a newcomer who reads nothing else gets a mode and a workload that work.
"""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import orjson
import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.results.schema import ResultBody
from pipelines.steps.parser import result_in, timed_pass
from tests.fuzz.builders import spin_case
from tests.loading import load, stage_runner
from tests.unit.docs.pages import Block, blocks, page

ARCHIVE = load("ansible/roles/workload/lookup_plugins/workload_archive.py")
# Of a checkout: what is not the project's.
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".mitigauge", "node_modules", "dist", "__pycache__", ".*_cache", "fixtures"
)
CASES = [{"bytes": size, "trips": 500} for size in (1, 4096)]


def shown(language: str, *sections: str) -> list[Block]:
    """The page's blocks in *language* of these sections."""
    return [
        block
        for block in blocks(page("CONTRIBUTING.md"))
        if block.section in sections and block.language == language
    ]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with every file that the page shows."""
    copy = tmp_path_factory.mktemp("newcomer") / "mitigauge"
    shutil.copytree(REPOSITORY, copy, ignore=NOT_COPIED, symlinks=True)
    (copy / ".venv").symlink_to(sys.prefix)
    for block in blocks(page("CONTRIBUTING.md")):
        if block.file:
            path = copy / block.file
            assert not path.exists(), f"{block.file} is there already: show another one"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
    for block in shown("sh", "A workload"):
        if "chmod" in block.text:
            typed(copy, block.text)
    return copy


def typed(house: Path, commands: str) -> str:
    """What commands print that are typed in the copy; fails as they fail."""
    own = {"PYTHONPATH": str(house), "MITIGAUGE_HOME": str(house / ".mitigauge")}
    environment = {name: value for name, value in os.environ.items() if "MITIGAUGE" not in name}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=house,
        env=environment | own | {"PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_page_shows_one_file_for_a_mode_and_one_folder_for_a_workload(house: Path) -> None:
    files = {block.file for block in blocks(page("CONTRIBUTING.md")) if block.file}
    assert {file for file in files if file.startswith("modes/")} == {"modes/meltdown.yml"}
    in_folder = {file for file in files if file.startswith("workloads/")}
    assert in_folder == {
        f"workloads/pipe/{name}" for name in ("workload.yml", "run", "parse.py", "README.md")
    }
    # Of the code nothing is touched.
    assert not {file for file in files if file.startswith(("mitigauge/", "pipelines/", "cli/"))}


def test_the_catalogue_takes_the_mode_and_the_workload(house: Path) -> None:
    catalog, without = Catalog(house), Catalog()
    assert {*catalog.families} - {*without.families} == {"meltdown"}
    assert {*catalog.workloads} - {*without.workloads} == {"pipe"}
    expected = catalog.families["meltdown"].modes["pti"].expect
    assert [each.describe() for each in expected] == ["meltdown: Mitigation: PTI"]


@pytest.mark.parametrize("heading", ["A mode", "A workload"])
def test_every_command_works_as_it_stands(house: Path, heading: str) -> None:
    commands = [block.text for block in shown("sh", heading) if "chmod" not in block.text]
    assert any("experiment submit" in text and "--check" in text for text in commands)
    for text in commands:
        said = typed(house, text)
        assert "nothing is wrong with it" in said or "2 passed" in said


def test_a_spec_that_asks_for_what_nobody_added_is_refused(house: Path) -> None:
    spec = (house / "experiments" / "pti.yml").read_text()
    (house / "wrong.yml").write_text(spec.replace("meltdown/pti", "meltdown/kpti"))
    with pytest.raises(AssertionError, match=r"wrong\.yml:\d+: unknown mode 'meltdown/kpti'"):
        typed(house, ".venv/bin/mitigauge experiment submit wrong.yml --check")


def staged(house: Path, into: Path) -> Path:
    """The workload as a host gets it: packed by the role's lookup, beside the runner."""
    packed, _ = ARCHIVE.archive(["pipe"], house / "workloads")
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(packed))) as tar:
        tar.extractall(into, filter="data")
    stage_runner(into)
    return into


def ran(workloads: Path, job: Path, house: Path) -> dict[str, Any]:
    """The state that the runner leaves after two cases of the workload, each with defaults."""
    defaults = Catalog(house).workloads["pipe"].defaults
    cases = [
        {
            "case_id": str(number),
            "workload": "pipe",
            "parameters": parameters,
            "iterations": defaults.iterations,
            "warmup": defaults.warmup,
            "timeout_s": defaults.timeout_s,
        }
        for number, parameters in enumerate(CASES, 1)
    ]
    job.mkdir()
    (job / "job.json").write_text(json.dumps({"job": "j", "cases": cases}))
    subprocess.run([sys.executable, "-B", workloads / "_runner", job], check=True, timeout=120)
    state: dict[str, Any] = json.loads((job / "state.json").read_text())
    return state


def result_of(case: Path, house: Path) -> ResultBody:
    """The case's result, read and checked as a worker does."""
    catalog = Catalog(house)
    workload = catalog.workloads["pipe"]
    asked = json.loads((case / "case.json").read_text())
    planned = spin_case(
        id=int(case.name),
        workload="pipe",
        parameters=asked["parameters"],
        iterations=workload.defaults.iterations,
        warmup=workload.defaults.warmup,
        metrics={
            name: CaseMetric(metric.unit, metric.direction, metric.title, metric.primary)
            for name, metric in workload.metrics_of(asked["parameters"]).items()
        },
    )
    return result_in(case, timed_pass(planned), catalog).body


def test_the_runner_runs_the_workload_and_its_parser_gives_a_valid_result(
    house: Path, tmp_path: Path
) -> None:
    job = tmp_path / "job"
    workloads = tmp_path / "workloads"
    workloads.mkdir()
    state = ran(staged(house, workloads), job, house)
    complaints = [(job / str(n) / "stderr.txt").read_text() for n in (1, 2)]
    assert [case["outcome"] for case in state["finished_cases"]] == ["ok", "ok"], complaints
    for number, parameters in enumerate(CASES, 1):
        result = result_of(job / str(number), house)
        [metric] = result.metrics.values()
        # A round trip takes four system calls: a tenth of a microsecond would be too good.
        assert all(100 < value < 1e9 for value in metric.values)
        assert result.operations == parameters["trips"] * len(metric.values)


def test_the_files_of_the_page_pass_the_checks_of_the_project(house: Path) -> None:
    files = [block.file for block in blocks(page("CONTRIBUTING.md")) if block.file]
    python = [file for file in files if file.endswith((".py", "/run"))]
    yaml = [file for file in files if file.endswith(".yml")]
    typed(house, f".venv/bin/ruff check {' '.join(python)}")
    typed(house, f".venv/bin/ruff format --check {' '.join(python)}")
    typed(house, f".venv/bin/yamllint --strict -c scripts/yamllint.yml {' '.join(yaml)}")


ASK = """
from fastapi import FastAPI
from fastapi.testclient import TestClient
from api.modes import router
app = FastAPI()
app.include_router(router)
print(TestClient(app).get("/api/modes").text)
"""


def test_the_route_of_the_page_answers(house: Path) -> None:
    answer = orjson.loads(typed(house, f".venv/bin/python -c '{ASK}'"))
    known = {family["family"]: family["modes"] for family in answer}
    assert known["meltdown"]["off"]["settings"]["cmdline"] == ["pti=off"]
    assert {*known} == {*Catalog(house).families}
