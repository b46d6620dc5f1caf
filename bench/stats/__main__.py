"""``make bench-stats``: error rates and cost of our rules beside others, from simulation."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.stats import equal_power, factorial, layouts
from bench.stats.bound import fewest_blocks
from bench.stats.noise import BLOCKS, ITERATIONS, NOISES, simulate
from bench.stats.rules import RULES
from bench.stats.table import Figures, Setting, Sizes, change_of, figures_of
from mitigauge.core.stats.boundaries import STANDARD_LOOKS
from mitigauge.core.stats.verdicts import Question, judge_many

BOOT_NOISES = (0.35, 0.7, 1.4)
HEADER = (
    f"{'rule':<22} {'alarm':>7} {'≤95 %':>7} {'same':>6} {'blocks':>7}"
    f" {'found':>7} {'blocks':>7} {'found':>7} {'blocks':>7}"
)
GROUPS = f"{'':<22} {'unchanged':^30} {'1 % slower':^16} {'2 % slower':^15}"


@dataclass(frozen=True, slots=True)
class Target:
    """A promise and what came of it."""

    what: str
    figure: float
    limit: float
    at_most: bool
    unit: str = "%"

    @property
    def holds(self) -> bool:
        return self.figure <= self.limit if self.at_most else self.figure >= self.limit

    def line(self) -> str:
        sign = "≤" if self.at_most else "≥"
        outcome = "holds" if self.holds else "MISSED"
        bound = f"{sign} {self.limit:g} {self.unit}"
        return f"  {outcome:<6} {self.what:<76} {self.figure:8.2f} {self.unit:<6} ({bound})"


def row(rule: str, figures: Figures) -> str:
    """One line of the table; shares in percent."""
    changes = " ".join(
        f"{100 * change.found:7.1f} {change.mean_blocks:7.1f}"
        for change in figures.changes.values()
    )
    return (
        f"{rule:<22} {100 * figures.alarm:7.2f} {100 * figures.alarm_upper:7.2f}"
        f" {100 * figures.null_same:6.1f} {figures.null_blocks:7.1f} {changes}"
    )


def print_tables(sizes: Sizes, contrasts: int, seed: int) -> dict[Setting, Figures]:
    """Every rule in every setting; returns our own figures."""
    own = {}
    for noise in NOISES:
        for boot_noise in BOOT_NOISES:
            setting = Setting(noise, boot_noise, contrasts)
            print(f"\n{noise} noise, {boot_noise} % a boot\n{GROUPS}\n{HEADER}", flush=True)
            for rule in RULES:
                figures = figures_of(rule, setting, sizes, seed)
                print(row(rule, figures), flush=True)
                if rule == "Mitigauge":
                    own[setting] = figures
    return own


def targets(own: dict[Setting, Figures], sizes: Sizes, seed: int) -> Iterator[Target]:
    """What Mitigauge promises, from the figures of the tables and a few more."""
    for setting, figures in own.items():
        limit = 1.0 if setting.noise == "Gaussian" else 2.0
        where = f"{setting.noise}, {setting.boot_noise_percent} %"
        yield Target(f"false alarms, all looks and arms: {where}", 100 * figures.alarm, limit, True)
        if setting.noise == "Gaussian":
            upper = 100 * figures.alarm_upper
            yield Target(f"  its upper 95 % bound: {where}", upper, 1.5, True)
    contrasts = {setting.contrasts for setting in own}
    for arms in sorted({1, *contrasts}):
        quiet = Setting("Gaussian", 0.35, arms)
        figures = own.get(quiet) or figures_of("Mitigauge", quiet, sizes, seed)
        yield from _quiet_targets(figures, f"{arms} arm{'s' * (arms > 1)} beside the baseline")
        # At 1.4 % a change of 2 σ is far beyond δ, so that no verdict of "same" shortens it.
        noisy = Setting("Gaussian", 1.4, arms)
        for deviations in (2.0, 2.5, 3.0):
            effect = deviations * noisy.boot_noise_percent
            change = change_of("Mitigauge", noisy, effect, sizes.changed, seed)
            what = f"blocks at a change of {deviations:g} σ of a boot, {arms} beside the baseline"
            yield Target(what, change.mean_blocks, BLOCKS / 2, True, "blocks")


def _quiet_targets(figures: Figures, where: str) -> Iterator[Target]:
    one, two = figures.changes[1.0], figures.changes[2.0]
    yield Target(f"unchanged called same at 0.35 %, {where}", 100 * figures.null_same, 99.0, False)
    yield Target(f"  blocks that takes, {where}", figures.null_blocks, 8.0, True, "blocks")
    yield Target(f"1 % found at 0.35 %, {where}", 100 * one.found, 95.0, False)
    found = 100 * two.found_within_six
    yield Target(f"2 % found within 6 blocks at 0.35 %, {where}", found, 97.0, False)


def speed(seed: int) -> Target:
    """Seconds to judge 3,000 cases × 3 arms × 16 blocks × 5 iterations, best of three."""
    values = simulate(
        "Gaussian",
        experiments=3_000,
        contrasts=2,
        boot_noise_percent=0.7,
        effect_percent=0.5,
        seed=(seed,),
    )[..., :5]
    cases = [
        Question({str(arm): dict(enumerate(boots)) for arm, boots in enumerate(case)}, "lower")
        for case in values.tolist()
    ]
    seconds = []
    for _ in range(3):
        begun = time.process_time()
        judge_many(cases, baseline="0")
        seconds.append(time.process_time() - begun)
    return Target("3,000 cases × 3 arms × 16 blocks × 5 iterations", min(seconds), 2.0, True, "s")


def print_costs(own: dict[Setting, Figures], sizes: Sizes, seed: int) -> None:
    """Blocks beside a fixed number of them that finds as much, as the ratio of both."""
    print("\nBlocks to a verdict beside a fixed number that finds as much at the same error")
    ours = (
        (setting, effect, change)
        for setting, figures in own.items()
        if setting.noise == "Gaussian"
        for effect, change in figures.changes.items()
    )
    for line in equal_power.lines(ours, sizes.changed, seed):
        print(line, flush=True)


def print_bounds() -> None:
    """What no rule can beat with one arm beside the baseline, whatever way it spends its α."""
    print("\nFewest blocks that any rule at 1 % can take on average, one arm beside the baseline")
    for deviations in (2.0, 2.5, 3.0):
        ours = fewest_blocks(deviations, STANDARD_LOOKS)
        every = fewest_blocks(deviations, range(2, BLOCKS + 1))
        print(f"  {deviations:g} σ of a boot: {ours:.2f} at our looks, {every:.2f} at any block")


def main() -> None:
    """Print tables and targets."""
    parser = argparse.ArgumentParser(prog="make bench-stats", description=main.__doc__)
    parser.add_argument("--null", type=int, default=20_000, help="unchanged experiments a setting")
    parser.add_argument("--changed", type=int, default=4_000, help="changed ones, for each effect")
    parser.add_argument("--contrasts", type=int, default=2, help="arms beside the baseline")
    parser.add_argument("--seed", type=int, default=20261121)
    options = parser.parse_args()
    sizes = Sizes(options.null, options.changed)
    print(
        f"{options.null} unchanged and 2 × {options.changed} changed experiments a row, seed"
        f" {options.seed}; {options.contrasts} arms beside the baseline, the first is changed;"
        f" at most {BLOCKS} blocks of {ITERATIONS} iterations (a block is one boot of each arm)."
        "\nalarm: any arm of an unchanged experiment called changed; same, found, blocks: the"
        " first arm's. All shares in percent."
    )
    own = print_tables(sizes, options.contrasts, options.seed)
    print_costs(own, sizes, options.seed)
    print("\n" + "\n".join(factorial.lines(max(100, options.null // 10), options.seed)))
    print("\nTargets")
    alarm = layouts.print_table(max(100, options.null // 5), options.seed)
    false = layouts.draws(20, 3, 200, options.seed)
    reached = [
        *targets(own, sizes, options.seed),
        Target("kernels against kernels, false alarms, any number of layouts", alarm, 1.0, True),
        Target("20 builds, 200 draws of two sets of 3: false verdicts", false, 0.0, True, "of 200"),
        speed(options.seed),
    ]
    for target in reached:
        print(target.line())
    print_bounds()
    missed = sum(not target.holds for target in reached)
    print(f"\n{len(reached) - missed} of {len(reached)} targets hold.")


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
