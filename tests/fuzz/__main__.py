"""``make fuzz``: malformed specs, archives, captures and results, 100,000 in all."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.harness import (
    MEMORY_MB,
    SECONDS,
    Generator,
    Tally,
    attempt,
    generators,
    run,
    use_home,
)

REPORT_S = 20.0


def main() -> int:
    """Exit code 1 if any input was a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", help="generators; all, if none is named")
    parser.add_argument("--count", type=int, default=100_000, help="inputs of all generators")
    parser.add_argument("--seconds", type=float, default=24 * 3600.0, help="end after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--repeat", type=int, metavar="INDEX", help="one input of one generator")
    options = parser.parse_args()
    found = generators(options.names)
    if missing := set(options.names) - {generator.name for generator in found}:
        parser.error(f"no generator is called {', '.join(sorted(missing))}")
    if options.repeat is not None:
        return repeated(found, options.seed, options.repeat)
    began = told = time.monotonic()
    tallies: dict[str, Tally] = {}
    for tallies in run(
        found, count=options.count, seconds=options.seconds, seed=options.seed,
        processes=options.processes,
    ):  # fmt: skip
        if time.monotonic() - told > REPORT_S:
            told = time.monotonic()
            inputs = sum(tally.inputs for tally in tallies.values())
            failed = sum(tally.failed for tally in tallies.values())
            print(f"{told - began:6.0f} s  {inputs} inputs, {failed} failures", flush=True)
    return concluded(tallies, options.seed, time.monotonic() - began)


def repeated(found: list[Generator], seed: int, index: int) -> int:
    """One input again, by its number."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="mitigauge-fuzz-") as directory:
        use_home(Path(directory))
        for generator in found:
            attempt(generator, seed, index, Path(directory), tally)
    return concluded({"repeated": tally}, seed, tally.slowest_s)


def concluded(tallies: dict[str, Tally], seed: int, took_s: float) -> int:
    """Print the table and every failure; 1 if there is one."""
    for name, tally in tallies.items():
        for index, why in tally.failures:
            print(f"\n{name}, input {index}: python -m tests.fuzz {name} --seed {seed} "
                  f"--repeat {index}\n{why}")  # fmt: skip
    print(f"\n{'generator':<12}{'inputs':>9}{'refused':>9}{'taken':>9}{'other':>9}{'failures':>10}"
          f"{'memory':>10}{'slowest':>10}")  # fmt: skip
    whole = Tally()
    for name, tally in tallies.items():
        print(_row(name, tally))
        whole.add(tally)
    print(_row("all", whole))
    print(f"{took_s:.0f} s; at most {MEMORY_MB} MB and {SECONDS:g} s an input are allowed")
    return 1 if whole.failed else 0


def _row(name: str, tally: Tally) -> str:
    refused, taken = tally.words["refused"], tally.words["taken"]
    other = sum(tally.words.values()) - refused - taken
    return (
        f"{name:<12}{tally.inputs:>9}{refused:>9}{taken:>9}{other:>9}{tally.failed:>10}"
        f"{tally.peak_mb:>7.0f} MB{tally.slowest_s:>8.2f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
