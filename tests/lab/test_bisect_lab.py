"""A bisection for real: eight patches, of which one is slow, one does not compile, one not boot.

Each kernel takes one to three minutes with a filled compiler cache, each boot about one.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from lab import service as lab_service
from lab.hosts import LabPaths
from lab.progress import Silent
from mitigauge.analysis.profiles.diff.function_table import function_table
from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.core.clock import Clock
from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.kernels.patch_files import read_patches
from mitigauge.reporting.letters.regression.service import regression_mail
from mitigauge.reporting.pages.profiles import case_sides
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.bisect import bisection_view, service
from mitigauge.tracking.bisect.question import Question
from mitigauge.tracking.bisect.schemas import BisectionView
from mitigauge.tracking.bisect.sources import from_arms, from_patches
from mitigauge.tracking.bisect.states import AnswerKind
from pipelines.bisect_run import Driver, Ticked
from pipelines.kernel_build import Builder
from tests.lab.following import start_worker

pytestmark = pytest.mark.lab

PATCHES = REPOSITORY / "tests" / "series" / "bisect"
ARMS = REPOSITORY / "tests" / "fixtures" / "bisect-modes.yml"
HOST, MODE, BASE = "lab-intel", "spectre-bhi/off", "linux-source-7.2"
SLOW, PANICS, BROKEN = 6, 4, 2
# Much more than it takes where nothing else runs: some forty boots and seven kernels.
PATIENCE_S = float(os.environ.get("MITIGAUGE_BISECT_PATIENCE_S", "10800"))


@pytest.fixture
def host() -> Iterator[None]:
    """The emulated host, its time counted; down afterwards where it was not up before."""
    paths = LabPaths.of(get_settings())
    started = lab_service.up(paths, Silent(), names=[HOST], clock=Clock.COUNTED)
    yield
    if started:
        lab_service.down(paths, Silent(), names=started)


@pytest.fixture
def worker(module_engine: tuple[Engine, str], tmp_path: Path) -> Iterator[Path]:
    log = tmp_path / "worker.log"
    process: subprocess.Popen[bytes] = start_worker(module_engine[1], log)
    yield log
    process.terminate()
    process.wait(timeout=60)


def said(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def followed(driver: Driver, number: int, log: Path) -> BisectionView:
    """Tick until it is over, saying where it stands."""
    deadline = time.monotonic() + PATIENCE_S
    while (did := driver.tick(number)) is not Ticked.OVER:
        if time.monotonic() > deadline:
            pytest.fail(f"not within {PATIENCE_S:.0f} s\n{log.read_text()[-3000:]}")
        if did is Ticked.WAITING:
            time.sleep(2)
    with transaction(driver.builder.engine) as session:
        return bisection_view.show(session, number)


@pytest.mark.usefixtures("host")
def test_the_slow_patch_is_found_and_the_broken_ones_are_skipped(
    module_engine: tuple[Engine, str], worker: Path
) -> None:
    settings, engine = get_settings(), module_engine[0]
    blobs = blob_store(settings)
    builder = Builder(settings.home / "kernels", engine, blobs, report=said)
    asked = Question((HOST,), "syscall", {"test": "basic"}, budget_boots=150, budget_hours=12)
    draft = from_patches(read_patches([PATCHES]), BASE, "lab", blobs, asked, MODE)
    with Session(engine) as session:
        number = service.begin(session, draft).id
        session.commit()
    began = time.monotonic()
    view = followed(Driver(builder, said), number, worker)
    said(f"{view.boots} boots, {view.seconds:.0f} s of budget, {time.monotonic() - began:.0f} s")

    assert view.found is not None
    assert (view.found.kind, view.found.candidates) == (AnswerKind.FOUND, [SLOW]), view.found
    assert view.found.confidence is not None
    assert view.found.confidence >= 0.95
    skipped = {point.position: point.skipped for point in view.points if point.skipped}
    assert skipped.keys() == {PANICS, BROKEN}
    assert skipped[PANICS].startswith("does not boot")
    assert "does not build: patch" in skipped[BROKEN] or "init/main.c" in skipped[BROKEN]
    assert "mitigauge_kernels" in skipped[BROKEN]
    _has_its_flame_graph(engine, view)
    with transaction(engine) as session:
        mail = regression_mail(session, number)
    subject = r"\[x86/entry\] [0-9a-f]{12}: syscall\.basic\.time_per_call 18\.\d% regression"
    assert re.fullmatch(subject, mail["Subject"])
    print(mail.get_content())


@pytest.mark.usefixtures("host")
def test_over_modes_the_one_that_clears_the_history_is_found(
    module_engine: tuple[Engine, str], worker: Path
) -> None:
    """No kernel is built: four modes of the host's own one, some twenty boots."""
    settings, engine = get_settings(), module_engine[0]
    asked = Question((HOST,), "syscall", {"test": "basic"}, budget_boots=60, budget_hours=4)
    draft = from_arms(ARMS.read_text(), ARMS.name, asked)
    with Session(engine) as session:
        number = service.begin(session, draft).id
        session.commit()
    builder = Builder(settings.home / "kernels", engine, blob_store(settings), report=said)
    view = followed(Driver(builder, said), number, worker)
    assert view.found is not None
    assert (view.found.kind, view.culprit) == (AnswerKind.FOUND, "counted to cleared"), view.found
    assert view.found.effect_percent == pytest.approx(32, abs=1)
    assert view.found.flame_graph is not None


def _has_its_flame_graph(engine: Engine, view: BisectionView) -> None:
    """The difference of parent and culprit is there, and names the function that grew."""
    assert view.found is not None
    graph = view.found.flame_graph
    assert graph is not None
    with transaction(engine) as session:
        one, other = (
            Selection(graph.experiment_id, graph.case_id, graph.host, arm)
            for arm in (graph.a, graph.b)
        )
        sides = case_sides(session, one, other, system="host")
        assert sides.a.profiles
        assert sides.b.profiles
        table = function_table(session, sides, basis=None, limit=5)
    assert any(each.function == "do_syscall_64" for each in table.functions), table
