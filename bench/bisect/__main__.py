"""``make bench-bisect``: right answers, stated confidence and boots beside others, simulated."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import repeat

import numpy as np

from bench.bisect import peers
from bench.bisect.ours import outcome_of
from bench.bisect.outcome import NONE, RANGE, RIGHT, SEVERAL, WRONG, Outcome, Shares
from bench.bisect.world import Scenario, World
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.stats.rates import rate_interval

OURS, PINPOINT = "Mitigauge", "Pinpoint 10→160"
PLAIN = Scenario("one culprit, 2 σ")
NOTHING = Scenario("no culprit", culprits=0)
# With the peers beside; the others are of what peers have no word for.
BESIDE = (
    PLAIN,
    NOTHING,
    Scenario("one culprit, 2 σ, the host's level wanders by 0.25 σ a boot", walk=0.25),
    Scenario("one culprit, 2 σ, one boot in twenty scatters tenfold", wild=0.05),
)
ALONE = (
    Scenario("no culprit, the host's level wanders by 0.25 σ a boot", culprits=0, walk=0.25),
    Scenario("no culprit, one boot in twenty scatters tenfold", culprits=0, wild=0.05),
    Scenario("two culprits, 2 σ each", culprits=2),
    Scenario("two culprits, 3 σ each", culprits=2, change=3.0),
    Scenario("one culprit, 2 σ, one point in five does not boot", broken=0.2),
    Scenario("one culprit, 2 σ, one candidate in three leaves the binary", equal=1 / 3),
    Scenario("one culprit, 2 σ, its revert undoes it", stays=0.0),
    Scenario("no culprit, reverts are offered", culprits=0, stays=0.0),
    Scenario("one culprit, 2 σ, its revert changes nothing (several is right)", stays=1.0),
    Scenario("one culprit, 4 σ, its revert undoes half (several is right)", change=4.0, stays=0.5),
    Scenario("one culprit, 2 σ, another candidate weighs 21 times as much", misled=21.0),
    Scenario("no culprit, one candidate weighs 21 times as much", culprits=0, misled=21.0),
    Scenario("one culprit, 4 σ", change=4.0),
    Scenario("eight candidates, counted time: one culprit, 40 σ", candidates=8, change=40.0),
)
HEADER = (
    f"{'rule':<24} {'right':>6} {'wrong':>6} {'none':>6} {'several':>8} {'range':>6} {'open':>6}"
    f" {'boots':>7} {'95 of 100':>10}   of those stated ≥ 95 %"
)


@dataclass(frozen=True, slots=True)
class Target:
    """A promise and what came of it."""

    what: str
    figure: float
    limit: float
    at_most: bool = False
    unit: str = "%"

    def line(self) -> str:
        sign = "≤" if self.at_most else "≥"
        outcome = "holds" if self.holds else "MISSED"
        bound = f"{sign} {self.limit:g} {self.unit}"
        return f"  {outcome:<6} {self.what:<64} {self.figure:8.2f} {self.unit} ({bound})"

    @property
    def holds(self) -> bool:
        return self.figure <= self.limit if self.at_most else self.figure >= self.limit


def one(rule: str, scenario: Scenario, seed: int, number: int) -> Outcome:
    """One bisection; every rule sees the same culprits and a host of its own."""
    world = World.of(scenario, (seed, number))
    if rule != OURS:
        return peers.rules()[rule](world)
    with np.errstate(all="raise", under="ignore"):
        return outcome_of(world)


def shares_of(
    pool: ProcessPoolExecutor, rule: str, scenario: Scenario, seed: int, count: int
) -> Shares:
    """*count* bisections of one scenario by one rule."""
    work = partial(one, rule, scenario, seed)
    outcomes: list[Outcome] = []
    for done, outcome in enumerate(pool.map(work, range(count), chunksize=5), 1):
        outcomes.append(outcome)
        if sys.stderr.isatty():
            print(f"\r{rule}: {done} of {count}", end="\x1b[K", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    return Shares.of(outcomes)


def row(rule: str, shares: Shares) -> str:
    """One line of a table; shares in percent."""
    words = (RIGHT, WRONG, NONE, SEVERAL, RANGE, "open")
    widths = (6, 6, 6, 8, 6, 6)
    cells = " ".join(
        f"{100 * shares.share[word]:{width}.1f}" for word, width in zip(words, widths, strict=True)
    )
    stated = ""
    if shares.named:
        low, high = rate_interval(shares.named_right, shares.named, level=0.95)
        stated = (
            f"{100 * shares.named_right / shares.named:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
            f" right, {100 * shares.stated:.1f} % stated"
        )
    return f"{rule:<24} {cells} {shares.boots:7.1f} {shares.most:10.0f}   {stated}"


def print_tables(
    pool: ProcessPoolExecutor, counts: Sequence[int], seed: int
) -> dict[tuple[str, str], Shares]:
    """All scenarios; returns shares by rule and scenario."""
    beside, alone = counts
    found = {}
    for scenario, count in [*zip(BESIDE, repeat(beside)), *zip(ALONE, repeat(alone))]:
        print(f"\n{scenario.name} ({count} bisections, {scenario.candidates} candidates)\n{HEADER}")
        for rule in (OURS, *(peers.rules() if scenario in BESIDE else ())):
            shares = shares_of(pool, rule, scenario, seed, count)
            found[rule, scenario.name] = shares
            print(row(rule, shares), flush=True)
    return found


def targets(found: dict[tuple[str, str], Shares]) -> Iterator[Target]:
    """What Mitigauge promises."""
    ours, nothing = found[OURS, PLAIN.name], found[OURS, NOTHING.name]
    schedule = found[PINPOINT, PLAIN.name]
    yield Target("one culprit, 2 σ: right", 100 * ours.share[RIGHT], 98.0)
    calibrated = 100 * ours.named_right / max(ours.named, 1)
    yield Target("  of those named at 95 % or more: right", calibrated, 93.0)
    yield Target("no culprit: none of these, or refused", 100 * nothing.share[NONE], 99.0)
    ratio = 100 * ours.boots / schedule.boots
    yield Target("boots beside the schedule of 10 to 160 attempts", ratio, 50.0, at_most=True)


def main() -> None:
    """Print tables and targets."""
    parser = argparse.ArgumentParser(prog="make bench-bisect", description=main.__doc__)
    parser.add_argument("--count", type=int, default=1000, help="bisections a row, peers beside")
    parser.add_argument("--alone", type=int, default=1000, help="bisections a row, ours alone")
    parser.add_argument("--quick", action="store_true", help="100 and 50 of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--seed", type=int, default=20261124)
    options = parser.parse_args()
    counts = (100, 50) if options.quick else (options.count, options.alone)
    sys.path.append(str(REPOSITORY / ".mitigauge/peers"))
    if peers.bayesect_module() is None:
        print("git-bayesect is not installed: its rows are left out.")
    print(
        "All shares in percent. right: the one culprit was named; none: no culprit, or refused at"
        "\nthe ends; several: more than one; range: one of those that skipped points hide; open:"
        "\nundecided. Boots: mean, and what 95 of 100 bisections stay within."
    )
    begun = time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        found = print_tables(pool, counts, options.seed)
    print(f"\nTargets (after {time.monotonic() - begun:.0f} s)")
    reached = list(targets(found))
    for target in reached:
        print(target.line())
    missed = sum(not target.holds for target in reached)
    print(f"\n{len(reached) - missed} of {len(reached)} targets hold.")


if __name__ == "__main__":
    main()
