"""Studies of a revision: asked, taken on by a worker, counted, and answered."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact.ledger import LedgerFunction, Line
from mitigauge.analysis.profiles.exact.service import CountedPass, store_counts
from mitigauge.analysis.verdicts.conclusions import conclude_closed
from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import get_settings
from mitigauge.jobs import service as jobs
from mitigauge.jobs.states import JobKind
from mitigauge.jobs.tables import Job
from mitigauge.kernels.functions import packed
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.runs import outcomes
from mitigauge.measurement.runs.states import RunState
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import BlobStore, blob_store
from mitigauge.tracking.series import service as series_service
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.order_service import ask_revision
from mitigauge.tracking.series.service import SeriesOptions
from mitigauge.tracking.studies import repository, service
from mitigauge.tracking.studies.schemas import Gate, PatchCosts, Variants
from mitigauge.tracking.studies.states import StudyKind, StudyState
from mitigauge.tracking.studies.tables import Study
from pipelines.jobs.engine import JobAdvancer
from pipelines.jobs.revision import RevisionRunner
from pipelines.jobs.study import StudyRunner
from pipelines.kernel_order import Order
from tests.confirmations_made import run_experiments
from tests.db.test_series import Pretended
from tests.series_mails import diff, series
from tests.unit.exact.ledgers import OPERATIONS, function, ledger

# What each patch adds to `work`, in place and alone; `bare` leaves the VERW out besides.
TEXTS = {"free": 0, "dear": 7, "doubled": 3, "bare": -5}
BROKEN = "does not build"


def patch(what: str) -> str:
    return diff(f"toys/{what.replace(' ', '-')}.c", "before", what)


class Costly(Pretended):
    """Kernels whose code is named by the patches in them that change any."""

    def build(self, order: Order, *, anew: bool = False) -> int:
        number = super().build(order, anew=anew)
        has = [name for name in TEXTS if any(name in each.text for each in order.patches)]
        code = "-".join(name for name in has if name != "free") or "none"
        notes = f"10 {hashlib.sha256(code.encode()).hexdigest()[:16]} work\n"
        with self.transaction() as session:
            kernel = session.get_one(Kernel, number)
            kernel.content_digest = hashlib.sha256(code.encode()).hexdigest()
            kernel.functions_sha256 = self.blobs.put(packed(notes.encode()))
            kernel.label = code
        return number


@dataclass
class World:
    """A service with one series, and what its kernels run."""

    engine: Engine
    blobs: BlobStore
    directory: Path

    def add(
        self, *patches: str, spec: str = "syscall", approve: bool = True, number: int = 1
    ) -> int:
        with transaction(self.engine) as session:
            found = revisions(series(number, [patch(each) for each in patches]))
            [revision] = series_service.add(
                session, found, self.blobs, wanted=SeriesOptions("toys", spec)
            )
            if approve:
                series_service.approve(session, revision)
            return revision.id

    def ask(self, kind: StudyKind = StudyKind.PATCH_COST, label: str = "v1") -> int:
        with transaction(self.engine) as session:
            revision = series_service.find_revision(session, "toys", label)
            return service.ask(session, revision, kind, asked_by="mira").id

    def advance(self, job: int) -> None:
        """As far as it goes without an experiment's end."""
        runner = StudyRunner(lambda context: Costly(
            self.directory, context.engine, self.blobs, fence=context.fence
        ))  # fmt: skip
        advancer = JobAdvancer(self.engine, {JobKind.STUDY: runner}, "w")
        for _ in range(40):
            pause = advancer.advance(job)
            if pause is None or pause > 0:
                return
        pytest.fail("it goes on for ever")

    def study(self) -> Study:
        with Session(self.engine) as session:
            [study] = repository.of_revisions(session, [1, 2, 3])
            return study

    def costs(self) -> PatchCosts:
        body = self.study().body
        assert isinstance(body, PatchCosts)
        return body

    def boot(self, cost: dict[str, int] = TEXTS, *, both: int = 0) -> None:
        """All boots of its experiments ran; *both*: what `doubled` adds after `dear` besides."""
        run_experiments(self.engine, defaultdict(lambda: 100.0))
        with transaction(self.engine) as session:
            for boot, case, code in session.execute(text(
                "select b.id, c.id, k.label from boot b join run r on r.id = b.run_id"
                " join benchmark_case c on c.comparison_id = r.comparison_id"
                " join arm a on a.id = b.arm_id join kernel k on k.release = a.kernel"
            )):  # fmt: skip
                has = code.split("-")
                more = sum(cost.get(name, 0) for name in has)
                more += both if {"dear", "doubled"} <= set(has) else 0
                lines = {f"i{n}": 1.0 for n in range(20 + more)}
                ran = [function("work", lines), verw(0 if "bare" in has else 2)]
                store_counts(session, boot, case, CountedPass(ledger(*ran)))


def verw(times: int) -> LedgerFunction:
    """A function that overwrites the processor's buffers so often an operation."""
    runs = [times * OPERATIONS] * 2
    line = Line(0, "0f002d44332211", "verw", "verw", runs, 0)
    return LedgerFunction(name="leave", module="kernel", is_kernel=True, runs=runs, lines=[line])


def turns(world: World, job: int, *, both: int = 0) -> list[str]:
    """Take it to its end; what it said of each experiment."""
    said: list[str] = []
    for _ in range(5):
        world.advance(job)
        study = world.study()
        if study.state is not StudyState.MEASURING:
            return said
        said.append(study.why)
        world.boot(both=both)
    pytest.fail("it goes on for ever")


@pytest.fixture
def world(engine: Engine, tmp_path: Path) -> World:
    return World(engine, blob_store(get_settings()), tmp_path / "kernels")


def test_what_each_patch_costs_is_counted_and_said(world: World) -> None:
    world.add("free", "dear", "doubled")
    job = world.ask()
    # Kernels with the same code are booted once: patch 2 alone is that of patches 1 and 2.
    assert turns(world, job) == ["experiment 1 counts 3 kernels", "experiment 2 counts 2 kernels"]
    body = world.costs()
    assert [row.same_code for row in body.rows] == [True, False, False]
    assert [[cost.exact for cost in row.costs] for row in body.rows] == [[], [7], [3]]
    assert [[cost.exact for cost in row.alone] for row in body.rows] == [[], [7], [3]]
    assert [cost.exact for cost in body.whole] == [10]
    assert body.rows[1].costs[0].functions[0].function == "work"
    assert body.rows[1].costs[0].in_its_code == 7
    study = world.study()
    assert study.state is StudyState.DONE
    assert study.answer[0].startswith("patch 2 'toys: Mend toy 2': exactly +7 instructions")
    assert study.why == study.answer[0]


def test_hosts_count_the_first_kernels_while_the_others_are_built(world: World) -> None:
    world.add("dear", "doubled", "bare", "free", "free too")
    job = world.ask()
    world.advance(job)
    # Four kernels differ; two more were still to be built when these were submitted.
    assert world.study().why == "experiment 1 goes on; all kernels are built"
    assert len(world.costs().experiments) == 1
    world.boot()
    assert turns(world, job) == ["experiment 2 counts 2 kernels"]
    assert [[cost.exact for cost in row.costs] for row in world.costs().rows] == [
        [7], [3], [-7], [], [],
    ]  # fmt: skip


def test_no_host_is_prepared_for_a_series_whose_base_does_not_build(world: World) -> None:
    world.add("dear", "doubled", "bare", "free")
    job = world.ask()
    with transaction(world.engine) as session:
        study = service.find(session, 1)
        body = study.body
        assert isinstance(body, PatchCosts)
        base = body.sets[0].model_copy(update={"skipped": "does not build: no base"})
        study.body = body.model_copy(update={"warnings": [], "sets": [base, *body.sets[1:]]})
    world.advance(job)
    assert world.study().why == "the base has no kernel: does not build: no base"
    assert not any(each.release for each in world.costs().sets)


def test_a_pair_that_interacts_is_built_counted_and_named(world: World) -> None:
    world.add("free", "dear", "doubled")
    job = world.ask()
    turns(world, job, both=11)
    body = world.costs()
    names = [each.name for each in body.sets]
    # The code of the first pair tells it: the other one is not built.
    assert names == ["base", "p1", "p2", "p3", "only2", "only3", "only2-3"]
    # It has the code of a kernel that was counted before.
    assert len(body.experiments) == 2
    [pair] = body.interactions
    assert (pair.patch, pair.alone, pair.after, pair.others) == (3, 3, 14, [2])


def test_a_patch_that_does_not_build_leaves_the_others_told(world: World) -> None:
    world.add("dear", f"free {BROKEN}", "doubled")
    job = world.ask()
    turns(world, job)
    assert [each.name for each in world.costs().sets if each.skipped] == ["p2", "p3"]
    study = world.study()
    assert study.state is StudyState.DONE, study.why
    assert [[cost.exact for cost in row.costs] for row in world.costs().rows] == [[7], []]
    assert any(line.startswith("patches 2-3 together: not known") for line in study.answer)


def test_a_series_of_comments_needs_no_boot(world: World) -> None:
    world.add("free")
    world.advance(world.ask())
    study = world.study()
    assert (study.state, world.costs().experiments) == (StudyState.DONE, [])
    assert study.answer[0] == "patch 1: nothing in any of these cases, by exact counts"


def test_a_warning_that_a_patch_adds_is_said_with_its_place(world: World) -> None:
    world.add("free", "free warns")
    world.advance(world.ask())
    assert world.costs().warnings == [[], ["toys/one.c:2: unused toy [-Wtoy]"]]
    assert world.study().answer[0] == (
        "patch 2 adds a warning (gcc, W=1): toys/one.c:2: unused toy [-Wtoy]"
    )


def test_boots_without_counts_are_said_and_tell_nothing(world: World) -> None:
    world.add("dear")
    job = world.ask()
    world.advance(job)
    run_experiments(world.engine, defaultdict(lambda: 100.0))
    world.advance(job)
    study = world.study()
    assert study.state is StudyState.DONE
    assert study.answer[0].startswith("not counted: syscall basic on lab-intel: No exact counts")


def fail(world: World) -> None:
    """The host of each open run could not be prepared."""
    with transaction(world.engine) as session:
        for run in session.scalars(select(Run).where(Run.state == RunState.QUEUED)):
            outcomes.finish(session, run, state=RunState.FAILED, error="no space left")
    conclude_closed(world.engine)


def test_an_experiment_that_failed_is_submitted_once_more(world: World) -> None:
    world.add("dear")
    job = world.ask()
    world.advance(job)
    fail(world)
    world.advance(job)
    assert world.study().why == "experiment 2 counts 2 kernels"
    world.boot()
    world.advance(job)
    assert world.study().state is StudyState.DONE
    assert [[cost.exact for cost in row.costs] for row in world.costs().rows] == [[7]]


def test_one_that_fails_again_is_told(world: World) -> None:
    world.add("dear")
    job = world.ask()
    for _ in range(2):
        world.advance(job)
        fail(world)
    world.advance(job)
    assert len(world.costs().experiments) == 2
    study = world.study()
    assert study.state is StudyState.DONE
    assert study.answer[0].startswith("not counted: syscall basic on lab-intel: ")


def test_revisions_are_ranked_and_one_that_protects_less_is_out(world: World) -> None:
    world.add("dear")
    world.add("bare", number=2)
    world.add("doubled", number=3)
    job = world.ask(StudyKind.VARIANTS, "v3")
    assert turns(world, job) == ["experiment 1 counts 3 kernels"]
    study = world.study()
    body = study.body
    assert isinstance(body, Variants)
    assert study.state is StudyState.DONE, study.why
    assert [(each.name, each.gate) for each in body.variants] == [
        ("v3", Gate.REFERENCE), ("v2", Gate.OUT), ("v1", Gate.PASSED),
    ]  # fmt: skip
    assert study.answer[0] == ("syscall basic on lab-intel: v3 runs the fewest instructions; v1 +4")
    assert any(
        line.startswith("v2 is out, it does less of what protects: VERW from 2 to 0 an operation")
        for line in study.answer
    )


def test_revisions_with_one_code_need_no_boot(world: World) -> None:
    world.add("free")
    world.add("free", "free too", number=2)
    world.advance(world.ask(StudyKind.VARIANTS, "v2"))
    study = world.study()
    assert isinstance(study.body, Variants)
    assert (study.state, study.body.experiments) == (StudyState.DONE, [])
    assert study.answer[0] == "v1 has the code of v2"


def test_a_revision_that_nobody_approved_is_no_variant(world: World) -> None:
    world.add("dear", approve=False)
    world.add("doubled", number=2)
    with pytest.raises(InvalidInput, match="no other revision than v2 that may run"):
        world.ask(StudyKind.VARIANTS, "v2")


@pytest.mark.parametrize(
    ("approve", "spec", "kind", "why"),
    [
        (True, "syscall", StudyKind.VARIANTS, "no other revision than v1"),
        (False, "syscall", StudyKind.PATCH_COST, "toys v1 is waiting"),
        (True, "", StudyKind.PATCH_COST, "by what toys is measured"),
        (True, "syscall", StudyKind.SELECTION, "no mitigation is known"),
    ],
)
def test_what_cannot_be_told_is_refused_and_nothing_is_stored(
    world: World, approve: bool, spec: str, kind: StudyKind, why: str
) -> None:
    world.add("dear", spec=spec, approve=approve)
    with pytest.raises(InvalidInput, match=why):
        world.ask(kind)
    with transaction(world.engine) as session:
        assert repository.of_revisions(session, [1]) == []
        assert session.query(Job).count() == 0


def test_asked_twice_it_is_one_and_once_over_it_is_done_anew(world: World) -> None:
    world.add("free")
    job = world.ask()
    assert world.ask() == job
    world.advance(job)
    first = world.study()
    again = world.ask()
    assert again != job
    study = world.study()
    assert (study.id, study.state, study.answer) == (first.id, StudyState.WAITING, [])
    world.advance(again)
    assert world.study().state is StudyState.DONE


def test_cancelled_it_ends_the_experiment_that_it_waits_for(world: World) -> None:
    world.add("dear")
    job = world.ask()
    world.advance(job)
    with transaction(world.engine) as session:
        jobs.cancel(session, job, "mira")
    world.advance(job)
    assert world.study().state is StudyState.CANCELLED
    with transaction(world.engine) as session:
        states: list[Any] = list(session.execute(text("select state from run")).scalars())
    assert set(states) == {"cancelled"}


@pytest.mark.parametrize(
    ("spec", "setting", "asked"),
    [
        ("vmscape", "selection,patch-cost", {"selection", "patch-cost"}),
        ("vmscape", "selection", {"selection"}),
        # No mitigation is known whose choice it may move.
        ("syscall", "selection, patch-cost", {"patch-cost"}),
        ("vmscape", "", set()),
    ],
)
def test_a_revision_that_is_measured_is_asked_what_the_setting_says(
    world: World, spec: str, setting: str, asked: set[str]
) -> None:
    world.add("dear", spec=spec)
    with transaction(world.engine) as session:
        revision = series_service.find_revision(session, "toys", "v1", lock=True)
        job = ask_revision(session, revision, all_cases=True).id
    runner = RevisionRunner(
        lambda context: Costly(world.directory, context.engine, world.blobs, fence=context.fence),
        studies=service.kinds_in(setting),
    )
    JobAdvancer(world.engine, {JobKind.REVISION: runner}, "w").advance(job)
    with transaction(world.engine) as session:
        assert {str(each.kind) for each in repository.of_revisions(session, [1])} == asked


def test_a_setting_with_another_word_is_named() -> None:
    with pytest.raises(InvalidInput, match="'bills' is no study"):
        service.kinds_in("selection,bills")
