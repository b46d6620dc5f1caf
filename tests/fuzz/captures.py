"""Captures of profiles, through what folds them and what reads stored ones."""

from __future__ import annotations

import gzip
import io
import json
import random
from pathlib import Path

import numpy as np
import zstandard

from mitigauge.analysis.profiles.capture.capture import read_capture
from mitigauge.analysis.profiles.capture.recording import find_recording
from mitigauge.analysis.profiles.store.import_file import read_profile
from mitigauge.analysis.profiles.store.pack import packed, unpacked
from mitigauge.analysis.profiles.store.tree import FrameTree, Layout
from tests.fuzz.builders import HOST
from tests.fuzz.mutations import as_json, odd_bytes, odd_json

SHARE = 3.0

HEADS = [
    "perf 12 [000] 1.5: 7 cycles:", "perf 12/13 1.5: 250000 cycles:", "CPU 0/KVM 3 1.5: cycles:",
    "java 1/2 1.5: 1 cycles: ", "perf 1 1.5: 7 instructions:", "# comment", "no header", "a 1 ",
    "perf 1 1.5: " + "9" * 50 + " cycles:", "perf 1 1.5: " + "1" * 3000, "perf" + " " * 3000,
    "perf 1 1.5: 0 cycles:", "x" * 3000, "\0 1 1.5: 7 cycles:", "perf 1 1.5: " + ": " * 1000,
]  # fmt: skip
NAMES = [
    "f+0x1", "[unknown]", "a->b", "->x", "x->", "(gone)", "f(a;b)", '""', "g (h)", ";", " ", "",
    "f" * 3000, ".(" * 1000, " (" * 1000, "->" * 500, "\x1b[2J", "\udcff", "f.isra.0.cold",
    "exc_nmi", "default_idle",
]  # fmt: skip
MODULES = ["([kernel.kallsyms])", "(/lib/libc.so.6)", "([unknown])", "()", "(/x (deleted))", "("]


def once(rng: random.Random, scratch: Path) -> str:
    """One capture, mostly as a file that somebody imports: that costs no process."""
    what = rng.random()
    if what < 0.02:
        return _of_a_host(rng, scratch)
    if what < 0.12:
        return _stored(rng)
    text = _folded(rng) if what < 0.4 else _captured(rng)
    stacks, _ = read_profile(io.BytesIO(_packed(rng, text)[0]), name="file", digest="0" * 64)
    assert stacks
    return "taken"


def _of_a_host(rng: random.Random, scratch: Path) -> str:
    data, suffix = _packed(rng, _captured(rng))
    (scratch / f"perf.script.{suffix}").write_bytes(data)
    said = HOST | {"capture": f"perf.script.{suffix}"}
    if rng.random() < 0.3:
        said = odd_json(rng, said)
    text = as_json(rng, said) if rng.random() < 0.1 else json.dumps(said).encode()
    (scratch / "profile.json").write_bytes(text)
    return (
        "taken" if read_capture(find_recording(scratch, limit_bytes=32 << 20)).stacks else "empty"
    )


def _stored(rng: random.Random) -> str:
    """What the database holds, damaged: told by a ValueError, as any blob that is not ours."""
    tree = FrameTree()
    tree.add({b"a;b;c": 1, b"a;d": 2}, hash_of, lambda symbol, _: symbol)
    counts = packed(np.arange(5, dtype=np.int64), np.full(5, 300, np.int64))
    try:
        if rng.random() < 0.5:
            unpacked(odd_bytes(rng, counts))
        else:
            Layout.from_bytes(odd_bytes(rng, tree.layout().to_bytes()))
    except ValueError:
        return "refused"
    return "taken"


def hash_of(name: bytes) -> int:
    """A number for a name."""
    return name[0]


def _captured(rng: random.Random) -> bytes:
    lines: list[str] = []
    for _ in range(rng.choice([0, 1, 3, 30])):
        lines += [_picked(rng, HEADS, 0.2)] if rng.random() < 0.97 else []
        for _ in range(rng.choice([0, 1, 2, 5, 5, 200])):
            indent = "\t" if rng.random() < 0.98 else rng.choice(["", "    "])
            name = _picked(rng, NAMES, 0.3)
            lines.append(f"{indent}{rng.getrandbits(32):x} {name} {_picked(rng, MODULES, 0.2)}")
        lines += [""] * rng.choice([1, 1, 1, 1, 2, 0])
    text = "\n".join(lines).encode(errors="surrogateescape")
    return odd_bytes(rng, text) if rng.random() < 0.2 else text


def _picked(rng: random.Random, choices: list[str], odd: float) -> str:
    """Mostly the first, which is as it should be."""
    return rng.choice(choices) if rng.random() < odd else choices[0]


def _folded(rng: random.Random) -> bytes:
    counts = ["1", "7", "0", "-1", "x", "1.5", "9" * 30, "9" * 5000, "", "٣", str((1 << 53) - 1)]
    lines = [
        ";".join(rng.choices(NAMES, k=rng.choice([1, 2, 5, 1500])))
        + f" {_picked(rng, counts, 0.05)}"
        for _ in range(rng.choice([1, 3, 30]))
    ]
    text = "\n".join(lines).encode(errors="surrogateescape")
    return odd_bytes(rng, text) if rng.random() < 0.2 else text


def _packed(rng: random.Random, text: bytes) -> tuple[bytes, str]:
    """*text* plain or compressed, at times damaged; and how its file would be called."""
    if rng.random() < 0.5:
        data, suffix = gzip.compress(text, 1), "gz"
    else:
        data, suffix = zstandard.compress(text), "zst"
    if rng.random() < 0.4:
        data = text
    return (odd_bytes(rng, data) if rng.random() < 0.1 else data), suffix
