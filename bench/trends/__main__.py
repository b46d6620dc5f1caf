"""``make bench-trends``: change points beside other detectors, false alarms, and speed."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.trends import tcpd
from mitigauge.core.settings import get_settings
from mitigauge.core.stats.change_points import courses

Values = NDArray[np.float64]
NEVER = "no change, ever"
OTAVA = "otava (windows, t-test)"
PEERS = Path(__file__).with_name("peers.py")
PACKAGES = ("apache-otava", "ruptures")
SEED = 20261124


def target(what: str, figure: float, limit: float, *, at_least: bool = False, unit: str) -> None:
    """Print a promise and whether it holds."""
    holds = figure >= limit if at_least else figure <= limit
    sign = "≥" if at_least else "≤"
    state = "holds" if holds else "MISSED"
    print(f"  {state:<6} {what:<62} {figure:8.2f} {unit} ({sign} {limit:.4g})", flush=True)


def peers_python() -> Path:
    """The interpreter of an environment with the peers in it, made where it is not there."""
    home = get_settings().home / "bench-trends"
    python = home / "bin" / "python"
    if not python.exists():
        print(f"installing {', '.join(PACKAGES)} into {home}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True)
    return python


def labelled(folder: Path | None) -> None:
    """F1 on series that people marked, ours beside the peers."""
    if folder is None or not (folder / "annotations.json").exists():
        print(f"\nLabelled series: not there. Get them ({tcpd.HOW_TO_GET}).")
        return
    series, left_out = tcpd.read(folder)
    print(f"\n{len(series)} labelled series; left out: {'; '.join(left_out) or 'none'}")
    print(f"  {'':<26} {'F1':>6} {'prec.':>6} {'recall':>6} {'false alarms':>13} {'seconds':>8}")
    began = time.process_time()
    ours = courses([np.array(each.values) for each in series])
    figures = {
        "Mitigauge": _figures(
            "Mitigauge",
            series,
            [[first for first, _, _ in course.levels[1:]] for course in ours],
            time.process_time() - began,
        )
    }
    # The score counts the first place as a change that everybody marks and finds, so that saying
    # nothing is no score of 0: whatever does not pass this row has found nothing.
    figures[NEVER] = _figures(NEVER, series, [[] for _ in series], 0.0)
    for name, found in _peers([list(each.values) for each in series]).items():
        figures[name] = _figures(name, series, found["found"], found["seconds"])
    target(
        "F1 beside no change ever",
        figures["Mitigauge"][0],
        figures[NEVER][0],
        at_least=True,
        unit="",
    )
    target("F1 beside Otava's", figures["Mitigauge"][0], figures[OTAVA][0], at_least=True, unit="")
    target("false alarms beside Otava's", figures["Mitigauge"][3], figures[OTAVA][3], unit="")


def _peers(series: list[list[float]]) -> dict[str, Any]:
    done = subprocess.run(
        [str(peers_python()), str(PEERS)],
        input=json.dumps(series), text=True, capture_output=True, check=True,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(done.stdout)
    for name, found in answer.items():
        failed = sum(each is None for each in found["found"])
        if failed:
            print(f"  {name} failed on {failed} series, counted as no change found")
        found["found"] = [each or [] for each in found["found"]]
    return answer


def _figures(
    name: str, series: list[tcpd.Labelled], found: list[list[int]], seconds: float
) -> tuple[float, float, float, int]:
    scores = {
        each.name: tcpd.score(each.marked, places)
        for each, places in zip(series, found, strict=True)
    }
    means = tcpd.means(scores)
    print(
        f"  {name:<26} {means[0]:6.3f} {means[1]:6.3f} {means[2]:6.3f} {means[3]:13d} "
        f"{seconds:8.1f}",
        flush=True,
    )
    return means


def speed(series: int, length: int) -> None:
    """Many series on one core: half of them null, a fifth with a change of two deviations."""
    rng = np.random.default_rng(SEED)
    values = rng.normal(size=(series, length))
    values[: series // 5, length // 2 :] += 2.0
    began = time.process_time()
    found = courses(list(values))
    seconds = time.process_time() - began
    share = 100.0 * float(np.mean([bool(c.changes) for c in found[: series // 5]]))
    print(f"\n{series:,} series of {length} values, a fifth with a change: {share:.1f} % found")
    target("processor time", seconds, 60.0 * series * length / 1e6, unit="s")


NOISES: dict[str, Callable[[np.random.Generator, int, int], Values]] = {
    "normal": lambda rng, series, length: rng.normal(size=(series, length)),
    "t with 3 degrees": lambda rng, series, length: rng.standard_t(3, size=(series, length)),
    "log-normal": lambda rng, series, length: np.exp(rng.normal(size=(series, length))),
    "two groups": lambda rng, series, length: (
        rng.normal(size=(series, length)) + 6.0 * (rng.random((series, length)) < 0.3)
    ),
    "alike, φ = 0.2": lambda rng, series, length: alike(rng, series, length, 0.2),
    "alike, φ = 0.4": lambda rng, series, length: alike(rng, series, length, 0.4),
}
# Neighbours that are alike are no null series of the promise; they are told all the same.
PROMISED = ("normal", "t with 3 degrees", "log-normal", "two groups")


def alike(rng: np.random.Generator, series: int, length: int, phi: float) -> Values:
    """A stationary autoregression of the first order."""
    noise = rng.normal(size=(series, length))
    noise[:, 0] /= np.sqrt(1.0 - phi**2)
    for at in range(1, length):
        noise[:, at] += phi * noise[:, at - 1]
    return noise


def null_years(series: int, looks: int) -> None:
    """Series of a year in which nothing changes: how many show a change."""
    rng = np.random.default_rng(SEED)
    for length in (52, 365):
        print(f"\nNull series of {length} values: share with any change at the year's end")
        for name, noise in NOISES.items():
            rate = _with_change(noise(rng, series, length))
            if name in PROMISED:
                target(name, 100.0 * rate, 1.0, unit="%")
            else:
                print(f"         {name:<62} {100.0 * rate:8.2f} %", flush=True)
    print("\nThe same, looked at after each of 52 values: any change at any look")
    for name, noise in NOISES.items():
        values = noise(rng, looks, 52)
        ever = np.zeros(looks, dtype=np.bool_)
        for end in range(6, 53):
            ever |= np.array([bool(c.changes) for c in courses(list(values[:, :end]))])
        rate = float(ever.mean())
        if name in PROMISED:
            target(name, 100.0 * rate, 1.0, unit="%")
        else:
            print(f"         {name:<62} {100.0 * rate:8.2f} %", flush=True)


def _with_change(values: Values) -> float:
    return float(np.mean([bool(course.changes) for course in courses(list(values))]))


def main() -> None:
    """Print every figure with its peers'."""
    parser = argparse.ArgumentParser(prog="make bench-trends", description=main.__doc__)
    parser.add_argument("--data", type=Path, help=f"the labelled series; {tcpd.HOW_TO_GET}")
    parser.add_argument("--series", type=int, default=10_000, help="for speed and null years")
    parser.add_argument("--looks", type=int, default=2000, help="series that are looked at weekly")
    parser.add_argument("--only", choices=["labelled", "speed", "null"], help="one part")
    options = parser.parse_args()
    if options.only in (None, "labelled"):
        labelled(options.data)
    if options.only in (None, "speed"):
        speed(options.series, 100)
    if options.only in (None, "null"):
        null_years(options.series, options.looks)


if __name__ == "__main__":
    main()
