"""From answers to the figures that are printed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.stats.noise import BLOCKS, simulate
from bench.stats.rules import BLOCKS_OF, RULES, Answers
from mitigauge.core.stats.boot_means import Floats
from mitigauge.core.stats.rates import rate_interval

EFFECTS = (1.0, 2.0)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many experiments are simulated."""

    null: int = 20_000
    changed: int = 4_000


@dataclass(frozen=True, slots=True)
class Setting:
    """What the experiments of a table are like."""

    noise: str
    boot_noise_percent: float
    contrasts: int


@dataclass(frozen=True, slots=True)
class Change:
    """How a rule takes a real slowdown of the first arm; shares of the experiments."""

    found: float  # called slower
    found_within_six: float
    called_same: float
    mean_blocks: float


@dataclass(frozen=True, slots=True)
class Figures:
    """One rule in one setting; shares of the experiments."""

    alarm: float  # any arm of a null experiment called changed
    alarm_upper: float  # upper 95 % bound
    null_same: float
    null_blocks: float
    changes: dict[float, Change]


def figures_of(rule: str, setting: Setting, sizes: Sizes, seed: int) -> Figures:
    """Simulate *setting* and judge it by *rule*; every rule sees the same experiments."""
    null = _answers(rule, setting, 0.0, sizes.null, seed)
    alarms = int((null.changed != 0).any(axis=1).sum())
    _, upper = rate_interval(alarms, sizes.null, level=0.90)
    return Figures(
        alarm=alarms / sizes.null,
        alarm_upper=upper,
        null_same=float(null.same[:, 0].mean()),
        null_blocks=float(null.blocks[:, 0].mean()),
        changes={
            effect: _change(_answers(rule, setting, effect, sizes.changed, seed))
            for effect in EFFECTS
        },
    )


def change_of(rule: str, setting: Setting, effect: float, experiments: int, seed: int) -> Change:
    """As :func:`figures_of`, for one effect in percent."""
    return _change(_answers(rule, setting, effect, experiments, seed))


def _change(answers: Answers) -> Change:
    found = answers.changed[:, 0] == 1
    blocks = answers.blocks[:, 0]
    return Change(
        found=float(found.mean()),
        found_within_six=float((found & (blocks <= 6)).mean()),
        called_same=float(answers.same[:, 0].mean()),
        mean_blocks=float(blocks.mean()),
    )


def _answers(rule: str, setting: Setting, effect: float, experiments: int, seed: int) -> Answers:
    blocks = BLOCKS_OF.get(rule, BLOCKS)
    parts = [
        RULES[rule](values) for values in experiments_of(setting, effect, experiments, seed, blocks)
    ]
    return Answers(
        np.concatenate([part.changed for part in parts]),
        np.concatenate([part.same for part in parts]),
        np.concatenate([part.blocks for part in parts]),
    )


def experiments_of(
    setting: Setting, effect: float, count: int, seed: int, blocks: int = BLOCKS
) -> Iterator[Floats]:
    """*count* experiments in chunks, so that 20,000 of 480 iterations need no gigabytes."""
    chunk = 5_000 * BLOCKS // blocks
    for start in range(0, count, chunk):
        yield simulate(
            setting.noise,
            experiments=min(chunk, count - start),
            contrasts=setting.contrasts,
            boot_noise_percent=setting.boot_noise_percent,
            effect_percent=effect,
            seed=(seed, start, round(10 * effect)),
            blocks=blocks,
        )
