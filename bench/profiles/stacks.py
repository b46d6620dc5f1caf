"""Simulated stacks shaped like a kernel's: deep, skewed, most of the weight in few of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NODES = 348_000
STACKS = 30_000
SYMBOLS = 3_000
SAMPLES = 120_000
DEEPEST = 60


def universe(seed: int) -> list[bytes]:
    """Folded stacks that together have :data:`NODES` frames, leaves first drawn at random."""
    rng = np.random.default_rng(seed)
    parent = _tree(rng)
    symbol = rng.integers(0, SYMBOLS, NODES)
    leaves = np.setdiff1d(np.arange(1, NODES), parent)
    paths = [_path(int(leaf), parent, symbol) for leaf in leaves]
    inner = rng.choice(NODES - 1, max(0, STACKS - len(paths)), replace=False) + 1
    return paths + [_path(int(node), parent, symbol) for node in inner]


def _tree(rng: np.random.Generator) -> NDArray[np.int64]:
    parent = np.zeros(NODES, np.int64)
    depth = np.zeros(NODES, np.int64)
    goes_on = rng.random(NODES) < 0.92
    for node in range(1, NODES):
        above = (
            node - 1
            if goes_on[node] and depth[node - 1] < DEEPEST
            else int(rng.integers(0, max(1, node // 4)))
        )
        parent[node], depth[node] = above, depth[above] + 1
    return parent


def _path(node: int, parent: NDArray[np.int64], symbol: NDArray[np.int64]) -> bytes:
    names = []
    while node:
        names.append(b"function_%d" % symbol[node])
        node = int(parent[node])
    return b";".join([b"bench", *reversed(names)])


def weights(count: int, seed: int) -> NDArray[np.float64]:
    """Shares of the stacks, skewed so that 120,000 samples meet about 11,000 of 30,000."""
    rng = np.random.default_rng([seed, 1])
    share = 1.0 / np.arange(1, count + 1) ** 1.18
    rng.shuffle(share)
    skewed: NDArray[np.float64] = share / share.sum()
    return skewed


def boots(
    stacks: list[bytes], share: NDArray[np.float64], count: int, rng: np.random.Generator,
    spread: float = 0.05,
) -> list[dict[bytes, int]]:  # fmt: skip
    """*count* boots' profiles; each boot's shares scatter by *spread* around the common ones."""
    profiles = []
    for _ in range(count):
        own = share * rng.lognormal(0.0, spread, len(share))
        drawn = rng.multinomial(SAMPLES, own / own.sum())
        profiles.append({stacks[i]: int(drawn[i]) for i in np.flatnonzero(drawn).tolist()})
    return profiles


def perf_script(stacks: list[bytes], share: NDArray[np.float64], samples: int, seed: int) -> bytes:
    """What perf would have printed: *samples* samples, addresses as a kernel's are."""
    rng = np.random.default_rng([seed, 2])
    texts = [_frames(stack) for stack in stacks]
    drawn = rng.choice(len(stacks), samples, p=share)
    offsets = rng.integers(0, 64, samples).tolist()
    parts = []
    for number, (stack, offset) in enumerate(zip(drawn.tolist(), offsets, strict=True)):
        head = b"bench %5d/%d [%03d] %d.%06d:     250000 cpu-clock:ppp: \n" % (
            1000 + number % 8, 1000, number % 2, number // 4000, number % 4000 * 250
        )  # fmt: skip
        parts.append(head + texts[stack].replace(b"+0x00 ", b"+0x%02x " % offset, 1))
    return b"".join(parts)


def _frames(stack: bytes) -> bytes:
    lines = [
        b"\tffffffff%08x %b+0x00 ([kernel.kallsyms])\n" % (hash(name) & 0xFFFFFF00, name)
        for name in reversed(stack.split(b";")[1:])
    ]
    return b"".join(lines) + b"\n"
