"""`make bench`: how long the house itself takes, median of a few tries each.

Everything is real: a PostgreSQL server in a directory of its own, the installed
command, the built dashboard. Nothing that is measured here says anything of a host.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mitigauge.core.settings import REPOSITORY
from mitigauge.storage.database.embedded_server import ensure_running, stop

RECORDED = REPOSITORY / "db" / "recorded" / "lab-demo.mitigauge.zst"
COMMAND = Path(sys.executable).with_name("mitigauge")


def median_s(tries: int, action: Callable[[], object]) -> float:
    """Median wall-clock seconds of *action*."""
    seconds = []
    for _ in range(tries):
        begun = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds)


def run(*command: str | Path, home: Path | None = None) -> None:
    """Run a command from the checkout; raises where it fails."""
    more = {"MITIGAUGE_HOME": str(home), "MITIGAUGE_DATABASE_URL": ""} if home else {}
    subprocess.run(
        command, cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL, env=os.environ | more
    )


def cpu_s(action: Callable[[], object]) -> float:
    """Processor seconds of the processes that *action* starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start_figures(tries: int) -> dict[str, tuple[float, float]]:
    """Of commands that should start at once: processor seconds, and how many times those of
    importing SQLAlchemy, taken in turns with it; medians."""
    with tempfile.TemporaryDirectory(prefix="mitigauge-bench-") as directory:
        home = Path(directory)
        try:
            run(COMMAND, "db", "upgrade", home=home)
            run(COMMAND, "experiment", "import", RECORDED, home=home)
            return {
                f"mitigauge {' '.join(words)}": beside_sqlalchemy(tries, words, home)
                for words in (["--version"], ["--help"], ["experiment", "list"])
            }
        finally:
            stop(home, mode="immediate")


def beside_sqlalchemy(tries: int, words: list[str], home: Path) -> tuple[float, float]:
    """One command's figures; see :func:`start_figures`."""
    pairs = [
        (
            cpu_s(lambda: run(COMMAND, *words, home=home)),
            cpu_s(lambda: run(sys.executable, "-c", "import sqlalchemy", home=home)),
        )
        for _ in range(tries + 1)
    ][1:]
    return statistics.median(a for a, _ in pairs), statistics.median(a / b for a, b in pairs)


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
        **database_figures(arguments.tries),
    }
    started = start_figures(arguments.tries * 3)
    kilobytes = dashboard_kilobytes()
    if arguments.json:
        ratios = {name: ratio for name, (_, ratio) in started.items()}
        figures = {"seconds": seconds, "beside_sqlalchemy": ratios, "dashboard_gzip_kib": kilobytes}
        print(json.dumps(figures, indent=2))
        return
    for name, value in seconds.items():
        print(f"{name:<28} {value:9.4f} s")
    for name, (value, ratio) in started.items():
        print(f"{name:<28} {value:9.4f} s of processor, {ratio:.2f} x `import sqlalchemy`")
    if kilobytes is not None:
        print(f"{'dashboard, gzipped':<28} {kilobytes:9.1f} KiB")


if __name__ == "__main__":
    main()
