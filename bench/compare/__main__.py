"""``make bench-compare``: two experiments of 3,000 cases and 3 arms beside each other."""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import tempfile
from pathlib import Path

from alembic import command
from sqlalchemy import Engine, text

from bench.store.__main__ import print_beside_health, service, timed
from bench.store.fill import Filled, Size, fill

CLIENTS = 32
SECONDS = 5.0
LIMIT_MS = 200.0
READINGS = 40


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(prog="make bench-compare", description=main.__doc__)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of load for each line")
    parser.add_argument("--cases", type=int, default=3000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mitigauge-bench-") as home:
        os.environ["MITIGAUGE_HOME"] = home
        os.environ.pop("MITIGAUGE_DATABASE_URL", None)
        # A line a request would be measured along.
        os.environ["MITIGAUGE_LOG_LEVEL"] = "warning"
        from mitigauge.analysis.verdicts.conclusions import conclude_closed
        from mitigauge.storage.database.embedded_server import stop
        from mitigauge.storage.database.engine import alembic_config, database_url, get_engine

        url = database_url()
        try:
            command.upgrade(alembic_config(url), "head")
            engine = get_engine()
            pair = [fill(engine, Size(cases=options.cases), seed=seed) for seed in (1, 2)]
            conclude_closed(engine)
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("vacuum analyze"))
            measure_reading(engine, pair)
            measure_pages(url, pair, options.clients, options.seconds)
        finally:
            stop(Path(home), mode="immediate")


def measure_reading(engine: Engine, pair: list[Filled]) -> None:
    """What one answer costs where nothing is kept, beside the matrix of one experiment."""
    from mitigauge.reporting.pages.experiment_pair import show_pair
    from mitigauge.reporting.pages.experiments import show_matrix
    from mitigauge.storage.database.engine import transaction

    a, b = (each.experiment for each in pair)

    def once(*, whole: bool) -> None:
        with transaction(engine) as session:
            view = show_matrix(session, a) if whole else show_pair(session, a, b)
            view.model_dump_json()

    once(whole=False)
    # As the service does it once it serves.
    gc.collect()
    gc.freeze()
    peer = _p95_ms(lambda: once(whole=True), READINGS // 4)
    ours = _p95_ms(lambda: once(whole=False), READINGS)
    said = "holds" if ours <= LIMIT_MS else "MISSED"
    print(
        f"  {said:<6} computed anew, nothing kept, p95: {ours:.0f} ms (≤ {LIMIT_MS:g});"
        f" {ours / peer:.2f} × the matrix of one of both ({peer:.0f} ms)",
        flush=True,
    )


def _p95_ms(action: object, count: int) -> float:
    assert callable(action)
    times = sorted(1000 * timed(action) for _ in range(count))
    return statistics.quantiles(times, n=20)[-1]


def measure_pages(url: str, pair: list[Filled], clients: int, seconds: float) -> None:
    """Ask for each page alone, then all clients for the same, and print it beside health."""
    path = f"/api/pairs?a={pair[0].experiment}&b={pair[1].experiment}"
    asked = (
        ("first page", path),
        ("rows that differ", f"{path}&only=differs"),
        ("words", f"{path}&find=load+7"),
        ("workload, as planned", f"{path}&workload=workload-3&sort=plan"),
        ("5,000 rows at once", f"{path}&limit=5000"),
    )
    with service(url) as (address, token, _):
        print_beside_health(address, token, asked, clients, seconds, limit_ms=LIMIT_MS)


if __name__ == "__main__":
    main()
