"""``make bench-store``: pages, judging and bytes, with millions of values in the database."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from alembic import command
from sqlalchemy import Engine, text

from bench.store.fill import Filled, Size, bytes_of, fill
from tests.ports import free_port

VALUES = 10_000_000
CLIENTS = 32
SECONDS = 8.0
# One case with as many boots.
BOOTS = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    figure: float
    unit: str
    limit: float
    ratio: str = ""

    def line(self) -> str:
        """The line, with whether the limit holds."""
        said = "holds" if self.figure <= self.limit else "MISSED"
        return (
            f"  {said:<6} {self.what:<52} {self.figure:9.2f} {self.unit:<4}"
            f" (≤ {self.limit:g})  {self.ratio}"
        )


def timed(action: Callable[[], Any]) -> float:
    """Seconds of *action*."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def fixed_s() -> float:
    """Seconds of a fixed piece of work in Python, which says how fast the machine is now."""
    return statistics.median(
        timed(lambda: sum(i * i % 7 for i in range(1_000_000))) for _ in range(3)
    )


@contextmanager
def service(url: str) -> Iterator[tuple[str, str, int]]:
    """(address, token, pid) of a service over the database at *url*."""
    environment = {**os.environ, "MITIGAUGE_DATABASE_URL": url}
    created = subprocess.run(
        [sys.executable, "-m", "cli.main", "token", "create", "bench", "--role", "viewer"],
        env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    token = next(word for word in created.stdout.split() if word.startswith("mgt_"))
    process = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "serve", "--port", str(free_port())],
        env=environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        address = next(
            word.split("/login")[0].rstrip("/")
            for line in process.stdout
            for word in line.split()
            if word.startswith("http://")
        )
        yield address, token, process.pid
    finally:
        process.terminate()
        process.wait()


def load(address: str, token: str, path: str, clients: int, seconds: float) -> dict[str, float]:
    """What *clients* at once saw of a page."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.store.clients", address + path, token, str(clients),
         str(seconds)],
        check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    return found


def await_description(address: str, token: str) -> None:
    """Wait until the service has its OpenAPI document, on which it works after it has started.

    What is measured meanwhile shares the processor with that.
    """
    asked = Request(f"{address}/api/openapi.json", headers={"Authorization": f"Bearer {token}"})
    with urlopen(asked) as answer:
        answer.read()


def print_beside_health(
    address: str,
    token: str,
    asked: Sequence[tuple[str, str]],
    clients: int,
    seconds: float,
    *,
    limit_ms: float,
) -> None:
    """Ask each (words, path) alone, then from all clients; print p95 beside limit and health."""
    await_description(address, token)
    health = load(address, token, "/api/health/live", clients, seconds)["p95_ms"]
    print(f"p95 of {clients} clients; GET /api/health/live {health:.1f} ms")
    for what, path in asked:
        try:
            alone = load(address, token, path, 1, seconds / 3)["p50_ms"]
            found = load(address, token, path, clients, seconds)
        except subprocess.CalledProcessError:
            print(f"  FAILED {what}: {path}")
            continue
        said = "holds" if found["p95_ms"] <= limit_ms else "MISSED"
        print(
            f"  {said:<6} {what:<30} {found['p95_ms']:7.1f} ms (≤ {limit_ms:g});"
            f" {found['p95_ms'] / health:4.1f} × health; alone {alone:5.1f} ms",
            flush=True,
        )


def resident_mib(pid: int) -> float:
    """Largest resident memory of a process so far, MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return float(line.split()[1]) / 1024


# The same values with a row each, as a table of measurements is first thought of.
A_ROW_EACH = """
    create table iteration (
        boot_id integer, case_id integer, metric text, phase text, position integer,
        value double precision, primary key (boot_id, case_id, metric, phase, position)
    );
    insert into iteration
    select boot_id, case_id, metric, phase, position, value
    from measurement,
        lateral (
            values ('counted', counted), ('warmup', warmup), ('disturbed', disturbed)
        ) as p (phase, list),
        lateral unnest(list) with ordinality as u (value, position);
    analyze iteration
"""


def row_each_bytes(engine: Engine) -> int:
    """Bytes of the same values with a row each."""
    with engine.begin() as connection:
        connection.execute(text(A_ROW_EACH))
    before = bytes_of(engine, "iteration", "result")
    with engine.begin() as connection:
        connection.execute(text("drop table iteration"))
    return before


def bytes_table(engine: Engine, values: int) -> list[Row]:
    """Bytes a value, beside the same values as rows of their own."""
    before = row_each_bytes(engine)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("vacuum full measurement"))
        connection.execute(text("vacuum full result"))
    own, whole = bytes_of(engine, "measurement"), bytes_of(engine, "measurement", "result")
    print(
        f"{values} values: {before / values:.1f} bytes each as rows with their results,"
        f" {whole / values:.1f} as arrays with theirs, {own / values:.1f} without"
    )
    return [Row("bytes a value, results included", whole / values, "B", before / values / 4)]


def judging_rows(engine: Engine, filled: Filled) -> list[Row]:
    """Judging everything in the worker, and the report."""
    from mitigauge.analysis.verdicts.conclusions import conclude_closed
    from mitigauge.reporting.letters.report.service import gathered
    from mitigauge.reporting.pages.experiments import show_experiment
    from mitigauge.storage.database.engine import transaction

    judging = timed(lambda: conclude_closed(engine))

    def report() -> None:
        with transaction(engine) as session:
            gathered(session, show_experiment(session, filled.experiment)).text()

    unit = fixed_s()
    text_s = statistics.median(timed(report) for _ in range(3))
    return [
        Row("judging all of it in the worker", judging, "s", 4.0, f"{judging / unit:.0f} × fixed"),
        Row("report as text", text_s, "s", 2.0, f"{text_s / unit:.0f} × fixed"),
    ]


def page_rows(url: str, filled: Filled, long: Filled, clients: int, seconds: float) -> list[Row]:
    """Pages under load, beside the smallest answer there is."""
    pages = (
        ("matrix of 3,000 cases", f"/api/experiments/{filled.experiment}/matrix", 150.0),
        ("experiment without its matrix", f"/api/experiments/{filled.experiment}", 150.0),
        ("list of experiments", "/api/experiments", 50.0),
        ("progress", f"/api/experiments/{filled.experiment}/progress", 50.0),
        (
            "one case with 1,000 boots",
            f"/api/experiments/{long.experiment}/cases/{long.cases[0]}",
            80.0,
        ),
    )
    rows = []
    with service(url) as (address, token, pid):
        await_description(address, token)
        smallest = load(address, token, "/api/health/live", clients, seconds)["p95_ms"]
        for what, path, limit in pages:
            alone = load(address, token, path, 1, seconds / 4)["p50_ms"]
            found = load(address, token, path, clients, seconds)
            rows.append(
                Row(
                    f"{what}, p95 of {clients} clients", found["p95_ms"], "ms", limit,
                    f"{found['p95_ms'] / smallest:.1f} × health; "
                    f"{found['requests'] / found['seconds']:.0f}/s; alone {alone:.1f} ms",
                )
            )  # fmt: skip
        rows.append(Row("memory of the service", resident_mib(pid), "MiB", 300.0))
    return rows


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(prog="make bench-store", description=main.__doc__)
    parser.add_argument("--values", type=int, default=VALUES, help="values in the database")
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of load for each page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mitigauge-bench-") as home:
        os.environ["MITIGAUGE_HOME"] = home
        os.environ.pop("MITIGAUGE_DATABASE_URL", None)
        from mitigauge.analysis.verdicts.conclusions import conclude_closed
        from mitigauge.storage.database.embedded_server import stop
        from mitigauge.storage.database.engine import alembic_config, database_url, get_engine

        url = database_url()
        try:
            command.upgrade(alembic_config(url), "head")
            engine = get_engine()
            size = Size()
            filled = fill(engine, size)
            rows = bytes_table(engine, size.values)
            rows += judging_rows(engine, filled)
            made = size.values
            while made < options.values:
                fill(engine, size, seed=2 + made)
                made += size.values
                print(f"{made} values", flush=True)
            long = fill(engine, Size(1, 2, BOOTS // 2), seed=1)
            conclude_closed(engine)
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("vacuum analyze"))
            rows += page_rows(url, filled, long, options.clients, options.seconds)
        finally:
            stop(Path(home), mode="immediate")
    print()
    for row in rows:
        print(row.line())


if __name__ == "__main__":
    main()
