"""``make bench-weekly``: the weekly report over a fleet, and its rendering."""

from __future__ import annotations

import argparse
import math
import os
import statistics
import tempfile
from pathlib import Path

from alembic import command

from bench.store.__main__ import Row, fixed_s, timed
from bench.weekly.fill import Fleet, fill

LIMIT_S = 30.0


def main() -> None:
    """Fill, make the report of the last week, print how long it took."""
    parser = argparse.ArgumentParser(prog="make bench-weekly", description=main.__doc__)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--series", type=int, default=200, help="a host: case and arm; even")
    parser.add_argument("--weeks", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mitigauge-bench-") as home:
        os.environ["MITIGAUGE_HOME"] = home
        os.environ.pop("MITIGAUGE_DATABASE_URL", None)
        from mitigauge.analysis.verdicts.noise import note_noise
        from mitigauge.reporting.letters.weekly import service
        from mitigauge.storage.database.embedded_server import stop
        from mitigauge.storage.database.engine import alembic_config, database_url, get_engine
        from mitigauge.tracking.trends.update import update

        url = database_url()
        try:
            command.upgrade(alembic_config(url), "head")
            engine = get_engine()
            size = Fleet(options.hosts, options.series // 2, options.weeks)
            filling = timed(lambda: fill(engine, size))
            print(
                f"{size.hosts} hosts × {2 * size.cases} series × {size.weeks} weeks, "
                f"filled in {filling:.1f} s",
                flush=True,
            )
            unit = fixed_s()
            before = timed(lambda: note_noise(engine)) + timed(lambda: update(engine))
            first = timed(lambda: service.make(engine, size.last))
            report = service.make(engine, size.last)
            again = service.make(engine, size.last)
            same = report.rendered("mail") == again.rendered("mail")
            rendering = {
                form: statistics.median(timed(lambda f=form: report.rendered(f)) for _ in range(3))  # type: ignore[misc]
                for form in service.FORMATS
            }
        finally:
            stop(Path(home), mode="immediate")
    print(f"{report.document.subject}; the mail is the same twice: {'yes' if same else 'NO'}")
    rows = [
        Row("weekly report, made and stored", first, "s", LIMIT_S, f"{first / unit:.0f} × fixed")
    ]
    rows.append(Row("runs taken into trends before, as a worker does", before, "s", math.inf))
    rows += [
        Row(f"rendered as {form}", seconds, "s", 2.0, f"{seconds / unit:.1f} × fixed")
        for form, seconds in rendering.items()
    ]
    for row in rows:
        print(row.line())


if __name__ == "__main__":
    main()
