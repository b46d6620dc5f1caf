"""Changed series of collectors: refused, or possible series whose figures are numbers.

What a hostile host says of its counters may be false, as any figure of its own may. It must not be
impossible, end a process, or come out of the database otherwise than it went in.
"""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np

from mitigauge.core.settings import REPOSITORY
from mitigauge.core.wire.collectors import NAMES, SUMMARY_FILE
from mitigauge.measurement.collectors.figures import rates
from mitigauge.measurement.collectors.samples import MOST_SAMPLES, Samples, packed, unpacked
from mitigauge.measurement.collectors.service import means_of, read_collected
from tests.fuzz.mutations import as_json, odd_bytes, odd_json

SHARE = 5.0
RECORDED = REPOSITORY / "tests/fixtures/collected"


def once(rng: random.Random, scratch: Path) -> str:
    """One directory of a host with one file changed; or a packed blob, as an import has it."""
    if rng.random() < 0.2:
        return _blob(rng)
    directory = shutil.copytree(RECORDED, scratch / "collected")
    path = rng.choice(sorted(directory.iterdir()))
    path.write_bytes(_changed(rng, path))
    window = rng.choice([None, (0.0, 1.0), (1147.9, 1150.2), (1e15, 1e16)])
    asked = [name for name in NAMES if (RECORDED / f"{name}.txt").exists()]
    found = read_collected(directory, asked, window)
    assert set(found.series) | set(found.absent) == set(asked)
    assert all(reason and len(reason) <= 400 for reason in found.absent.values())
    for series in found.series.values():
        _check(series)
        told = [*means_of(series, window).values(), *rates(series, "", window).values()]
        assert np.isfinite(told).all()
    return "refused" if found.absent else "taken"


def _changed(rng: random.Random, path: Path) -> bytes:
    content = path.read_bytes()
    if path.name == SUMMARY_FILE and rng.random() < 0.7:
        return as_json(rng, odd_json(rng, json.loads(content)))
    head, _, body = content.partition(b"\n")
    if rng.random() < 0.3:
        return as_json(rng, odd_json(rng, json.loads(head))) + b"\n" + body
    lines = body.splitlines(keepends=True)
    if lines and rng.random() < 0.4:
        place = rng.randrange(len(lines))
        lines[place : place + 1] = rng.choices(lines, k=rng.choice([0, 1, 2, 5000]))
        return head + b"\n" + b"".join(lines)
    return odd_bytes(rng, content)


def _blob(rng: random.Random) -> str:
    recorded = rng.choice(sorted(RECORDED.glob("*.txt")))
    directory = recorded.parent
    series = read_collected(directory, [recorded.stem], None).series[recorded.stem]
    try:
        again = unpacked(odd_bytes(rng, packed(series)))
    except ValueError:
        return "refused"
    assert again.values.shape == (len(again.columns), len(again.times_ns))
    return "taken"


def _check(series: Samples) -> None:
    assert 2 <= len(series.times_ns) <= MOST_SAMPLES
    assert (np.diff(series.times_ns) > 0).all()
    assert (series.values >= 0).all()
    for row, kind in zip(series.values, series.columns.values(), strict=True):
        assert kind == "level" or (np.diff(row) >= 0).all()
    again = unpacked(packed(series))
    assert np.array_equal(again.values, series.values)
    assert np.array_equal(again.times_ns, series.times_ns)
