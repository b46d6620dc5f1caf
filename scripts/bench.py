"""`make bench`: how long the house itself takes, median of a few tries each.

Everything is real: a PostgreSQL server in a directory of its own, the installed
command, the built dashboard. Nothing that is measured here says anything of a host.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mitigauge.embedded_postgres import ensure_running, stop
from mitigauge.settings import REPOSITORY

COMMAND = Path(sys.executable).with_name("mitigauge")


def median_s(tries: int, action: Callable[[], object]) -> float:
    """Median wall-clock seconds of *action*."""
    seconds = []
    for _ in range(tries):
        begun = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds)


def run(*command: str | Path) -> None:
    """Run a command from the checkout; raises where it fails."""
    subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)


def database_figures(tries: int) -> dict[str, float]:
    """Seconds to make a server, to start a stopped one, to find a running one."""
    with tempfile.TemporaryDirectory(prefix="mitigauge-bench-") as directory:
        home = Path(directory)
        made = median_s(1, lambda: ensure_running(home))

        def start_again() -> None:
            stop(home)
            ensure_running(home)

        try:
            found = median_s(tries * 20, lambda: ensure_running(home))
            again = median_s(tries, start_again)
        finally:
            stop(home, mode="immediate")
    return {"database: new": made, "database: stop and start": again, "database: found": found}


def dashboard_kilobytes() -> float | None:
    """What a browser loads of scripts and styles, gzipped; None where there is no build."""
    assets = REPOSITORY / "web" / "dist" / "assets"
    files = [*assets.glob("*.js"), *assets.glob("*.css")]
    if not files:
        return None
    return sum(len(gzip.compress(file.read_bytes())) for file in files) / 1024


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--tries", type=int, default=3)
    arguments = parser.parse_args()

    seconds = {
        "set-up, nothing to do": median_s(arguments.tries, lambda: run("scripts/setup")),
        "mitigauge --help": median_s(arguments.tries, lambda: run(COMMAND, "--help")),
        **database_figures(arguments.tries),
    }
    kilobytes = dashboard_kilobytes()
    if arguments.json:
        print(json.dumps({"seconds": seconds, "dashboard_gzip_kib": kilobytes}, indent=2))
        return
    for name, value in seconds.items():
        print(f"{name:<28} {value:9.4f} s")
    if kilobytes is not None:
        print(f"{'dashboard, gzipped':<28} {kilobytes:9.1f} KiB")


if __name__ == "__main__":
    main()
