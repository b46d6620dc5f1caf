"""``make bench-profiles``: folding and comparing profiles beside the tools people use."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from bench.profiles import diffs, folds, stacks

SEED = 20261121
MEGABYTE = 1 << 20


def target(what: str, figure: float, limit: float, *, at_least: bool = False, unit: str) -> None:
    """Print a promise and whether it holds."""
    holds = figure >= limit if at_least else figure <= limit
    sign = "≥" if at_least else "≤"
    state = "holds" if holds else "MISSED"
    print(f"  {state:<6} {what:<58} {figure:9.2f} {unit} ({sign} {limit:g})", flush=True)


def fold(scratch: Path, megabytes: int, tries: int) -> None:
    """A synthetic capture from a file, this machine's own through a pipe, and 1 GB for memory."""
    paths = stacks.universe(SEED)
    share = stacks.weights(len(paths), SEED)
    capture = scratch / "capture.txt"
    unit = stacks.perf_script(paths, share, 40_000, SEED)
    copies = max(1, round(megabytes * MEGABYTE / len(unit)))
    _write(capture, unit, copies)
    size = capture.stat().st_size / MEGABYTE
    print(f"\nFolding {size:.0f} MiB from a file (best of {tries})")
    timed = _table(scratch, lambda command: folds.fold_file(command, capture, tries), size)
    _fold_targets(timed, "stackcollapse-perf.pl", "file")
    data = scratch / "perf.data"
    if folds.record(data, 10):
        print("\nFolding what `perf script` prints of 10 s of this machine, through a pipe")
        timed = _table(scratch, lambda command: folds.fold_pipe(command, data, tries), None)
        _fold_targets(timed, "inferno-collapse-perf", "pipe")
    else:
        print("\nperf cannot record here: the pipe is not measured")
    _write(capture, unit, round(1024 * MEGABYTE / len(unit)))
    print("\nMemory for 1 GiB")
    peak = folds.fold_file(folds.OURS, capture, 1).peak_mb
    target("peak memory", peak, 200, unit="MB")
    capture.unlink()


def _write(path: Path, unit: bytes, copies: int) -> None:
    with path.open("wb") as out:
        for _ in range(copies):
            out.write(unit)


def _table(scratch: Path, run, size: float | None) -> dict[str, folds.Timed]:  # type: ignore[no-untyped-def]
    del scratch
    timed: dict[str, folds.Timed] = {}
    for name, command in folds.tools().items():
        if command is None:
            print(f"  {name:<24} not installed")
            continue
        timed[name] = run(command)
        speed = f"{size / timed[name].seconds:8.0f} MiB/s" if size else ""
        ratio = timed[name].seconds / timed["mitigauge profile fold"].seconds
        print(
            f"  {name:<24} {timed[name].seconds:7.2f} s {speed}"
            f" {timed[name].peak_mb:6.0f} MB  ours × {ratio:.2f}",
            flush=True,
        )
    return timed


def _fold_targets(timed: dict[str, folds.Timed], peer: str, source: str) -> None:
    ours = timed["mitigauge profile fold"]
    perl = timed.get("stackcollapse-perf.pl")
    if perl:
        same = folds.same_counts(ours.folded, perl.folded)
        print(f"  counts are {'the same' if same else 'NOT THE SAME'} as stackcollapse-perf.pl's")
    if peer not in timed:
        return
    if source == "file":
        ratio = timed[peer].seconds / ours.seconds
        target(f"speed beside {peer}", ratio, 7.0, at_least=True, unit="×")
    else:
        target(f"time beside {peer}", ours.seconds / timed[peer].seconds, 1.2, unit="×")


def compare(scratch: Path, tries: int) -> None:
    """2 × 25 profiles of 120,000 samples in a tree of 348,000 nodes, from PostgreSQL."""
    rng = np.random.default_rng(SEED)
    paths = stacks.universe(SEED)
    share = stacks.weights(len(paths), SEED)
    a = stacks.boots(paths, share, 25, rng)
    b = stacks.boots(paths, share, 25, rng)
    distinct = np.mean([len(boot) for boot in (*a, *b)])
    with diffs.database(scratch / "home") as engine:
        diffs.store(engine, "whole", [dict.fromkeys(paths, 1)])
        storing = diffs.store(engine, "a", a) + diffs.store(engine, "b", b)
        seconds = diffs.diff_seconds(engine, tries)
        own, functions = diffs.bytes_of_a_profile(engine)
    peer = diffs.flame_graph_seconds(a, b, scratch)
    print(f"\nComparing 2 × 25 profiles of 120,000 samples, {distinct:,.0f} stacks each")
    print(f"  storing one: {1000 * float(np.median(storing)):.0f} ms")
    print(f"  diff, median: {1000 * float(np.median(seconds)):.1f} ms of {tries}")
    p95 = float(np.quantile(seconds, 0.95))
    target("diff, 95th percentile", 1000 * p95, 60, unit="ms")
    if peer is None:
        print("  difffolded.pl | flamegraph.pl   not installed")
    else:
        print(f"  difffolded.pl | flamegraph.pl: {1000 * peer:.0f} ms")
        target("speed beside them", peer / p95, 20, at_least=True, unit="×")
    target("stacks of one profile, stored", own / 1000, 20, unit="KB")
    print(f"  its functions: {functions / 1000:.1f} KB")


def significance(experiments: int) -> None:
    """How often functions that do not differ are called different."""
    flagged, discovered = diffs.false_alarms(experiments, SEED)
    print(f"\nA/A, 10 against 10 boots, 3,000 functions, {experiments} times")
    target("functions at p < 0.01", 100 * flagged, 1.5, unit="%")
    target("diffs with any q < 0.05", 100 * discovered, 5, unit="%")


def main() -> None:
    """Print every figure with its peer's."""
    parser = argparse.ArgumentParser(prog="make bench-profiles", description=main.__doc__)
    parser.add_argument("--megabytes", type=int, default=200, help="of the capture from a file")
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--diffs", type=int, default=40)
    parser.add_argument("--experiments", type=int, default=400, help="A/A comparisons")
    parser.add_argument(
        "--only", choices=["fold", "compare", "significance"], help="one part instead of all"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mitigauge-bench-") as name:
        scratch = Path(name)
        if options.only in (None, "fold"):
            fold(scratch, options.megabytes, options.tries)
        if options.only in (None, "compare"):
            compare(scratch, options.diffs)
        if options.only in (None, "significance"):
            significance(options.experiments)


if __name__ == "__main__":
    main()
