"""Finds the levels in ``boundaries.json`` by simulating null experiments.

With complete blocks and Gaussian noise the statistics of all looks depend on
nothing but the number of arms, so one simulation serves every noise and metric.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from mitigauge.core.stats.boot_means import Floats
from mitigauge.core.stats.boundaries import (
    INTERVAL_WEIGHTS,
    MOST_CONTRASTS,
    STANDARD_LOOKS,
    TABLE,
    WEIGHTS,
    looks_until,
)
from mitigauge.core.stats.dunnett import Loadings, p_values
from mitigauge.core.stats.terms import INTERVAL_LEVEL

ALPHAS = (0.01, 0.05)
# Aim a little lower, so that the simulation's own error does not carry the level above α.
AIM = 0.96
_CHUNK = 20_000


def smallest_p(contrasts: int, experiments: int, rng: np.random.Generator) -> Floats:
    """The smallest Dunnett p over the arms at each standard look: ``[experiment, look]``."""
    parts = []
    for start in range(0, experiments, _CHUNK):
        noise = rng.standard_normal(
            (min(_CHUNK, experiments - start), contrasts + 1, STANDARD_LOOKS[-1])
        )
        parts.append(_smallest_p(noise))
    return np.concatenate(parts)


def _smallest_p(y: Floats) -> Floats:
    """Running sums give every look's block model at once: y is ``[experiment, arm, block]``."""
    arms = y.shape[1]
    arm_sums = np.cumsum(y, axis=2)
    squares = np.cumsum(np.square(y).sum(axis=1), axis=1)
    block_squares = np.cumsum(np.square(y.sum(axis=1)), axis=1) / arms
    columns = []
    for blocks in STANDARD_LOOKS:
        totals = arm_sums[:, :, blocks - 1]
        grand = np.square(totals.sum(axis=1)) / (arms * blocks)
        residual = (
            squares[:, blocks - 1]
            - block_squares[:, blocks - 1]
            - np.square(totals).sum(axis=1) / blocks
            + grand
        )
        df = (arms - 1) * (blocks - 1)
        error = np.sqrt(residual / df * 2.0 / blocks)
        t = np.abs(totals[:, 1:] - totals[:, :1]).max(axis=1) / blocks / error
        columns.append(_p_by_interpolation(t, df, arms - 1))
    return np.stack(columns, axis=1)


def _p_by_interpolation(t: Floats, df: int, contrasts: int) -> Floats:
    """p from a fine grid: smooth in log-log, so that 600 integrations serve all experiments."""
    grid = np.geomspace(0.02, 300.0, 600)
    loadings: Loadings = (0.0,) if contrasts == 1 else (0.5**0.5,) * contrasts
    log_p = np.log(np.maximum(p_values(grid, df, loadings), 1e-300))
    return np.exp(np.interp(np.log(np.maximum(t, 0.02)), np.log(grid), log_p))


def levels_of(
    smallest: Floats, alpha: float, spread: Sequence[float] = WEIGHTS
) -> Iterator[tuple[int, list[float]]]:
    """For each standard budget of more than one look: its blocks and the looks' levels.

    *spread*: how the error is spread over the standard looks.
    """
    for count in range(2, len(STANDARD_LOOKS) + 1):
        weights = np.array(spread[:count])
        factor = np.quantile((smallest[:, :count] / weights).min(axis=1), alpha * AIM)
        planned = STANDARD_LOOKS[count - 1]
        assert len(looks_until(planned)) == count
        yield planned, [float(f"{level:.5g}") for level in weights * factor]


def regenerate(experiments: int, seed: int) -> dict[str, object]:
    """The whole table, with what it was made from."""
    rows, intervals = [], []
    for contrasts in range(1, MOST_CONTRASTS + 1):
        print(f"{contrasts} of {MOST_CONTRASTS} arms", flush=True)
        rng = np.random.default_rng([seed, contrasts])
        smallest = smallest_p(contrasts, experiments, rng)
        rows += [
            {"alpha": alpha, "contrasts": contrasts, "planned_blocks": planned, "levels": levels}
            for alpha in ALPHAS
            for planned, levels in levels_of(smallest, alpha)
        ]
        missed = round(1.0 - INTERVAL_LEVEL, 6)
        intervals += [
            {"alpha": missed, "contrasts": contrasts, "planned_blocks": planned, "levels": levels}
            for planned, levels in levels_of(smallest, missed, INTERVAL_WEIGHTS)
        ]
    return {
        "made_by": "python -m mitigauge.core.stats.calibration --regenerate",
        "experiments": experiments,
        "seed": seed,
        "looks": STANDARD_LOOKS,
        "weights": WEIGHTS,
        "aim": AIM,
        "interval_weights": INTERVAL_WEIGHTS,
        "levels": rows,
        "intervals": intervals,
    }


def _lines(rows: object) -> str:
    assert isinstance(rows, list)
    return ",\n  ".join(json.dumps(row) for row in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of ``python -m mitigauge.core.stats.calibration``."""
    parser = argparse.ArgumentParser(prog="python -m mitigauge.core.stats.calibration")
    parser.add_argument("--regenerate", action="store_true", help=f"write {TABLE.name} anew")
    parser.add_argument("--experiments", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=20260316)
    options = parser.parse_args(arguments)
    if not options.regenerate:
        parser.print_help()
        return 1
    table = regenerate(options.experiments, options.seed)
    parts = {kind: _lines(table.pop(kind)) for kind in ("levels", "intervals")}
    head = json.dumps(table, indent=1)[:-2]
    rows = ",\n".join(f' "{kind}": [\n  {lines}\n ]' for kind, lines in parts.items())
    TABLE.write_text(f"{head},\n{rows}\n}}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
