"""``make bench-truth``: change-point detectors on series whose changes are known."""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from bench.truth import confirmed, moving, real, real_table, table
from bench.truth.detectors import DETECTORS, OURS, SILENCE, Detector
from bench.truth.fetch import sources
from bench.truth.made import NULL, Frame, made
from bench.truth.measured import QUICK, Sizes, first_year, on_corpus, over_year
from bench.truth.metric import judged, total
from bench.truth.peers import SLOW, peers
from bench.truth.weeks import fleets
from mitigauge.core.stats.change_points import courses

SEED = 20261124
# Series of a small team, and the part of a fleet's series that step in a year.
SMALL_FLEET = 100
CHANGED = (0.0, 0.01, 0.05)
PARTS = ("made", "young", "real", "outlier", "confirmed", "speed")


def show(title: str, rows: Sequence[Sequence[str]]) -> None:
    """A table below its title."""
    print(f"\n{title}\n", *table.printed(rows), sep="\n", flush=True)


def promise(what: str, figure: float, limit: float, *, at_least: bool = False, unit: str) -> None:
    """Print a promise and whether it holds."""
    holds = figure >= limit if at_least else figure <= limit
    sign = "≥" if at_least else "≤"
    print(
        f"  {'holds' if holds else 'MISSED':<6} {what:<58} {figure:8.2f} {unit} ({sign} {limit:g})"
    )


def on_made(detectors: Sequence[Detector], sizes: Sizes) -> None:
    """The tables of made series."""
    corpus = on_corpus(detectors, sizes)
    years = over_year(detectors, sizes)
    show("Made series of 100 to 200 values, 95 % intervals", table.main_table(corpus, years))
    show("By kind: changes that were found", table.recalls(corpus))
    show("By kind: false alarms", table.false_alarms(corpus))
    show("By kind: a year's looks, nothing changes", table.yearly_alarms(years))
    show("By kind: a year's looks, a step", table.delays(years))


def young(count: int) -> None:
    """Series from their first values on, by ours and by the likelihood ratio."""
    found = first_year((SILENCE, OURS), count)
    title = f"The first year of a series, from six values on; {count} of each kind"
    show(title, table.shares_of_first_year(found, count))


def on_real(detectors: Sequence[Detector], folder: Path) -> None:
    """A table of each source that was fetched."""
    for name, series in real.read(folder).items():
        show(f"{sources()[name].title} ({len(series)})", real_table.table(series, detectors))
        if unmarked := sum(not any(each.marks) for each in series):
            title = f"Steps put into the {unmarked} of them that nobody marked, three places each"
            show(title, real_table.put_in_table(series, detectors))


def outliers(draws: int) -> None:
    """A step of five deviations with one wild value beside it."""
    kind = "outlier beside a step"
    series = made(kind, draws, Frame(100, 100))
    answers = OURS.answers([each.values for each in series])
    counts = total(judged(s, answer) for s, answer in zip(series, answers, strict=True))
    print(f"\nOurs, {draws:,} series of 100 values: {kind}; {counts.false} false alarms")
    promise("found", 100.0 * counts.recall, 99.0, at_least=True, unit="%")


def path_of_alarms(years: int) -> None:
    """What fresh boots of both kernels make of a year's alarms; *years*: series of each kind."""
    found = list(confirmed.paths(OURS, years, years // 2))
    rows = [["", "boots %", "series", "alarms", "confirmed", "% of series", "95 %", "boots a year"]]
    for path in found:
        low, high = path.share
        rows.append(
            [path.kind, f"{path.boot_noise:g}", str(path.series), str(path.alarms),
             str(path.confirmed), f"{100.0 * path.confirmed / path.series:.1f}",
             f"[{100.0 * low:.1f}, {100.0 * high:.1f}]", f"{path.boots:.1f}"]
        )  # fmt: skip
    show("A year's alarms for the worse, and fresh boots of both kernels", rows)
    in_weeks(found)
    null = list(moving.null_years(OURS, years, SMALL_FLEET))
    rows = [["builds / boots", "layouts", "alarms", "called worse", "confirmed", "weeks",
             "false weeks %", "95 %"]]  # fmt: skip
    rows += [
        [f"{of.scatter:g}", str(of.layouts), str(of.alarms), str(of.called_worse),
         str(of.confirmed), str(of.weeks), f"{100.0 * of.false_weeks / of.weeks:.1f}",
         f"[{100.0 * of.share[0]:.1f}, {100.0 * of.share[1]:.1f}]"]
        for of in null
    ]  # fmt: skip
    show("New builds, none of them slower: weeks whose confirmed is false (at most 5 %)", rows)


def in_weeks(found: Sequence[confirmed.Path]) -> None:
    """The false part of what the weekly reports of whole fleets call confirmed."""
    null = sum(path.series for path in found if path.kind in NULL) // len(confirmed.BOOT_NOISES)
    rows = [["boots %", "series", "step %", "weeks", "confirmed", "false", "held back",
             "false a week %", "95 %"]]  # fmt: skip
    for noise, changed in product(confirmed.BOOT_NOISES, CHANGED):
        for size in (SMALL_FLEET, int(null / (1.0 - changed))):
            of = fleets(found, noise, changed, size)
            low, high = of.interval
            rows.append(
                [f"{noise:g}", str(size), f"{100 * changed:g}", str(len(of.shares)),
                 str(of.true + of.false), str(of.false), str(of.held_back),
                 f"{100.0 * of.mean:.2f}", f"[{100.0 * low:.2f}, {100.0 * high:.2f}]"]
            )  # fmt: skip
    show("What weekly reports call confirmed (at most 5 % false)", rows)


def speed(series: int, length: int) -> None:
    """Many series on one core, a fifth of them with a step of two deviations."""
    rng = np.random.default_rng(SEED)
    values = rng.normal(size=(series, length))
    values[: series // 5, length // 2 :] += 2.0
    beside = fixed_loop()
    began = time.process_time()
    courses(list(values))
    seconds = time.process_time() - began
    print(f"\nOurs, {series:,} series of {length} values, a fifth with a step")
    promise("processor time", seconds, 60.0 * series * length / 1e6, unit="s")
    print(f"         {seconds / beside:.1f} × a fixed loop of {beside:.2f} s")


def fixed_loop() -> float:
    """What ten million additions take here, in seconds of processor time."""
    began = time.process_time()
    number = 0
    for each in range(10_000_000):
        number += each
    return time.process_time() - began


def with_peers(quick: bool) -> list[Detector]:
    """Ours and what stands beside it; other projects' only where they can be installed."""
    try:
        others = peers()
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"No detectors of other projects: {error}")
        return list(DETECTORS)
    return [*DETECTORS, *(each for each in others if not (quick and each.name in SLOW))]


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(prog="make bench-truth", description=main.__doc__)
    parser.add_argument("--quick", action="store_true", help="few series; a minute")
    parser.add_argument("--after", type=int, default=0, help="leave so many of each kind out")
    parser.add_argument("--years", type=int, help="series of each kind of the confirmed part")
    parser.add_argument("--data", type=Path, help="where bench.truth.fetch put real series")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--without-peers", action="store_true", help="installs nothing")
    options = parser.parse_args()
    parts = [options.only] if options.only else PARTS
    detectors = list(DETECTORS) if options.without_peers else with_peers(options.quick)
    if "made" in parts:
        on_made(detectors, replace(QUICK if options.quick else Sizes(), after=options.after))
    if "young" in parts:
        young(20 if options.quick else 300)
    if "real" in parts and not options.data:
        print("\nReal series: python -m bench.truth.fetch DIR gets them, --data DIR takes them in.")
    elif "real" in parts:
        on_real([each for each in detectors if each.name not in SLOW], options.data)
    if "outlier" in parts:
        outliers(100 if options.quick else 1000)
    if "confirmed" in parts:
        path_of_alarms(options.years or (20 if options.quick else 120))
    if "speed" in parts:
        speed(1000 if options.quick else 10_000, 100)


if __name__ == "__main__":
    main()
