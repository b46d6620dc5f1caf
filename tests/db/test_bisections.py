"""Bisections in the database: begun, taken on tick by tick, ended anywhere and gone on with."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import Engine, event, func, select
from sqlalchemy.orm import Session

from mitigauge.core.errors import Conflict, InvalidInput, NotFound
from mitigauge.core.settings import get_settings
from mitigauge.kernels.config_profile import Profile
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.runs import service as runs
from mitigauge.measurement.runs import submission
from mitigauge.storage.files.blobs import BlobStore, blob_store
from mitigauge.tracking.bisect import (
    bisection_view,
    decision_service,
    draft,
    knowledge,
    model,
    repository,
    service,
)
from mitigauge.tracking.bisect.question import Question
from mitigauge.tracking.bisect.sources import from_arms, from_patches
from mitigauge.tracking.bisect.states import AnswerKind, BisectionState, RevertOutcome
from mitigauge.tracking.bisect.tables import Bisection, BisectionStep
from pipelines.bisect_run import Driver, Ticked
from pipelines.kernel_order import Order
from tests.bisections import (
    ASKED,
    BREAKS,
    MODE,
    SAME,
    Level,
    Pretended,
    begun,
    eight,
    patches,
    run_open_experiments,
)

MOST_TICKS = 200


@pytest.fixture
def blobs() -> BlobStore:
    return blob_store(get_settings())


@pytest.fixture
def driver(engine: Engine, blobs: BlobStore, tmp_path: Path) -> Driver:
    return Driver(Pretended(tmp_path, engine, blobs))


def slow_from(culprit: int, *dead: int, seed: int = 1) -> Level:
    """30 % more from the culprit on, with a scatter of 0.3 %; *dead* points do not boot.

    Point 9 is the last of eight without the culprit.
    """
    chance = random.Random(seed)

    def level(point: int, block: int) -> float | None:
        if point in dead:
            return None
        return 700.0 * (1.3 if culprit <= point <= 8 else 1.0) * chance.gauss(1.0, 0.003)

    return level


def halving(question: model.Question, history: model.History) -> model.Action:
    """A core for these tests: ends, halves, verification, answer. It knows no noise."""
    last = question.last
    by_point: dict[int, list[float]] = {}
    for each in history.observed:
        by_point.setdefault(each.point, []).append(each.value)
    if history.skipped.keys() & {0, last}:
        return model.Refused("an end cannot be booted", "Choose another.")
    if last not in by_point or 0 not in by_point:
        return model.Measure((0, last), 4, "Do the ends differ?", model.Purpose.ENDS)
    middle = (by_point[0][0] + by_point[last][0]) / 2
    low = max(p for p in by_point if p <= last and by_point[p][0] < middle)
    high = min(p for p in by_point if p <= last and by_point[p][0] >= middle)
    between = [p for p in range(low + 1, high) if p not in history.skipped]
    between = [p for p in between if question.priors[p - 1] > 0]
    known = model.Posterior(
        tuple(float(low < k <= high) / (high - low) for k in range(1, last + 1)),
        0.0, 0.0, (0.0,) * last, 0.26, (0.25, 0.27), 0.003,
    )  # fmt: skip
    if between:
        wanted = min(between, key=lambda p: abs(p - (low + high) / 2))
        return model.Measure((0, wanted, last), 2, "Is it before or after?")
    if high - low > 1:
        return model.Undecided("skipped", tuple(range(low + 1, high + 1)), 1.0, known)
    if high not in history.verified.values():
        return model.Measure(
            (low, high), 4, f"Is it candidate {high}?", model.Purpose.VERIFY, high
        )  # fmt: skip
    return model.Culprit(high, 0.999, 0.26, (0.25, 0.27), known, "measured")


@pytest.fixture
def simple_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision_service, "next_action", halving)


def taken_on(
    driver: Driver, number: int, level: Level, *, on: Mapping[str, Level] | None = None
) -> Bisection:
    """Tick until it is over; experiments run as *level* says, or as *on* says of a host."""
    for _ in range(MOST_TICKS):
        did = driver.tick(number)
        if did is Ticked.OVER:
            break
        if did is Ticked.WAITING:
            run_open_experiments(driver.builder.engine, level, on=on)
    else:
        pytest.fail("it is not over")
    with Session(driver.builder.engine) as session:
        found = repository.whole(session, number)
        session.expunge_all()
        return found


@pytest.mark.usefixtures("simple_core")
@pytest.mark.parametrize("culprit", range(1, 9))
def test_the_patch_is_found_wherever_it_stands(
    culprit: int, engine: Engine, blobs: BlobStore, driver: Driver
) -> None:
    number = begun(engine, blobs, eight())
    found = taken_on(driver, number, slow_from(culprit))
    assert found.answer is not None
    assert (found.state, found.answer.kind) == (BisectionState.FINISHED, AnswerKind.FOUND)
    assert found.answer.candidates == [culprit]
    verified = [step for step in found.steps if step.verifies == culprit]
    assert found.answer.verified_by == [step.experiment_id for step in verified]
    graph = found.answer.flame_graph
    assert graph is not None
    assert (graph.a, graph.b) == (f"p{culprit - 1:02d}", f"p{culprit:02d}")
    assert found.boots == sum(step.boots for step in found.steps) > 0
    assert found.seconds >= 600 * len(found.steps)


@pytest.mark.usefixtures("simple_core")
def test_what_does_not_build_or_boot_is_skipped_with_its_reason(
    engine: Engine, blobs: BlobStore, driver: Driver
) -> None:
    number = begun(engine, blobs, eight(p4=BREAKS))
    found = taken_on(driver, number, slow_from(7, 5))
    skipped = {point.position: point.skipped for point in found.points if point.skipped}
    assert skipped.keys() == {4, 5}
    assert "toys/one.c:2: error: no such toy" in skipped[4]
    assert skipped[5] == "does not boot: Kernel panic - not syncing: a test"
    assert found.answer is not None
    assert found.answer.candidates == [7]
    assert all(4 not in step.points for step in found.steps)


@pytest.mark.usefixtures("simple_core")
def test_a_patch_that_leaves_the_binary_as_it_was_is_never_blamed_nor_booted(
    engine: Engine, blobs: BlobStore, driver: Driver
) -> None:
    number = begun(engine, blobs, eight(p4=SAME))
    found = taken_on(driver, number, slow_from(2))
    [fourth] = [c for c in found.candidates if c.position == 4]
    assert (fourth.prior, fourth.prior_why) == (0.0, "the binary is the same with and without it")
    assert [c.position for c in found.candidates if c.prior == 0] == [4]


def test_patches_that_change_no_binary_at_all_need_no_boot(
    engine: Engine, blobs: BlobStore, driver: Driver
) -> None:
    number = begun(engine, blobs, patches(SAME, SAME))
    found = taken_on(driver, number, slow_from(1))
    assert found.answer is not None
    assert (found.answer.kind, found.boots) == (AnswerKind.NONE_OF_THESE, 0)
    assert not found.steps


@pytest.mark.usefixtures("simple_core")
def test_an_end_that_does_not_build_is_refused(
    engine: Engine, blobs: BlobStore, driver: Driver
) -> None:
    number = begun(engine, blobs, eight(p8=BREAKS))
    found = taken_on(driver, number, slow_from(3))
    assert found.answer is not None
    assert found.answer.kind == AnswerKind.REFUSED
    assert found.answer.what_it_takes


@pytest.mark.usefixtures("simple_core")
def test_the_budget_ends_it_with_the_likeliest_named(
    engine: Engine, blobs: BlobStore, driver: Driver
) -> None:
    number = begun(engine, blobs, eight(), Question(("lab-intel",), "syscall", {"test": "basic"},
                                                 budget_boots=16))  # fmt: skip
    found = taken_on(driver, number, slow_from(3))
    assert found.answer is not None
    assert found.answer.kind == AnswerKind.UNDECIDED
    assert "spent" in found.answer.why
    assert found.boots <= 16


@pytest.mark.usefixtures("simple_core")
def test_the_time_that_it_may_take_ends_it_too(
    engine: Engine, blobs: BlobStore, driver: Driver
) -> None:
    asked = Question(("lab-intel",), "syscall", {"test": "basic"}, budget_hours=1.0)
    number = begun(engine, blobs, eight(), asked)
    with Session(engine) as session:
        session.get_one(Bisection, number).seconds = 3600.0
        session.commit()
    found = taken_on(driver, number, slow_from(3))
    assert found.answer is not None
    assert found.answer.why == "the time that it may take is spent"
    assert found.boots == 0


def test_boots_that_gave_no_value_are_spent_all_the_same(engine: Engine, blobs: BlobStore) -> None:
    number = begun(engine, blobs, eight())
    with Session(engine) as session:
        bisection = session.get_one(Bisection, number)
        whole = knowledge.question(bisection).budget_boots
        bisection.boots = 7
        assert knowledge.question(bisection).budget_boots == whole - 7


@pytest.mark.usefixtures("simple_core")
def test_an_experiment_that_is_cancelled_ends_it(
    engine: Engine, blobs: BlobStore, driver: Driver
) -> None:
    number = begun(engine, blobs, eight())
    while driver.tick(number) is not Ticked.WAITING:
        pass
    with Session(engine) as session:
        runs.cancel(session, session.scalars(select(Experiment.id)).one())
        session.commit()
    found = taken_on(driver, number, slow_from(3))
    assert (found.state, "was cancelled" in found.why) == (BisectionState.CANCELLED, True)


@pytest.mark.usefixtures("simple_core")
def test_cancelling_stops_its_experiment_and_is_said_once(
    engine: Engine, blobs: BlobStore, driver: Driver
) -> None:
    number = begun(engine, blobs, eight())
    while driver.tick(number) is not Ticked.WAITING:
        pass
    with Session(engine) as session:
        service.cancel(session, number)
        session.commit()
        assert session.scalars(select(Experiment.state)).one() == "cancelled"
        with pytest.raises(Conflict, match="is cancelled"):
            service.cancel(session, number)
    assert driver.tick(number) is Ticked.OVER


@pytest.mark.usefixtures("simple_core")
def test_steps_that_tell_nothing_end_it(engine: Engine, blobs: BlobStore, driver: Driver) -> None:
    number = begun(engine, blobs, eight())
    for _ in range(MOST_TICKS):
        did = driver.tick(number)
        if did is Ticked.OVER:
            break
        if did is Ticked.WAITING:
            _fail_all(engine)
    with Session(engine) as session:
        found = repository.whole(session, number)
        assert found.state == BisectionState.FAILED
        assert "the cable is out" in found.why
        assert len(found.steps) == 2


def _fail_all(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "update run set state = 'failed', concluded_at = now(), error = 'the cable is out'"
        )
        connection.exec_driver_sql("update experiment set state = 'failed', finished_at = now()")


class Killed(BaseException):
    """What a process that is ended would not live to see."""


class Kill:
    """Ends whatever happens at the commit of that number, before or after it."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.left, self.after = at, after

    def before_commit(self, _session: Session) -> None:
        if not self.after:
            self._count()

    def after_commit(self, _session: Session) -> None:
        if self.after:
            self._count()

    def _count(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed


@pytest.fixture(params=["before", "after"])
def after(request: pytest.FixtureRequest) -> Iterator[bool]:
    return request.param == "after"


@pytest.fixture
def one_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalogue's files are read once: they stay as they are."""
    catalog = Catalog()
    for module in (draft, submission):
        monkeypatch.setattr(module, "Catalog", lambda: catalog)


@pytest.mark.deep
@pytest.mark.usefixtures("simple_core", "one_catalogue")
def test_ended_at_any_commit_it_goes_on_and_does_nothing_twice(
    after: bool, engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    killed_at = 0
    for at in range(1, MOST_TICKS):
        number = begun(engine, blobs, patches(f"one {at}", BREAKS, "three"))
        kill = Kill(at, after=after)
        event.listen(Session, "before_commit", kill.before_commit)
        event.listen(Session, "after_commit", kill.after_commit)
        died = False
        try:
            _until_over(Driver(Pretended(tmp_path, engine, blobs)), number)
        except Killed:
            died = True
        finally:
            event.remove(Session, "before_commit", kill.before_commit)
            event.remove(Session, "after_commit", kill.after_commit)
        found = taken_on(Driver(Pretended(tmp_path, engine, blobs)), number, slow_from(1))
        assert found.answer is not None
        assert found.answer.candidates == [1]
        with Session(engine) as session:
            steps = session.scalar(select(func.count(BisectionStep.experiment_id.distinct())))
            assert steps == session.scalar(select(func.count(Experiment.id)))
        assert [step.number for step in found.steps] == list(range(1, len(found.steps) + 1))
        assert found.boots == sum(step.boots for step in found.steps)
        if not died:
            break
        killed_at = at
    assert killed_at > 10


def _until_over(driver: Driver, number: int) -> None:
    while (did := driver.tick(number)) is not Ticked.OVER:
        if did is Ticked.WAITING:
            run_open_experiments(driver.builder.engine, slow_from(1))


@pytest.mark.usefixtures("simple_core")
def test_while_one_takes_it_on_another_leaves_it_alone(
    engine: Engine, blobs: BlobStore, driver: Driver
) -> None:
    number = begun(engine, blobs, eight())
    with repository.alone(engine, number) as got:
        assert got
        assert driver.tick(number) is Ticked.ELSEWHERE
    assert driver.tick(number) is Ticked.MOVED


@pytest.mark.usefixtures("simple_core")
def test_what_is_wrong_with_one_stops_no_other(
    engine: Engine, blobs: BlobStore, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, whole = begun(engine, blobs, eight()), begun(engine, blobs, eight(p2="x"))
    with Session(engine) as session:
        session.get_one(Bisection, broken).patches_sha256 = "0" * 64
        session.commit()
    said: list[str] = []
    Driver(driver.builder, said.append).tick_all()
    assert [line for line in said if line.startswith(f"bisection {broken}:")]
    with Session(engine) as session:
        assert repository.whole(session, whole).points[0].kernel is not None


@pytest.mark.usefixtures("simple_core")
def test_over_arms_nothing_is_built(engine: Engine, driver: Driver) -> None:
    text = "arms:\n" + "".join(
        f"  - {{name: k{at}, mode: spectre-bhi/{mode}, kernel: 7.2.{at}}}\n"
        for at, mode in enumerate(["off", "off", "loop", "loop"])
    )
    with Session(engine) as session:
        number = service.begin(session, from_arms(text, "arms.yml", ASKED)).id
        session.commit()
    found = taken_on(driver, number, slow_from(2))
    assert found.answer is not None
    assert found.answer.candidates == [2]
    assert found.candidates[1].title == "k1 to k2"
    assert all(point.kernel is None for point in found.points)


def test_what_is_shown_is_what_is_stored(
    engine: Engine, blobs: BlobStore, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decision_service, "next_action", halving)
    number = begun(engine, blobs, eight(p4=BREAKS))
    taken_on(driver, number, slow_from(6))
    with Session(engine) as session:
        view = bisection_view.show(session, number)
        [head] = bisection_view.heads(session)
        with pytest.raises(NotFound, match="no bisection 99"):
            bisection_view.show(session, 99)
    assert head.culprit == view.culprit == "toys: Mend toy 6"
    assert (head.candidates, len(view.changes), view.left_out) == (8, 8, 0)
    assert [step.over for step in view.steps] == [True] * len(view.steps)
    assert view.steps[0].levels[1].effect_percent == pytest.approx(30, abs=1)
    assert {point.position for point in view.points if point.skipped} == {4}


@pytest.mark.parametrize(
    ("without", "kind", "outcome"),
    [
        (1.0, AnswerKind.FOUND, RevertOutcome.GONE),
        (1.3, AnswerKind.SEVERAL, RevertOutcome.NOTHING),
        (1.15, AnswerKind.SEVERAL, RevertOutcome.PART),
        (1.6, AnswerKind.SEVERAL, RevertOutcome.WORSE),
    ],
)
def test_what_the_culprits_revert_did_decides_and_is_shown(
    without: float, kind: AnswerKind, outcome: RevertOutcome, engine: Engine, driver: Driver,
    blobs: BlobStore,
) -> None:  # fmt: skip
    slow, chance = slow_from(6), random.Random(3)

    def level(point: int, block: int) -> float | None:
        return slow(point, block) if point <= 8 else 700 * without * chance.gauss(1.0, 0.003)

    number = begun(engine, blobs, eight())
    found = taken_on(driver, number, level)
    assert found.answer is not None
    assert (found.answer.kind, found.answer.candidates) == (kind, [6])
    [revert] = found.answer.reverts
    assert (revert.candidate, revert.outcome) == (6, outcome)
    assert revert.blocks >= 4
    assert revert.change_low_percent < 100 * (without / 1.3 - 1) < revert.change_high_percent
    assert revert.off_percent == pytest.approx(100 * (without - 1), abs=1.5)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Question(("nowhere",), "syscall", {"test": "basic"}), "unknown host 'nowhere'"),
        (Question(("lab-intel",), "nothing"), "unknown workload 'nothing'"),
        (Question(("lab-intel",), "syscall", {"test": ["basic", "fork"]}), "2 cases of syscall"),
        (Question(("lab-intel",), "syscall", {"test": "basic"}, "speed"), "speed"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_stored(
    asked: Question, said: str, engine: Engine, blobs: BlobStore
) -> None:
    with pytest.raises(InvalidInput, match=said):
        begun(engine, blobs, eight(), asked)
    with Session(engine) as session:
        assert session.scalar(select(func.count(Bisection.id))) == 0


def test_one_candidate_is_no_search(engine: Engine, blobs: BlobStore) -> None:
    with pytest.raises(InvalidInput, match=r"the one candidate is 'toys: Mend toy 1'") as refused:
        begun(engine, blobs, patches("one"))
    assert "mitigauge series add" in refused.value.hint


def test_two_requests_at_once_begin_one_search(engine: Engine, blobs: BlobStore) -> None:
    together = Barrier(2)

    def begin(_at: int) -> int | str:
        together.wait(timeout=60)
        try:
            return begun(engine, blobs, eight())
        except Conflict as refused:
            return refused.message

    with ThreadPoolExecutor(2) as threads:
        said = list(threads.map(begin, range(2)))
    numbers = [each for each in said if isinstance(each, int)]
    assert len(numbers) == 1
    assert [each for each in said if each not in numbers] == [
        f"bisection {numbers[0]} is running and searches the same: 8 patches on linux-source-7.2"
    ]


def test_another_case_host_or_patch_is_another_search(engine: Engine, blobs: BlobStore) -> None:
    other = Question(("lab-intel",), "syscall", {"test": "getpgid"})
    numbers = [
        begun(engine, blobs, eight()),
        begun(engine, blobs, eight(), other),
        begun(engine, blobs, eight()[:7]),
    ]
    assert len(set(numbers)) == 3
    with Session(engine) as session:
        service.cancel(session, numbers[0])
        session.commit()
    assert begun(engine, blobs, eight()) > numbers[-1]


def test_a_bisection_keeps_its_configuration_whatever_the_file_has_later(
    engine: Engine, driver: Driver, tmp_path: Path
) -> None:
    file = tmp_path / "mine.config"
    file.write_text("CONFIG_SATA_AHCI=m\n")
    blobs = driver.builder.blobs
    draft = from_patches(eight(), "linux-source-7.2", str(file), blobs, ASKED, MODE)
    with Session(engine) as session:
        number = service.begin(session, draft).id
        session.commit()
    file.write_text("CONFIG_MEGARAID_SAS=m\n")
    asked: list[Profile] = []

    class Noting(Pretended):
        def build(self, order: Order, *, anew: bool = False) -> int:
            asked.append(order.profile)
            return super().build(order, anew=anew)

    Driver(Noting(tmp_path, engine, blobs)).tick(number)
    assert [(each.name, each.text) for each in asked] == [("mine.config", "CONFIG_SATA_AHCI=m\n")]
