"""Nothing keeps a run for ever: every fault here once did, or was booked as something else."""

from __future__ import annotations

import errno
import itertools
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from mitigauge.analysis.verdicts import judgement
from mitigauge.core.errors import NotFound
from mitigauge.measurement.runs import lease_repository as leases
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs import service
from mitigauge.measurement.runs.states import BootState
from mitigauge.reporting.pages.boot_schemas import WholeExperimentView
from mitigauge.storage.database.engine import transaction
from pipelines.advance import Advancer
from pipelines.decision import LOST_WORKERS_LIMIT, Step
from pipelines.host_control import Facts, LabFault, LeaseGone, RunLog, Unanswered
from pipelines.steps.context import AWAY_RETRY_S
from tests.crash.conftest import Fleet, nothing_lost_nothing_twice
from tests.crash.simulated_host import SimulatedHost, new_world
from tests.specs import CATALOG, SPEC

LONG_SPEC = SPEC.replace("blocks: 2", "blocks: 6")


class Killed(BaseException):
    """A worker's death, as its own process would not live to see it."""


@dataclass
class Lab:
    """Hosts whose calls a test may have raise or answer otherwise, and one worker over them."""

    engine: Engine
    home: Path
    fleet: Fleet
    opened: Counter[str] = field(default_factory=Counter)
    instead: dict[str, Callable[[SimulatedHost], Any]] = field(default_factory=dict)
    """What a call does in the host's place, by its name; ``open`` for opening it."""

    def open(self, environment: str, name: str, log: RunLog) -> Any:
        host = SimulatedHost(self.home / f"{name}.json", log)
        self.opened[name] += 1
        if "open" in self.instead:
            self.instead["open"](host)
        return _Host(host, self.instead)

    def advancer(self, kind: type[Advancer] = Advancer) -> Any:
        return kind(self.engine, self.open, catalog=CATALOG, lease_seconds=60)

    def submit(self, spec: str = SPEC) -> tuple[int, int]:
        """(experiment, run) of a new experiment."""
        experiment = self.fleet.submit(spec)
        return experiment, self.fleet.show(experiment).runs[0].id

    def carry_out(self, run: int, advancer: Any = None, *, most: int = 120) -> list[float]:
        """Every step of the run to its end; the pauses between them."""
        advancer = advancer or self.advancer()
        pauses: list[float] = []
        while (pause := advancer.advance(run)) is not None:
            pauses.append(pause)
            assert len(pauses) < most, self.events(run)[-10:]
        return pauses

    def until(self, run: int, step: Step, advancer: Any = None) -> None:
        """Advance until the step has been taken once."""
        advancer = advancer or self.advancer()
        while step not in self.steps(run):
            assert advancer.advance(run) is not None

    def steps(self, run: int) -> list[str]:
        return self.rows("select step from step_attempt where run_id = :run order by id", run)

    def outcomes(self, run: int) -> list[str]:
        return self.rows("select outcome from step_attempt where run_id = :run order by id", run)

    def events(self, run: int) -> list[str]:
        of = "select text from event where experiment_id ="
        return self.rows(f"{of} (select experiment_id from run where id = :run) order by id", run)

    def rows(self, query: str, run: int) -> list[Any]:
        with transaction(self.engine) as session:
            return list(session.scalars(text(query), {"run": run}))

    def held(self) -> int:
        """Hosts that some run holds."""
        return len(self.rows("select id from host_lease where released_at is null", 0))

    def show(self, experiment: int) -> WholeExperimentView:
        return self.fleet.show(experiment)


class _Host:
    """A simulated host of which some calls do something else."""

    def __init__(self, host: SimulatedHost, instead: dict[str, Any]) -> None:
        self._host, self._instead = host, instead

    def __getattr__(self, name: str) -> Any:
        if name in self._instead:
            return lambda *_args, **_kwargs: self._instead[name](self._host)
        return getattr(self._host, name)


@pytest.fixture
def lab(engine: Engine, home: Path, fleet: Fleet) -> Lab:
    return Lab(engine, home, fleet)


def raising(error: BaseException, *, times: int = 10**9) -> Callable[[SimulatedHost], Any]:
    left = itertools.repeat(error, times)

    def act(_: SimulatedHost) -> Any:
        if (found := next(left, None)) is not None:
            raise found

    return act


def with_values(engine: Engine, value: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(f"update measurement set mean = {value}, counted = array[{value}]"))


# Numbers that cannot be added up


def test_values_that_cannot_be_added_up_keep_no_run_from_its_end(lab: Lab) -> None:
    experiment, run = lab.submit(LONG_SPEC)
    advancer = lab.advancer()
    while lab.steps(run).count(Step.START) < 8:
        advancer.advance(run)
    with_values(lab.engine, "1e308")
    lab.carry_out(run, advancer)
    assert lab.show(experiment).state == "finished"
    assert lab.held() == 0


def test_a_judge_that_fails_ends_no_run_and_is_said(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> Any:
        raise OverflowError("intermediate overflow in fsum")

    monkeypatch.setattr("mitigauge.analysis.verdicts.service.judge_run", broken)
    experiment, run = lab.submit(LONG_SPEC)
    lab.carry_out(run)
    view = lab.show(experiment)
    assert (view.state, view.boots_done) == ("finished", 12)
    assert "4 blocks judged: OverflowError: intermediate overflow in fsum" in lab.events(run)


def test_verdicts_that_cannot_be_worked_out_keep_no_experiment_open(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> Any:
        raise OverflowError("too large")

    monkeypatch.setattr("mitigauge.analysis.verdicts.service.doubled_outcomes", broken)
    experiment, run = lab.submit()
    lab.carry_out(run)
    assert lab.show(experiment).state == "finished"
    assert any("no verdicts" in line and "too large" in line for line in lab.events(run))
    with transaction(lab.engine) as session:
        assert run_rows.unconcluded(session) == []
        assert run_rows.unconcluded_experiments(session) == []


def test_an_interim_analysis_locks_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def judged(*arguments: Any, **options: Any) -> Any:
        with transaction(lab.engine) as session:
            free = "select id from host_lease where released_at is null for update nowait"
            seen.append(len(session.scalars(text(free)).all()))
        return judgement.judge_run(*arguments, **options)

    monkeypatch.setattr("mitigauge.analysis.verdicts.service.judge_run", judged)
    _, run = lab.submit(LONG_SPEC)
    lab.carry_out(run)
    # After each block, and at the end, when the host was given back.
    assert seen == [1, 1, 1, 1, 0]


# Hosts that are gone, dead or change


def gone(_: SimulatedHost) -> None:
    raise NotFound("environment 'lab' has no host 'alpha' any more", hint="Known: beta.")


def test_a_host_that_leaves_the_inventory_ends_its_run_with_the_reason(lab: Lab) -> None:
    experiment, run = lab.submit()
    advancer = lab.advancer()
    lab.until(run, Step.START, advancer)
    lab.instead["open"] = gone
    lab.carry_out(run, advancer)
    view = lab.show(experiment)
    assert view.state == "failed"
    assert "has no host 'alpha' any more" in view.runs[0].error
    assert lab.held() == 0
    with transaction(lab.engine) as session:
        reason = session.scalars(text("select set_aside_reason from host")).one()
    assert "could not be restored" in reason


def test_a_run_of_a_host_that_is_gone_can_be_cancelled(lab: Lab) -> None:
    experiment, run = lab.submit()
    lab.until(run, Step.ARM)
    lab.instead["open"] = gone
    with transaction(lab.engine) as session:
        service.cancel(session, experiment)
    assert len(lab.carry_out(run)) == 1
    assert lab.show(experiment).state == "cancelled"
    assert lab.steps(run)[-2:] == [Step.RESTORE, Step.FINISH]


def test_steps_that_need_no_host_open_none(lab: Lab) -> None:
    world = {**new_world(), "says": {"knob=on": "Vulnerable"}}
    (lab.home / "alpha.json").write_text(json.dumps(world))
    _, run = lab.submit(LONG_SPEC)
    lab.carry_out(run)
    steps = Counter(lab.steps(run))
    without = [Step.SKIP, Step.FINISH, Step.JUDGE, Step.STOP]
    assert steps[Step.SKIP] > 0
    assert steps[Step.FINISH] == 1
    assert lab.opened["alpha"] == sum(steps.values()) - sum(steps[step] for step in without)


def test_a_host_that_does_not_answer_is_set_aside_and_its_runs_wait(lab: Lab) -> None:
    lab.instead["prepare"] = raising(Unanswered("prepare.yml on alpha: unreachable"))
    submitted = [lab.submit() for _ in range(5)]
    advancer = lab.advancer()
    first = submitted[0][1]
    pauses = [advancer.advance(first) for _ in range(3)]
    assert pauses[2] > 200
    for _, run in submitted[1:]:
        assert advancer.advance(run) > 200
    assert lab.opened["alpha"] == 3
    assert {lab.show(e).runs[0].state for e, _ in submitted} == {"queued"}
    assert lab.held() == 0
    [said] = [line for line in lab.events(first) if "is set aside until" in line]
    assert "unreachable" in said


def test_a_set_aside_host_is_probed_and_used_again_once_it_answers(lab: Lab) -> None:
    lab.instead["prepare"] = raising(Unanswered("unreachable"), times=4)
    (one, run), (other, second) = lab.submit(), lab.submit()
    advancer = lab.advancer()
    for _ in range(3):
        advancer.advance(run)
    lab.fleet.until(lambda: advancer.advance(second) > 200, "the host, set aside")
    probe(lab.engine)
    assert advancer.advance(second) > 500  # once more, and twice as long
    probe(lab.engine)
    del lab.instead["prepare"]
    lab.carry_out(second, advancer)
    lab.carry_out(run, advancer)
    assert (lab.show(one).state, lab.show(other).state) == ("finished", "finished")
    assert "alpha could be prepared and is in use again" in lab.events(second)


def probe(engine: Engine) -> None:
    """The time of the next probe has come."""
    with engine.begin() as connection:
        connection.execute(text("update host set probe_at = now()"))


def test_a_person_brings_a_host_back(lab: Lab) -> None:
    lab.instead["prepare"] = raising(Unanswered("unreachable"), times=3)
    experiment, run = lab.submit()
    advancer = lab.advancer()
    for _ in range(3):
        advancer.advance(run)
    with transaction(lab.engine) as session:
        assert service.bring_back(session, "lab", "alpha")
        assert not service.bring_back(session, "lab", "alpha")
    del lab.instead["prepare"]
    lab.carry_out(run, advancer)
    assert lab.show(experiment).state == "finished"


def test_one_run_that_cannot_prepare_a_host_does_not_set_it_aside_but_two_do(lab: Lab) -> None:
    lab.instead["prepare"] = raising(LabFault("no package linux-image-9"))
    runs = [lab.submit() for _ in range(3)]
    for experiment, run in runs[:2]:
        lab.carry_out(run)
        assert lab.show(experiment).state == "failed"
        assert "no package linux-image-9" in lab.show(experiment).runs[0].error
    assert lab.advancer().advance(runs[2][1]) > 200
    assert lab.show(runs[2][0]).runs[0].state == "queued"


def flapping(facts: Callable[[int, str], Facts]) -> Callable[[SimulatedHost], Facts]:
    """A verify whose fingerprint depends on its number and the boot's command line."""
    numbers = itertools.count()

    def verify(host: SimulatedHost) -> Facts:
        told = host.verify()
        fingerprint = facts(next(numbers), told["proof"]["cmdline"])
        return {"proof": told["proof"], "fingerprint": fingerprint}

    return verify


def test_a_fingerprint_that_flaps_ends_the_run_after_some_repeats(lab: Lab) -> None:
    lab.instead["verify"] = flapping(lambda number, _: {"cpu_model": f"model {number}"})
    experiment, run = lab.submit()
    lab.carry_out(run)
    view = lab.show(experiment)
    assert view.state == "failed"
    assert view.runs[0].error == (
        "block 1 was invalid 4 times, the last time since the host's fingerprint changed "
        "within the block"
    )
    assert len([b for b in view.boots if b.state is BootState.INVALID]) == 8
    assert lab.steps(run)[-2:] == [Step.RESTORE, Step.FINISH]


def test_facts_that_a_mode_is_meant_to_change_invalidate_nothing(lab: Lab) -> None:
    def without_smt(_: int, cmdline: str) -> Facts:
        off = cmdline.endswith("knob=on")
        return {"smt": "forceoff" if off else "on", "threads": 4 if off else 8, "cores": 4}

    lab.instead["verify"] = flapping(without_smt)
    experiment, run = lab.submit()
    lab.carry_out(run)
    assert {boot.state for boot in lab.show(experiment).boots} == {BootState.EFFECTIVE}


def test_an_invalid_block_does_not_use_up_the_attempts_of_later_faults(lab: Lab) -> None:
    lab.instead["verify"] = flapping(
        lambda number, _: (
            {"cpu_model": "old" if number < 5 else "new"} if number % 2 else {"cpu_model": "new"}
        )
    )
    experiment, run = lab.submit(SPEC.replace("blocks: 2", "blocks: 1"))
    advancer = lab.advancer()
    while BootState.INVALID not in {b.state for b in lab.show(experiment).boots}:
        advancer.advance(run)
    while max(b.attempt for b in lab.show(experiment).boots) < 3:
        advancer.advance(run)
    lab.instead["start"] = raising(LabFault("the job is lost"), times=1)
    lab.instead["poll"] = raising(LabFault("the job is lost"), times=1)
    while BootState.LAB_FAULT not in {b.state for b in lab.show(experiment).boots}:
        advancer.advance(run)
    lab.instead.clear()
    lab.carry_out(run, advancer)
    view = lab.show(experiment)
    counted = [b.arm for b in view.boots if b.state is BootState.EFFECTIVE]
    assert sorted(counted) == ["off", "on"]


# Workers that die, sleep or hear nothing


def test_a_run_that_is_over_takes_no_host_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment, run = lab.submit()
    late, other = lab.advancer(), lab.advancer()
    acquire = leases.acquire

    def after_the_end(*arguments: Any, **named: Any) -> Any:
        # The other worker does all the rest between this one's first look and its lease.
        monkeypatch.setattr(leases, "acquire", acquire)
        lab.carry_out(run, other)
        return acquire(*arguments, **named)

    monkeypatch.setattr(leases, "acquire", after_the_end)
    assert late.advance(run) is None
    assert lab.steps(run).count(Step.FINISH) == 1
    assert lab.held() == 0
    nothing_lost_nothing_twice(lab.show(experiment), lab.fleet.did())


def test_a_host_that_a_final_run_holds_is_freed(lab: Lab) -> None:
    _, run = lab.submit()
    lab.carry_out(run)
    with lab.engine.begin() as connection:
        connection.execute(text("update host_lease set released_at = null, holder = null"))
    with transaction(lab.engine) as session:
        assert len(run_rows.free_final_runs(session)) == 1
        assert run_rows.free_final_runs(session) == []
    assert lab.held() == 0


class LosesAnswers(Advancer):
    """One whose every first transaction of a kind commits, and does not hear so."""

    def _take(self, *arguments: Any) -> Any:
        return self._unheard("take", super()._take(*arguments))

    def _commit(self, *arguments: Any) -> Any:
        return self._unheard("commit", super()._commit(*arguments))

    def _unheard(self, kind: str, answer: Any) -> Any:
        lost = self.__dict__.setdefault("lost", set())
        if kind in lost:
            lost.remove(kind)
            return answer
        lost.add(kind)
        unheard = OSError("server closed the connection unexpectedly")
        raise OperationalError("commit", None, unheard, connection_invalidated=True)


def test_a_commit_whose_answer_was_lost_is_no_refusal(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.insist.DATABASE_RETRY_S", 0.0)
    experiment, run = lab.submit()
    lab.carry_out(run, lab.advancer(LosesAnswers))
    nothing_lost_nothing_twice(lab.show(experiment), lab.fleet.did())
    assert not {"refused", "lost", "started"} & set(lab.outcomes(run))
    with transaction(lab.engine) as session:
        assert session.scalars(text("select epoch from run")).one() == len(lab.steps(run))


def killing(step: Step) -> type[Advancer]:
    class Dies(Advancer):
        def _act(self, taken: Any, context: Any) -> Any:
            if taken.action.step == step:
                raise Killed
            return super()._act(taken, context)

    return Dies


def lapse(engine: Engine) -> None:
    """The dead worker's lease is over."""
    with engine.begin() as connection:
        connection.execute(text("update host_lease set expires_at = now() - interval '1 s'"))


@pytest.mark.parametrize("step", [Step.PREPARE, Step.VERIFY, Step.POLL, Step.RESTORE])
def test_a_step_that_kills_its_worker_each_time_ends_the_run(lab: Lab, step: Step) -> None:
    experiment, run = lab.submit()
    deaths = 0
    advancer = lab.advancer(killing(step))
    while True:
        try:
            if advancer.advance(run) is None:
                break
        except Killed:
            deaths += 1
            assert deaths <= LOST_WORKERS_LIMIT
            lapse(lab.engine)
            advancer = lab.advancer(killing(step))
    assert deaths == LOST_WORKERS_LIMIT
    view = lab.show(experiment)
    assert view.state == "failed"
    assert view.runs[0].error == f"{step} ended its worker {LOST_WORKERS_LIMIT} times in a row"
    assert lab.outcomes(run).count("lost") == LOST_WORKERS_LIMIT
    assert sum("did not come back" in line for line in lab.events(run)) == LOST_WORKERS_LIMIT
    assert lab.held() == 0


def test_a_worker_lost_with_several_runs_in_hand_counts_in_part_for_each(lab: Lab) -> None:
    both = SPEC.replace("[alpha]", "[alpha, beta]")
    experiment = lab.fleet.submit(both, "alpha", "beta")
    runs = [run.id for run in lab.show(experiment).runs]
    dying = lab.advancer(killing(Step.PREPARE))
    for run in runs:
        with pytest.raises(Killed):
            dying.advance(run)
    lapse(lab.engine)
    later = lab.advancer(killing(Step.PREPARE))
    for run in runs:
        with pytest.raises(Killed):
            later.advance(run)
    assert lab.rows("select lost_workers from run order by id", 0) == [0.5, 0.5]
    assert any("did not come back, and 1 other steps with it" in e for e in lab.events(runs[0]))
    lapse(lab.engine)
    for run in runs:
        lab.carry_out(run)
    assert lab.rows("select lost_workers from run", 0) == [0, 0]
    assert lab.show(experiment).state == "finished"


def test_workers_that_die_now_and_then_end_no_run(lab: Lab) -> None:
    experiment, run = lab.submit()
    for step in (Step.PREPARE, Step.ARM, Step.AWAIT, Step.VERIFY, Step.START, Step.POLL):
        with pytest.raises(Killed):
            lab.carry_out(run, lab.advancer(killing(step)))
        lapse(lab.engine)
    lab.carry_out(run)
    nothing_lost_nothing_twice(lab.show(experiment), lab.fleet.did())


def test_a_step_stopped_for_its_lease_says_nothing_of_the_host(lab: Lab) -> None:
    lab.instead["serial_offset"] = raising(LeaseGone("stopped, the lease was lost"), times=3)
    experiment, run = lab.submit()
    lab.carry_out(run)
    nothing_lost_nothing_twice(lab.show(experiment), lab.fleet.did())
    assert lab.outcomes(run).count("interrupted") == 3


def test_a_full_disk_of_ours_is_said_and_waited_for(lab: Lab) -> None:
    lab.instead["poll"] = raising(OSError(errno.ENOSPC, "No space left on device"), times=8)
    experiment, run = lab.submit()
    advancer = lab.advancer()
    lab.until(run, Step.POLL, advancer)
    pauses = [advancer.advance(run) for _ in range(7)]
    assert set(pauses) == {AWAY_RETRY_S}
    lab.instead.clear()
    lab.carry_out(run, advancer)
    nothing_lost_nothing_twice(lab.show(experiment), lab.fleet.did())
    assert any("no space left on the control side" in line for line in lab.events(run))


# Hosts that nobody looked at for long


def long_ago(engine: Engine) -> None:
    """Nobody looked for an hour: all workers were away."""
    with engine.begin() as connection:
        connection.execute(text("update boot set rebooted_at = rebooted_at - interval '1 hour'"))


def test_a_host_that_came_up_while_nobody_looked_is_not_power_cycled(lab: Lab) -> None:
    experiment, run = lab.submit()
    lab.until(run, Step.ARM)
    long_ago(lab.engine)
    lab.carry_out(run)
    nothing_lost_nothing_twice(lab.show(experiment), lab.fleet.did())
    assert lab.fleet.did()["power-cycle"] == 0


def test_a_power_cycle_of_a_worker_that_was_lost_is_recorded_all_the_same(lab: Lab) -> None:
    experiment, run = lab.submit()
    advancer = lab.advancer()
    lab.until(run, Step.ARM, advancer)
    long_ago(lab.engine)

    def cycled(host: SimulatedHost) -> None:
        host.power_cycle()
        raise Killed

    lab.instead.update(answers=lambda _: False, power_cycle=cycled)
    with pytest.raises(Killed):
        advancer.advance(run)
    lapse(lab.engine)
    lab.instead.clear()
    lab.carry_out(run)
    assert lab.show(experiment).state == "finished"
    assert lab.fleet.did()["power-cycle"] == 1
    assert lab.rows("select power_cycled from boot order by id limit 1", 0) == [True]


def test_a_host_is_not_lost_before_somebody_has_looked(lab: Lab) -> None:
    experiment, run = lab.submit(SPEC.replace("blocks: 2", "blocks: 1"))
    advancer = lab.advancer()
    lab.until(run, Step.ARM, advancer)
    lab.instead["answers"] = lambda _: False
    long_ago(lab.engine)
    lab.until(run, Step.POWER_CYCLE, advancer)
    del lab.instead["answers"]
    long_ago(lab.engine)
    lab.carry_out(run, advancer)
    view = lab.show(experiment)
    assert view.state == "finished"
    assert lab.fleet.did()["power-cycle"] == 1


def test_a_host_that_stays_silent_after_its_power_cycle_is_lost_and_set_aside(lab: Lab) -> None:
    experiment, run = lab.submit()
    advancer = lab.advancer()
    lab.until(run, Step.ARM, advancer)
    lab.instead["answers"] = lambda _: False
    for _ in range(8):
        long_ago(lab.engine)
        if advancer.advance(run) is None:
            break
    view = lab.show(experiment)
    assert view.state == "failed"
    assert view.runs[0].error.startswith("host lost: no answer within 60 s of the power")
    assert BootState.DID_NOT_BOOT in {boot.state for boot in view.boots}
    with transaction(lab.engine) as session:
        assert "host lost" in session.scalars(text("select set_aside_reason from host")).one()


def test_a_host_that_hangs_before_its_reboot_is_power_cycled_once_a_boot(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.steps.boot.ANSWER_WAIT_S", 0.1)
    experiment, run = lab.submit()
    advancer = lab.advancer()
    lab.until(run, Step.PREPARE, advancer)
    hangs = [True]

    def cycled(host: SimulatedHost) -> None:
        host.power_cycle()
        hangs[0] = False

    lab.instead["answers"] = lambda host: not hangs[0] and host.answers()
    lab.instead["power_cycle"] = cycled
    lab.carry_out(run, advancer)
    assert lab.show(experiment).state == "finished"
    assert lab.fleet.did()["power-cycle"] == 1
    assert any("power cycled" in line for line in lab.events(run))


def test_a_run_cancelled_when_it_may_have_prepared_its_host_restores_it(lab: Lab) -> None:
    experiment, run = lab.submit()
    with pytest.raises(Killed):
        lab.carry_out(run, lab.advancer(killing(Step.PREPARE)))
    lapse(lab.engine)
    with transaction(lab.engine) as session:
        service.cancel(session, experiment)
    lab.carry_out(run)
    assert lab.steps(run) == [Step.PREPARE, Step.RESTORE, Step.FINISH]
    assert lab.fleet.did()["restore"] == 1


# Cancelling


def test_a_queued_run_is_cancelled_at_once_whoever_holds_its_host(lab: Lab) -> None:
    busy, waiting = lab.submit(), lab.submit()
    lab.until(busy[1], Step.ARM)
    assert lab.advancer().advance(waiting[1]) is not None
    with transaction(lab.engine) as session:
        service.cancel(session, waiting[0])
    view = lab.show(waiting[0])
    assert (view.state, view.runs[0].state) == ("cancelled", "cancelled")
    assert {boot.state for boot in view.boots} == {BootState.SKIPPED}
    assert view.finished_at is not None
    assert lab.advancer().advance(waiting[1]) is None


def test_a_cancel_that_comes_with_the_last_commit_contradicts_nothing(lab: Lab) -> None:
    experiment, run = lab.submit()

    class Cancelled(Advancer):
        def _act(self, taken: Any, context: Any) -> Any:
            if taken.action.step == Step.FINISH:
                with transaction(lab.engine) as session:
                    service.cancel(session, experiment)
            return super()._act(taken, context)

    lab.carry_out(run, lab.advancer(Cancelled))
    view = lab.show(experiment)
    assert (view.state, view.runs[0].state) == ("finished", "finished")


def test_a_cancelled_run_takes_two_more_steps_wherever_it_was(lab: Lab) -> None:
    for step in (Step.PREPARE, Step.ARM, Step.AWAIT, Step.VERIFY, Step.START, Step.POLL):
        experiment, run = lab.submit()
        advancer = lab.advancer()
        lab.until(run, step, advancer)
        taken = len(lab.steps(run))
        with transaction(lab.engine) as session:
            service.cancel(session, experiment)
        lab.carry_out(run, advancer)
        assert lab.steps(run)[taken:] == [Step.RESTORE, Step.FINISH]
        assert lab.show(experiment).state == "cancelled"
    assert lab.held() == 0


def test_no_timer_lies_in_the_queue(lab: Lab) -> None:
    lab.instead.clear()
    world = {**new_world(), "silent": 2, "job_s": 0.3}
    (lab.home / "alpha.json").write_text(json.dumps(world))
    experiment = lab.fleet.submit(LONG_SPEC)
    lab.fleet.worker()
    seen: set[Any] = set()

    def looked() -> bool:
        seen.update(lab.rows("select scheduled_at from procrastinate_jobs", 0))
        return lab.show(experiment).state == "finished"

    lab.fleet.until(looked, "the end")
    assert seen <= {None}
