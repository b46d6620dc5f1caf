"""Bisections for tests: pretended kernels, and experiments that are only said to have run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from mitigauge.kernels import service as kernels
from mitigauge.kernels.patch import Patch
from mitigauge.kernels.recipe import Base, Recipe, Toolchain
from mitigauge.kernels.service import Built
from mitigauge.measurement.experiments.states import FINAL_STATES, ExperimentState
from mitigauge.measurement.experiments.tables import Arm, Case, Experiment
from mitigauge.measurement.results.tables import Measurement, Result
from mitigauge.measurement.runs.states import BootState, RunState
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.bisect import service
from mitigauge.tracking.bisect.question import Question, point_of
from mitigauge.tracking.bisect.sources import from_patches
from pipelines.kernel_build import Builder
from pipelines.kernel_order import BuildFailed, Order
from tests.series_mails import diff

ASKED = Question(("lab-intel",), "syscall", {"test": "basic"})
MODE = "spectre-bhi/off"
BREAKS = "does not build"
SAME = "only a comment"

# Value of a point's boot, in ns, in a block; None: it does not boot.
Level = Callable[[int, int], float | None]


class Pretended(Builder):
    """Stores kernels as built without building. The last patch may say that it does not build."""

    built: list[str]

    def new_warnings(self, order: Order) -> list[list[str] | None]:
        return [[] for _ in order.patches]

    def build(self, order: Order, *, anew: bool = False) -> int:
        del anew
        if order.patches and BREAKS in order.patches[-1].text:
            raise BuildFailed(f"patch {len(order.patches)}: toys/one.c:2: error: no such toy")
        code = [patch.text for patch in order.patches if SAME not in patch.text]
        recipe = Recipe(
            base=Base(order.base, "7.2.12-1"),
            patches=tuple(patch.sha256 for patch in order.patches),
            profile=order.profile.name,
            profile_sha256="c" * 64,
            toolchain=Toolchain("debian", ("gcc-14",)),
            scripts_sha256="f" * 64,
            layout=order.layout,
        )
        with self.transaction() as session:
            kernel = kernels.begin(session, recipe, order.patches, order.label)
            package = hashlib.sha256(recipe.digest.encode()).hexdigest()
            content = hashlib.sha256("".join([order.base, *code]).encode()).hexdigest()
            release = f"7.2.12{recipe.local_version}"
            kernels.finished(
                session, recipe.digest, Built(release, "ab" * 20, content, package, 1), "e" * 64
            )
            return kernel.id


def patches(*says: str) -> list[Patch]:
    """A patch for each text that it puts into a file."""
    return [
        Patch(f"toys: Mend toy {at}", diff(f"toys/{at}.c", "a", said))
        for at, said in enumerate(says, 1)
    ]


def eight(slow: int = 6, **special: str) -> list[Patch]:
    """Eight patches; *special*: ``p3="does not build"``."""
    del slow
    return patches(*(special.get(f"p{at}", f"toy {at}") for at in range(1, 9)))


def begun(engine: Engine, blobs: BlobStore, found: Sequence[Patch], asked: Question = ASKED) -> int:
    """A bisection over patches; its id."""
    draft = from_patches(found, "linux-source-7.2", "lab", blobs, asked, MODE)
    with Session(engine) as session:
        number = service.begin(session, draft).id
        session.commit()
    return number


def run_open_experiments(
    engine: Engine, level: Level, *, on: Mapping[str, Level] | None = None
) -> list[int]:
    """Say of every experiment that is not over that it ran, with values as *level* has them.

    *on*: hosts on which points have another one.
    """
    with Session(engine) as session:
        wanted = select(Experiment).where(Experiment.state.not_in(FINAL_STATES))
        found = list(session.scalars(wanted.order_by(Experiment.id)))
        for experiment in found:
            for run in session.scalars(select(Run).where(Run.experiment_id == experiment.id)):
                _run(session, run, (on or {}).get(run.host.name, level))
            experiment.state = ExperimentState.FINISHED
            experiment.started_at = experiment.created_at
            session.flush()
            session.execute(
                text(
                    "update experiment set finished_at = started_at + interval '600 s',"
                    " concluded_at = now() where id = :id"
                ),
                {"id": experiment.id},
            )
        session.commit()
        return [experiment.id for experiment in found]


def _run(session: Session, run: Run, level: Level) -> None:
    case = session.scalars(select(Case).where(Case.comparison_id == run.comparison_id)).one()
    for boot in session.scalars(select(Boot).where(Boot.run_id == run.id)):
        arm = session.get_one(Arm, boot.arm_id)
        boot.started_at = boot.finished_at = run.experiment.created_at
        value = level(point_of(arm.name), boot.block)
        if value is None:
            boot.state, boot.reason = BootState.DID_NOT_BOOT, "Kernel panic - not syncing: a test"
            continue
        boot.state = BootState.EFFECTIVE
        session.add(
            Result(boot_id=boot.id, case_id=case.id, state="measured", body_sha256="0" * 64,
                   lab_faults=[], tools={})
        )  # fmt: skip
        session.flush()
        session.add(
            Measurement(boot_id=boot.id, case_id=case.id, metric="time_per_call", mean=value,
                        counted=[value])
        )  # fmt: skip
    run.state = RunState.FINISHED
    session.flush()
    session.execute(text("update run set concluded_at = now() where id = :id"), {"id": run.id})
