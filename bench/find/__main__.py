"""``make bench-find``: the list of experiments and the search under load."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from alembic import command

from bench.find.fill import Size, fill
from bench.store.__main__ import print_beside_health, service

CLIENTS = 32
SECONDS = 5.0
LIMIT_MS = 80.0
LIST = "/api/experiments"
ASKED = (
    ("the first page", "/api/home"),
    ("regressions, open", "/api/regressions?state=new&state=known"),
    ("regressions, words", "/api/regressions?find=udp+size"),
    ("regressions, nobody's", "/api/regressions?owner="),
    ("list, first page", LIST),
    ("list, page 90", f"{LIST}?offset=4450"),
    ("list, by name", f"{LIST}?sort=name"),
    ("list, words", f"{LIST}?find=udp+cost"),
    ("list, words that nothing has", f"{LIST}?find=nothing"),
    ("list, state and who", f"{LIST}?state=finished&who=person-7"),
    ("list, dates", f"{LIST}?since=2026-03-01&until=2026-04-30"),
    ("list, host", f"{LIST}?host=host-17"),
    ("list, workload", f"{LIST}?workload=workload-3"),
    ("list, mode", f"{LIST}?mode=family-2/mode-1"),
    ("list, worse", f"{LIST}?verdict=worse"),
    ("list, same (nearly all)", f"{LIST}?verdict=same"),
    ("list, all of it", f"{LIST}?find=cost&state=finished&workload=workload-3&verdict=worse"),
    ("choices", f"{LIST}/choices"),
    ("search, a word of many", "/api/search?q=udp"),
    ("search, two words", "/api/search?q=udp+size"),
    ("search, a number", "/api/search?q=1717"),
    ("search, nothing", "/api/search?q=nothing"),
)


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(prog="make bench-find", description=main.__doc__)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of load for each line")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mitigauge-bench-") as home:
        os.environ["MITIGAUGE_HOME"] = home
        os.environ.pop("MITIGAUGE_DATABASE_URL", None)
        # A line a request would be measured along.
        os.environ["MITIGAUGE_LOG_LEVEL"] = "warning"
        from mitigauge.storage.database.embedded_server import stop
        from mitigauge.storage.database.engine import alembic_config, database_url, get_engine

        url = database_url()
        try:
            command.upgrade(alembic_config(url), "head")
            fill(get_engine(), Size())
            measure(url, options.clients, options.seconds)
        finally:
            stop(Path(home), mode="immediate")


def measure(url: str, clients: int, seconds: float) -> None:
    """Ask each page alone, all clients the same, and print what they saw beside health."""
    with service(url) as (address, token, _):
        print_beside_health(address, token, ASKED, clients, seconds, limit_ms=LIMIT_MS)


if __name__ == "__main__":
    main()
