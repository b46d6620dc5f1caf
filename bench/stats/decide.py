"""Whether as many blocks as are said to decide what is undecided do decide it, by arms.

python -m bench.stats.decide [--experiments 200]
"""

from __future__ import annotations

import argparse
import math

from bench.stats.noise import simulate
from mitigauge.analysis.verdicts.more_blocks import blocks_to_decide
from mitigauge.core.stats.question import ArmVerdict, Question
from mitigauge.core.stats.terms import DELTA_PERCENT
from mitigauge.core.stats.verdicts import judge_many

EFFECTS = (0.0, 0.25, 0.5, 1.0, 1.5)
ARMS = (1, 2, 3, 5)
FIRST = (4, 8, 16)
MOST = 64


def judged(
    effect: float, count: int, blocks: int, arms: int, seed: tuple[int, ...], noise: float = 1.0
) -> list[ArmVerdict]:
    """What is said of the first arm, slower by *effect* percent, of so many experiments."""
    values = simulate(
        "Gaussian", experiments=count, contrasts=arms, boot_noise_percent=noise,
        effect_percent=effect, seed=seed, blocks=blocks,
    ).mean(axis=3)  # fmt: skip
    cases = [
        Question({str(arm): dict(enumerate(of)) for arm, of in enumerate(case)}, "lower")
        for case in values.tolist()
    ]
    return [answer["1"] for answer in judge_many(cases, baseline="0")]


def by_square_root(effect: float, detectable: float, blocks: int) -> int | None:
    """The rule of thumb beside ours: what is detected falls with the root of the blocks."""
    distances = [abs(effect), DELTA_PERCENT - abs(effect)]
    least = min(blocks * (detectable / each) ** 2 for each in distances if each > 0)
    return None if least > MOST else max(math.ceil(least), blocks + 1)


def kept(
    arms: int, first: int, experiments: int, noise: float
) -> dict[str, list[tuple[int, bool]]]:
    """Of undecided experiments: the blocks that each rule says, and whether they decided."""
    outcomes: dict[str, list[tuple[int, bool]]] = {"ours": [], "root": []}
    for effect in EFFECTS:
        size = int(100 * effect)
        for number, cell in enumerate(
            judged(effect, experiments, first, arms, (1, arms, size), noise)
        ):
            if cell.verdict not in (None, "undecided") or cell.mde_percent is None:
                continue
            assert cell.effect_percent is not None
            told = {
                "ours": blocks_to_decide(
                    effect=cell.effect_percent, detectable=cell.mde_percent, blocks=first,
                    arms=arms, margin=DELTA_PERCENT, most=MOST,
                ),
                "root": by_square_root(cell.effect_percent, cell.mde_percent, first),
            }  # fmt: skip
            for rule, blocks in told.items():
                if blocks is not None:
                    [again] = judged(effect, 1, blocks, arms, (2, arms, size, number), noise)
                    outcomes[rule].append((blocks, again.verdict not in (None, "undecided")))
    return outcomes


def main() -> None:
    """Print the share that was decided, for each number of arms and of first blocks."""
    parser = argparse.ArgumentParser(prog="bench.stats.decide", description=main.__doc__)
    parser.add_argument("--experiments", type=int, default=100, help="for each effect")
    parser.add_argument("--boot-noise", type=float, default=1.0, help="percent")
    options = parser.parse_args()
    print("arms  first   ours: told  decided  blocks   by the root: told  decided  blocks")
    for arms in ARMS:
        for first in FIRST:
            outcomes = kept(arms, first, options.experiments, options.boot_noise)
            texts = [_text(outcomes[rule]) for rule in ("ours", "root")]
            print(f"{arms:4}  {first:5}   {texts[0]}            {texts[1]}", flush=True)


def _text(of: list[tuple[int, bool]]) -> str:
    if not of:
        return f"{0:10}"
    decided = 100 * sum(each for _, each in of) / len(of)
    return f"{len(of):10}  {decided:5.0f} %  {sum(blocks for blocks, _ in of) / len(of):6.1f}"


if __name__ == "__main__":
    main()
