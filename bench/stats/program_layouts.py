"""Builds of one program that differ in layout alone, and what each costs in real time.

A program of many small objects is compiled with functions aligned in several ways and linked in as
many random orders as there are builds. What it computes is the same for all; what differs between
builds is where its functions lie. Built with the machine's own compiler.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.stats.layouts import BLOCKS, draws_of

Floats = NDArray[np.float64]

OBJECTS = 24
ALIGNMENTS = (16, 32, 64)
BUILDS = 20
CALLS = 2000
ROUNDS = 20

# Branches and loops of a few instructions, which is where placement matters.
_PART = """
unsigned step_{n}(unsigned x, unsigned char *t)
{{
	unsigned sum = x * {odd}u;

	for (int i = 0; i < {length}; i++) {{
		sum = (sum << {shift}) ^ (sum >> {back}) ^ t[(sum + i) & 255];
		if (sum & {bit})
			t[sum & 255] += i;
		else
			sum += {odd};
	}}
	return sum;
}}
"""
_MAIN = """
#include <stdio.h>
#include <time.h>
#include <unistd.h>
{declared}
static unsigned char table[256];

static double now(void)
{{
	struct timespec t;

	clock_gettime({clock}, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}}

int main(void)
{{
	unsigned sum = 1;

	for (int round = 0; round < {rounds}; round++) {{
		double began = now();

		for (int i = 0; i < 256; i++)
			table[i] = i * 7;
		sum = 1;
		for (int i = 0; i < {calls}; i++) {{
{called}
		}}
		printf("%.4f\\n", (now() - began) / {calls});
	}}
	fprintf(stderr, "%u\\n", sum);
	return 0;
}}
"""


@dataclass(frozen=True, slots=True)
class Build:
    """One binary: how its functions are aligned, and where it is."""

    name: str
    path: Path


def sources(*, clock: str, calls: int, rounds: int) -> dict[str, str]:
    """The program's files; *clock* is what clock_gettime takes."""
    rng = random.Random(17)
    files = {
        f"step_{n}.c": _PART.format(
            n=n, odd=2 * rng.randrange(1000, 9000) + 1, length=rng.randrange(3, 12),
            shift=rng.randrange(3, 9), back=rng.randrange(10, 20), bit=1 << rng.randrange(6),
        )
        for n in range(OBJECTS)
    }  # fmt: skip
    files["main.c"] = _MAIN.format(
        declared="".join(
            f"unsigned step_{n}(unsigned, unsigned char *);\n" for n in range(OBJECTS)
        ),
        called="\n".join(f"\t\t\tsum = step_{n}(sum, table);" for n in range(OBJECTS)),
        clock=clock, calls=calls, rounds=rounds,
    )  # fmt: skip
    return files


def built(
    directory: Path, count: int = BUILDS, *, clock: str = "CLOCK_THREAD_CPUTIME_ID",
    calls: int = CALLS, rounds: int = ROUNDS,
) -> list[Build]:  # fmt: skip
    """Make *count* builds in *directory*. Raises ``CalledProcessError`` where it cannot."""
    files = sources(clock=clock, calls=calls, rounds=rounds)
    for name, text in files.items():
        (directory / name).write_text(text)
    for align in ALIGNMENTS:
        (directory / f"f{align}").mkdir()
        # fmt: off
        subprocess.run(
            ["cc", "-O2", "-c", f"-falign-functions={align}", *(f"../{name}" for name in files)],
            cwd=directory / f"f{align}", check=True,
        )
        # fmt: on
    builds = []
    for number in range(count):
        align = ALIGNMENTS[number % len(ALIGNMENTS)]
        names = sorted(f"f{align}/{Path(name).stem}.o" for name in files)
        random.Random(number).shuffle(names)
        build = Build(f"f{align}-order{number}", directory / f"build-{number}")
        subprocess.run(["cc", "-static", "-o", build.path, *names], cwd=directory, check=True)
        builds.append(build)
    return builds


def real_time(builds: Sequence[Build], starts: int) -> Floats:
    """``[build, start]``: nanoseconds a call of the quickest round, in real time.

    Builds take turns in random order, so that what drifts changes all of them alike.
    """
    figures = np.zeros((len(builds), starts))
    rng = random.Random(1)
    for start in range(starts):
        for at in rng.sample(range(len(builds)), len(builds)):
            done = subprocess.run([builds[at].path], capture_output=True, text=True, check=True)
            figures[at, start] = min(map(float, done.stdout.split()))
    return figures


def scatter(figures: Floats) -> tuple[float, float]:
    """Standard deviations in percent, between builds and within: of logs, less the start's mean."""
    logs = np.log(figures)
    logs = logs - logs.mean(axis=0)
    within = float(logs.var(axis=1, ddof=1).mean())
    between = max(0.0, float(logs.mean(axis=1).var(ddof=1)) - within / logs.shape[1])
    return 100 * float(np.sqrt(between)), 100 * float(np.sqrt(within))


def main(directory: Path, starts: int = BLOCKS, count: int = 200) -> None:
    """Measure 20 builds in real time, and judge sets of three of them against each other."""
    builds = built(directory)
    figures = real_time(builds, starts)
    for build, each in zip(builds, figures, strict=True):
        low, middle, high = np.quantile(each, (0, 0.5, 1))
        print(f"{build.name:>12}  median {middle:8.2f} ns, {low:.2f} to {high:.2f}")
    between, within = scatter(figures)
    print(f"between builds {between:.2f} %, within a build {within:.2f} %")
    three, one = (draws_of(figures, of, count, seed=1) for of in (3, 1))
    print(f"{count} draws of two sets of 3: {three} false verdicts; of two builds: {one}")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        main(Path(made))
