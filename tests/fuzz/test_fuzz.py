"""A few hundred malformed inputs of each kind; `make fuzz` makes 100,000."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.harness import MEMORY_MB, Generator, Tally, attempt, generators, run
from tests.measuring import measure


def tally_of(name: str, home: Path) -> Tally:
    """What becomes of the short form's inputs of the generator *name*."""
    [generator] = generators([name])
    tally = Tally()
    for index in range(generator.short):
        attempt(generator, 7, index, home, tally)
    return tally


@pytest.mark.measured
@pytest.mark.parametrize("generator", generators(), ids=lambda generator: generator.name)
def test_malformed_inputs_are_refused_or_taken_and_nothing_else(
    generator: Generator, home: Path
) -> None:
    tally: Tally = measure(tally_of, generator.name, home).answer
    assert not tally.failures, tally.failures[0][1]
    assert tally.words["refused"] > generator.short / 10
    assert tally.words["taken"] > 0


def failing(rng: object, scratch: Path) -> str:
    raise KeyError("no MitigaugeError")


def tally_of_failing(home: Path) -> Tally:
    tally = Tally()
    attempt(Generator("failing", failing, 1.0), 1, 5, home, tally)
    return tally


def test_the_harness_counts_what_is_no_refusal(home: Path) -> None:
    tally: Tally = measure(tally_of_failing, home).answer
    assert (tally.inputs, tally.failed, tally.failures[0][0]) == (1, 1, 5)
    assert "no MitigaugeError" in tally.failures[0][1]


@pytest.mark.measured
def test_processes_do_all_inputs_and_tell_what_they_took() -> None:
    found = generators(["results"])
    *_, last = run(found, count=101, seconds=60, seed=3, processes=2)
    assert (last["results"].inputs, last["results"].failures) == (101, [])
    assert 10 < last["results"].peak_mb < MEMORY_MB
