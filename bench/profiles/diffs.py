"""Storing and comparing profiles in a real PostgreSQL, beside difffolded.pl and flamegraph.pl."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from alembic import command
from sqlalchemy import Engine, text

from cli.memory import keep_freed_memory
from mitigauge.analysis.profiles.capture.capture import Pass
from mitigauge.analysis.profiles.capture.folded_text import write_folded
from mitigauge.analysis.profiles.diff.compare import compare_functions
from mitigauge.analysis.profiles.diff.service import diff_payload, imported_sides
from mitigauge.analysis.profiles.store.service import store_imported
from mitigauge.storage.database.embedded_server import ensure_running, stop
from mitigauge.storage.database.engine import alembic_config, new_engine, transaction

Stacks = dict[bytes, int]


@contextmanager
def database(home: Path) -> Iterator[Engine]:
    """A server of its own with our schema."""
    url = ensure_running(home).replace("postgresql://", "postgresql+psycopg://")
    engine = new_engine(url)
    try:
        command.upgrade(alembic_config(url), "head")
        yield engine
    finally:
        engine.dispose()
        stop(home, mode="immediate")


def store(engine: Engine, group: str, boots: Iterable[Stacks]) -> list[float]:
    """Store one group; seconds for each profile."""
    seconds = []
    for number, stacks in enumerate(boots):
        digest = hashlib.sha256(f"{group} {number}".encode()).hexdigest()
        begun = time.perf_counter()
        with transaction(engine) as session:
            store_imported(
                session, tree="bench", label=group, stacks=stacks,
                of=Pass("cpu-clock", digest, sum(stacks.values()), operations=1e6),
            )  # fmt: skip
        seconds.append(time.perf_counter() - begun)
    return seconds


def diff_seconds(engine: Engine, tries: int) -> list[float]:
    """Seconds of whole answers, the first ones left out: nothing is kept between two."""
    keep_freed_memory()  # as the service does
    seconds = []
    for _ in range(tries + 3):
        begun = time.perf_counter()
        with transaction(engine) as session:
            sides = imported_sides(session, tree="bench", a="a", b="b")
            diff_payload(session, sides, basis="operation", merged=True)
        seconds.append(time.perf_counter() - begun)
    return seconds[3:]


def bytes_of_a_profile(engine: Engine) -> tuple[float, float]:
    """Mean stored bytes of a profile's stacks, and of its functions."""
    with engine.connect() as connection:
        row = connection.execute(
            text(
                "SELECT avg(pg_column_size(stacks)), avg(pg_column_size(functions)) "
                "FROM profile WHERE label IN ('a', 'b')"
            )
        ).one()
    return float(row[0]), float(row[1])


def flame_graph_seconds(a: list[Stacks], b: list[Stacks], scratch: Path) -> float | None:
    """difffolded.pl | flamegraph.pl on both groups' merged files; ``None`` where not installed."""
    if not (shutil.which("difffolded.pl") and shutil.which("flamegraph.pl")):
        return None
    files = []
    for name, boots in (("a", a), ("b", b)):
        merged: Counter[bytes] = Counter()
        for stacks in boots:
            merged.update(stacks)
        files.append(scratch / f"{name}.folded")
        with files[-1].open("wb") as out:
            write_folded(merged, out)
    begun = time.perf_counter()
    differing = subprocess.Popen(["difffolded.pl", *files], stdout=subprocess.PIPE)
    subprocess.run(
        ["flamegraph.pl"], stdin=differing.stdout, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    differing.wait()
    return time.perf_counter() - begun


def false_alarms(experiments: int, seed: int) -> tuple[float, float]:
    """A/A: of 3,000 functions in 10 against 10 boots, the shares with p < 0.01 and any q < 0.05."""
    rng = np.random.default_rng(seed)
    flagged = discovered = 0.0
    for _ in range(experiments):
        mean = rng.gamma(0.3, 130.0, (3_000, 1))
        scatter = rng.lognormal(0.0, 0.05, (3_000, 20)) * rng.lognormal(0.0, 0.03, (1, 20))
        own = rng.poisson(mean * scatter).astype(float)
        compared = compare_functions(own, own, 10)
        with np.errstate(invalid="ignore"):
            flagged += float((compared.p < 0.01).mean())
            discovered += bool((compared.q < 0.05).any())
    return flagged / experiments, discovered / experiments
