"""The pace gate: iterations count where the processor kept its pace, by no other sign."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from tests.loading import load

pacing = load("workloads/_kit/pace.py")

STEADY_S = 0.02


class Machine:
    """A clock that the loop and the iterations move, and how slow the processor is by it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slow: list[tuple[float, float, float]] = []
        """(from, to, times as slow) on the clock."""
        self.iterations: list[int] = []

    def slowness(self) -> float:
        return max([1.0, *(by for begin, end, by in self.slow if begin <= self.now < end)])

    def loop(self, loops: int) -> float:
        took = STEADY_S * self.slowness() * loops / 100_000
        self.now += took
        return took

    def iterate(self, number: int) -> None:
        self.iterations.append(number)
        self.now += 0.3


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    simulated = Machine()
    monkeypatch.setattr(pacing, "seconds_of", simulated.loop)
    monkeypatch.setattr(pacing.time, "monotonic", lambda: simulated.now)
    monkeypatch.delenv("MITIGAUGE_PACE", raising=False)
    return simulated


def pace(of_cases: list[float] | None = None) -> object:
    return pacing.Pace(100_000, of_cases or [])


def test_on_a_quiet_machine_no_iteration_is_taken_twice(machine: Machine) -> None:
    told = pacing.steady(5, machine.iterate, pace(), patience_s=45)
    assert machine.iterations == [1, 2, 3, 4, 5]
    assert told["counted"] == [1, 2, 3, 4, 5]
    assert told["slowdowns"] == [1.0] * 5


def test_what_ran_beside_a_slowed_processor_is_taken_again(machine: Machine) -> None:
    # From within the second iteration until after it.
    machine.slow = [(0.5, 0.7, 1.9)]
    told = pacing.steady(3, machine.iterate, pace(), patience_s=45)
    assert machine.iterations == [1, 2, 3, 4]
    assert told["counted"] == [1, 3, 4]
    assert told["slowdowns"] == [1.0, 1.9, 1.0, 1.0]


def test_an_iteration_waits_for_the_processor_to_recover(machine: Machine) -> None:
    machine.slow = [(0.0, 0.9, 1.9)]
    told = pacing.steady(2, machine.iterate, pace([STEADY_S]), patience_s=45)
    assert told["counted"] == machine.iterations == [1, 2]
    assert machine.now > 0.9


def test_meanwhile_it_gathers_iterations_to_choose_from_in_the_end(machine: Machine) -> None:
    machine.slow = [(0.0, 10.0, 1.9)]
    told = pacing.steady(2, machine.iterate, pace([STEADY_S]), patience_s=45)
    assert 7 <= len(machine.iterations) <= 12
    assert told["counted"] == machine.iterations[-2:]


def test_when_patience_ends_the_least_disturbed_ones_count(machine: Machine) -> None:
    machine.slow = [(0.0, 3.0, 1.9), (3.0, 6.0, 1.4), (6.0, 1e9, 1.7)]
    told = pacing.steady(3, machine.iterate, pace([STEADY_S]), patience_s=4)
    assert len(machine.iterations) >= 3
    assert machine.now < 4 + 3 * 0.4
    assert all(slowdown > told["limit"] for slowdown in told["slowdowns"])
    left_out = set(machine.iterations) - set(told["counted"])
    slowdowns = dict(enumerate(told["slowdowns"], start=1))
    assert max(slowdowns[n] for n in told["counted"]) <= min(
        [slowdowns[n] for n in left_out], default=9
    )


def test_a_processor_that_never_recovers_still_gives_every_iteration(machine: Machine) -> None:
    machine.slow = [(0.0, 1e9, 2.0)]
    told = pacing.steady(4, machine.iterate, pace([STEADY_S]), patience_s=2)
    assert told["counted"] == machine.iterations == [1, 2, 3, 4]
    assert told["slowdowns"] == [2.0] * 4


def test_an_arm_that_slows_the_loop_itself_changes_nothing_of_the_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choices = []
    for speed in (0.5, 1.0, 3.0):
        machine = Machine()
        # The clock moves alike, so that the disturbances meet the same iterations.
        machine.slow = [(0.5, 0.7, 1.9), (1.1, 1.4, 1.3)]
        monkeypatch.setattr(pacing.time, "monotonic", lambda m=machine: m.now)
        monkeypatch.setattr(
            pacing, "seconds_of", lambda loops, m=machine, s=speed: m.loop(loops) * s
        )
        choices.append(pacing.steady(3, machine.iterate, pace(), patience_s=45))
    assert len({str(choice["counted"]) for choice in choices}) == 1
    assert len({str(choice["slowdowns"]) for choice in choices}) == 1
    assert choices[0]["counted"] != [1, 2, 3]


def test_a_case_slow_from_end_to_end_is_known_by_those_before_it(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_PACE", str(tmp_path / "_pace.json"))
    first = pacing.pace_of_host(30)
    pacing.steady(2, machine.iterate, first, patience_s=45)
    first.remember()
    machine.slow = [(machine.now, 1e9, 1.9)]
    second = pacing.pace_of_host(30)
    assert second.loops == first.loops
    assert pacing.steady(2, machine.iterate, second, patience_s=1)["slowdowns"] == [1.9, 1.9]


def test_the_first_case_of_a_host_looks_longer_than_a_slow_spell(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_PACE", str(tmp_path / "_pace.json"))
    machine.slow = [(0.0, 10.0, 1.9)]
    found = pacing.pace_of_host(30)
    assert pacing.FIRST_LOOK_S <= machine.now < 30
    assert found.fastest == pytest.approx(STEADY_S * found.loops / 100_000)


def test_a_case_of_little_patience_looks_no_longer_than_that(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_PACE", str(tmp_path / "_pace.json"))
    assert pacing.pace_of_host(2).fastest > 0
    assert machine.now < 4


def test_only_the_last_cases_are_remembered(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "_pace.json"
    monkeypatch.setenv("MITIGAUGE_PACE", str(path))
    path.write_text(json.dumps({"loops": 100_000, "of_cases": [STEADY_S / 2]}))
    for number in itertools.count(1):
        known = pacing.pace_of_host(30)
        if known.fastest == STEADY_S:
            break
        known.timed()
        known.remember()
        assert number <= pacing.CASES
    assert len(json.loads(path.read_text())["of_cases"]) == pacing.CASES


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"loops": 1', '{"loops": 5, "of_cases": []}', '{"loops": 0, "of_cases": [1]}',
     '{"loops": 5, "of_cases": [NaN]}', '{"loops": 5, "of_cases": [-1]}', '{"loops": "x"}'],
)  # fmt: skip
def test_what_was_remembered_and_makes_no_sense_is_found_anew(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    path = tmp_path / "_pace.json"
    path.write_text(content)
    monkeypatch.setenv("MITIGAUGE_PACE", str(path))
    found = pacing.pace_of_host(30)
    assert found.loops > 5
    assert found.of_cases == []


def test_a_directory_that_cannot_be_written_costs_no_figure(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_PACE", str(tmp_path / "missing" / "_pace.json"))
    found = pacing.pace_of_host(30)
    found.remember()
    assert not (tmp_path / "missing").exists()


def test_the_real_loop_takes_about_as_long_as_it_should() -> None:
    loops = pacing.fitting_loops()
    assert min(pacing.seconds_of(loops) for _ in range(20)) > 0.2 * pacing.SAMPLE_S
