"""A bisection taken on step by step: kernels built, experiments submitted, answers stored.

One tick does one thing and commits it, so that a process that is ended anywhere loses nothing and
does nothing twice: what a kernel's recipe gave is found again by its digest, and a step is stored
in the transaction that submits its experiment.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sqlalchemy.orm import Session

from mitigauge.core.errors import InvalidInput, MitigaugeError
from mitigauge.core.logs.logger import get_logger
from mitigauge.jobs.blame import words_of
from mitigauge.kernels import service as kernels
from mitigauge.kernels.config_profile import Profile, profile_of
from mitigauge.kernels.order import KernelInputs
from mitigauge.kernels.patch import Patch
from mitigauge.kernels.recipe import layouts
from mitigauge.kernels.states import KernelState
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.runs.submission import submit_text
from mitigauge.storage.database.engine import is_away
from mitigauge.tracking.bisect import decision_service, knowledge, model, repository, service
from mitigauge.tracking.bisect.question import StepArm, arm_name, step_text
from mitigauge.tracking.bisect.states import BisectionKind, BisectionState
from mitigauge.tracking.bisect.tables import Bisection, BisectionPoint
from mitigauge.tracking.bisect.unreached import unreached
from mitigauge.tracking.series.service import texts_of
from pipelines.adapters.git_tree import GitTree
from pipelines.kernel_build import Builder
from pipelines.kernel_order import BuildFailed, Order

log = get_logger(__name__)

# While hosts are busy, kernels are built ahead where there are at most so many.
MOST_BUILT_AHEAD = 16

Say = Callable[[str], None]


class Ticked(StrEnum):
    """What a tick did."""

    OVER = "over"
    MOVED = "moved"
    """One thing was done: there may be more to do at once."""
    WAITING = "waiting"
    """An experiment goes on."""
    ELSEWHERE = "elsewhere"
    """Another process takes this bisection on."""


@dataclass(frozen=True, slots=True)
class KernelOrder:
    """A kernel that is to be built: *point*'s, by these orders, one a layout."""

    point: int
    orders: Sequence[Order]
    ahead: bool


@dataclass(frozen=True)
class Driver:
    """Takes bisections on. *say* hears what happened, a line a thing."""

    builder: Builder
    say: Say = lambda _text: None

    def tick(self, bisection_id: int) -> Ticked:
        """Do the next thing. Raises NotFound, and MitigaugeError where our own side fails."""
        with repository.alone(self.builder.engine, bisection_id) as got:
            return self._tick(bisection_id) if got else Ticked.ELSEWHERE

    def tick_all(self) -> None:
        """One tick of each bisection that goes on. What is wrong with one stops no other."""
        with self.builder.transaction() as session:
            ids = repository.running(session)
        for bisection_id in ids:
            try:
                if self.tick(bisection_id) is Ticked.MOVED:
                    with self.builder.transaction() as session:
                        repository.went_on(session, bisection_id)
            except Exception as error:
                if is_away(error):
                    raise
                if not isinstance(error, MitigaugeError):
                    log.exception("bisection", bisection=bisection_id)
                self.say(f"bisection {bisection_id}: {words_of(error)}")
                with self.builder.transaction() as session:
                    service.put_off(session, bisection_id, words_of(error))

    def _tick(self, bisection_id: int) -> Ticked:
        with self.builder.transaction() as session:
            bisection = repository.whole(session, bisection_id, lock=True)
            did = self._looked(session, bisection)
        if not isinstance(did, KernelOrder):
            return did
        self._build(bisection_id, did)
        return Ticked.MOVED

    def _looked(self, session: Session, bisection: Bisection) -> Ticked | KernelOrder:
        """What is done within one transaction, or the kernel that is built outside of it."""
        if bisection.state != BisectionState.RUNNING:
            return Ticked.OVER
        step = knowledge.current_step(bisection)
        if step is not None and not repository.is_over(session, step.experiment_id):
            return self._ahead(bisection) or Ticked.WAITING
        if step is not None:
            service.take_in(session, bisection, step)
            self._weigh(session, bisection)
            self.say(f"step {step.number}: {step.outcome}")
            return Ticked.MOVED
        wanted = decision_service.decide(session, bisection)
        if wanted is None:
            self.say(bisection.why)
            return Ticked.OVER
        missing = self._missing(bisection, wanted)
        if missing is not None:
            return missing
        self._submit(session, bisection, wanted)
        return Ticked.MOVED

    def _missing(self, bisection: Bisection, wanted: model.Measure) -> KernelOrder | Ticked | None:
        """The first kernel that a step needs and that is not built yet."""
        for position in wanted.points:
            if position > len(bisection.candidates):
                service.revert_point(bisection, int(wanted.verifies or 0))
            point = _point(bisection, position)
            if _is_to_build(bisection, point):
                return self._order_of(bisection, point, ahead=False)
        return None

    def _order_of(
        self, bisection: Bisection, point: BisectionPoint, *, ahead: bool
    ) -> KernelOrder | Ticked:
        """The kernel of a point; where its patches cannot be had, the point is skipped."""
        try:
            return KernelOrder(point.position, self._orders(bisection, point), ahead)
        except InvalidInput as error:
            # A revert that is a merge, too large, or touches links: no later look makes it other.
            why = f"its patches cannot be had: {error.message}"
            service.skip(bisection, point.position, why)
            self.say(f"point {point.position} is skipped: {why}")
            return Ticked.MOVED

    def _ahead(self, bisection: Bisection) -> KernelOrder | Ticked | None:
        """A kernel that is likely to be needed, while hosts measure others."""
        if len(bisection.candidates) > MOST_BUILT_AHEAD:
            return None
        for position in _halving(len(bisection.candidates)):
            point = _point(bisection, position)
            if bisection.candidates[position - 1].prior > 0 and _is_to_build(bisection, point):
                return self._order_of(bisection, point, ahead=True)
        return None

    def _orders(self, bisection: Bisection, point: BisectionPoint) -> list[Order]:
        source = bisection.source
        label = f"bisect-{bisection.id}-{arm_name(point.position)}"
        tree = GitTree(Path(source.tree)) if source.tree else None
        base, patches = self._content(bisection, point, tree)
        profile = self._profile(bisection)
        return [
            Order(base, profile, patches, layout, label, tree)
            for layout in layouts(knowledge.layouts_of(bisection))
        ]

    def _profile(self, bisection: Bisection) -> Profile:
        """What its kernels are configured by, which stays the same to its end."""
        blobs = self.builder.blobs
        if bisection.profile_sha256 is None:
            read = profile_of(bisection.source.profile)
            bisection.profile_sha256 = KernelInputs.of(read, ()).put(blobs)
        return KernelInputs.read(blobs, bisection.profile_sha256).config_profile()

    def _content(
        self, bisection: Bisection, point: BisectionPoint, tree: GitTree | None
    ) -> tuple[str, Sequence[Patch]]:
        """Base and patches of a point."""
        source, without = bisection.source, point.without
        if tree is None:
            patches = self._patches(bisection)
            if without is not None:
                return source.base, [*patches[: without - 1], *patches[without:]]
            return source.base, patches[: point.position]
        if without is not None:
            return source.bad, [tree.reversed(bisection.candidates[without - 1].name)]
        if point.position == 0:
            return source.good, []
        return bisection.candidates[point.position - 1].name, []

    def _patches(self, bisection: Bisection) -> list[Patch]:
        texts = texts_of(str(bisection.patches_sha256), self.builder.blobs)
        titles = [candidate.title for candidate in bisection.candidates]
        return [Patch(title, text) for title, text in zip(titles, texts, strict=True)]

    def _build(self, bisection_id: int, wanted: KernelOrder) -> None:
        """Build a point's kernel and note it; or why the point is skipped."""
        self.builder.report(f"bisection {bisection_id}: kernel of point {wanted.point}")
        began = time.monotonic()
        built, why = None, ""
        try:
            built, *_others = [self.builder.build(order) for order in wanted.orders]
        except BuildFailed as error:
            why = f"does not build: {error.message}"
        spent = 0.0 if wanted.ahead else time.monotonic() - began
        with self.builder.transaction() as session:
            bisection = repository.whole(session, bisection_id, lock=True)
            bisection.seconds += spent
            point = _point(bisection, wanted.point)
            if built is None:
                service.skip(bisection, wanted.point, why)
                self.say(f"point {wanted.point} is skipped: {why}")
                return
            point.kernel_id, point.kernel = built, session.get_one(Kernel, built)
            if self._weigh(session, bisection):
                same = [c.position for c in bisection.candidates if c.prior == 0]
                self.say(f"cannot be it: {', '.join(map(str, same))}; their binaries are the same")

    def _weigh(self, session: Session, bisection: Bisection) -> bool:
        """Weigh its candidates by all that is known by now."""
        return service.weigh_anew(bisection, unreached(session, bisection, self.builder.blobs))

    def _submit(self, session: Session, bisection: Bisection, wanted: model.Measure) -> None:
        """Submit a step's experiment and note it, both or neither."""
        number = len(bisection.steps) + 1
        # Too few blocks for all layouts: one layout a step, each in its turn.
        several = knowledge.layouts_of(bisection)
        together = several if wanted.blocks >= several else 1
        turn = 0 if together == several else (number - 1) % several
        arms = [
            StepArm(arm_name(p), *_mode_and_kernel(session, _point(bisection, p), turn))
            for p in wanted.points
        ]
        profiled = knowledge.wants_profile(bisection, wanted)
        text = step_text(
            knowledge.asked_of(bisection),
            arms,
            name=f"bisect-{bisection.id}-step-{number}",
            question=f"Bisection {bisection.id}, step {number}: {wanted.why}"[:2000],
            blocks=wanted.blocks,
            layouts=together,
            profiled=profiled,
        )
        experiment = submit_text(
            session, text, name=f"bisection {bisection.id}, step {number}",
            submitted_by=bisection.submitted_by,
        )  # fmt: skip
        service.store_step(session, bisection, wanted, experiment, profiled=profiled)
        points = ", ".join(map(str, wanted.points))
        self.say(
            f"step {number}: {wanted.why} Points {points} in {wanted.blocks} blocks: "
            f"experiment {experiment}"
        )


def _point(bisection: Bisection, position: int) -> BisectionPoint:
    return next(point for point in bisection.points if point.position == position)


def _is_to_build(bisection: Bisection, point: BisectionPoint) -> bool:
    """Whether it needs a kernel of ours that is not built, and is not skipped."""
    if bisection.kind == BisectionKind.ARMS or point.skipped:
        return False
    return point.kernel is None or point.kernel.state != KernelState.BUILT


def _mode_and_kernel(session: Session, point: BisectionPoint, layout: int) -> tuple[str, str]:
    if point.kernel is None:
        return point.mode, point.release
    release = str(point.kernel.release)
    if layout:
        release = kernels.in_layouts(session, release, layout + 1)[layout]
    return point.mode, release


def _halving(last: int) -> Iterator[int]:
    """Points 1…*last* in the order in which plain bisection comes to them, the ends aside."""
    spans = deque([(0, last)])
    while spans:
        low, high = spans.popleft()
        middle = (low + high) // 2
        if low < middle < high:
            yield middle
            spans += [(low, middle), (middle, high)]
