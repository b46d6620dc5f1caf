"""Mitigauge's own core against a simulated world, step by step as its driver does."""

from __future__ import annotations

from dataclasses import dataclass, field

from bench.bisect.outcome import NONE, OPEN, RANGE, SEVERAL, WRONG, Outcome, named
from bench.bisect.world import SIGMA, World
from mitigauge.tracking.bisect.decision import next_action
from mitigauge.tracking.bisect.model import (
    Action,
    Answer,
    Culprit,
    History,
    Measure,
    NoneOfThese,
    Observed,
    Question,
    Refused,
    SeveralCulprits,
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How one bisection ended."""

    answer: Answer
    boots: int
    steps: int
    built: int


@dataclass(slots=True)
class Driver:
    """Carries out what the core asks for."""

    world: World
    question: Question
    observed: list[Observed] = field(default_factory=list)
    skipped: dict[int, str] = field(default_factory=dict)
    verified: dict[str, int] = field(default_factory=dict)
    steps: int = 0

    @property
    def history(self) -> History:
        return History(tuple(self.observed), self.skipped, self.verified)

    def carry_out(self, asked: Measure) -> None:
        self.steps += 1
        broken = [point for point in asked.points if point in self.world.broken]
        if broken:
            self.skipped.update(dict.fromkeys(broken, "does not boot"))
            return
        for block in range(asked.blocks):
            group = f"host/{self.steps}/{block}"
            if asked.verifies is not None:
                self.verified[group] = asked.verifies
            for point in self.world.rng.permutation(asked.points).tolist():
                self.observed.append(Observed(point, group, self.world.boot(point, asked.verifies)))


def question_of(world: World, *, budget: int = 400, confidence: float = 0.95) -> Question:
    """The question as a person would put it: changes of half a standard deviation do not matter."""
    return Question(
        priors=world.priors,
        higher_is_worse=True,
        minimum_effect=0.5 * SIGMA,
        budget_boots=budget,
        confidence=confidence,
        revert=world.scenario.stays is not None,
    )


def bisect(world: World, *, budget: int = 400, confidence: float = 0.95) -> Ended:
    """From the first block to the answer."""
    driver = Driver(world, question_of(world, budget=budget, confidence=confidence))
    action: Action = next_action(driver.question, driver.history)
    while isinstance(action, Measure):
        driver.carry_out(action)
        action = next_action(driver.question, driver.history)
    return Ended(action, world.boots, driver.steps, len(world.built))


def outcome_of(world: World) -> Outcome:
    """In the words that all rules share.

    *several* needs both culprits among those told, or the one whose revert fails.
    """
    ended = bisect(world)
    answer, culprits = ended.answer, set(world.culprits)
    if isinstance(answer, Culprit):
        return named(world, answer.candidate, answer.confidence)
    if isinstance(answer, NoneOfThese | Refused):
        return Outcome(NONE, ended.boots)
    if isinstance(answer, SeveralCulprits):
        told = culprits <= set(answer.candidates)
        told = told and (len(culprits) > 1 or (world.scenario.stays or 0.0) > 0)
        return Outcome(SEVERAL if told else WRONG, ended.boots)
    if answer.skipped and culprits:
        return Outcome(RANGE if culprits <= set(answer.candidates) else WRONG, ended.boots)
    return Outcome(OPEN, ended.boots)
