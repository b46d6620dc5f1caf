"""The API against generated requests: every operation, every role, all of schemathesis' checks.

``python -m tests.fuzz.api --examples 1000`` runs the long form over a database of its own
that holds a recorded experiment, says how many requests each operation got, and exits with
1 if any check failed.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alembic import command
from sqlalchemy import Engine, text

from api.app import create_app
from mitigauge.core.settings import get_settings
from mitigauge.storage.database.embedded_server import stop
from mitigauge.storage.database.engine import alembic_config, database_url, get_engine
from tests import recording
from tests.clients import ROLES, token_of
from tests.serving import serving

# The package has no __main__, and its script may lie outside of PATH.
COMMAND = "from schemathesis.cli import schemathesis; schemathesis()"
NOBODY = "nobody"
CALLERS = (NOBODY, *ROLES)
# A refusal of what is well-formed and means nothing, such as a spec that is no spec.
ACCEPTED = ["2xx", "401", "403", "404", "409", "422"]
REJECTED = ["400", "401", "403", "404", "405", "409", "413", "414", "415", "422"]
# Which parameters number the rows of which table.
STORED = {
    "experiment": ("experiment_id", "experiment", "b_experiment"),
    "benchmark_case": ("case_id", "case", "b_case"),
    "boot": ("boot_id",),
}
CONFIG = f"""
[checks]
positive_data_acceptance.expected-statuses = {ACCEPTED!r}
negative_data_rejection.expected-statuses = {REJECTED!r}
"""


@dataclass
class Outcome:
    """What came of one caller's requests."""

    requests: Counter[str] = field(default_factory=Counter)
    """By operation."""
    failed: bool = False
    said: str = ""


def prepare(engine: Engine) -> None:
    """Something to ask for."""
    recording.load(engine)
    end_all(engine)


def end_all(engine: Engine) -> None:
    """Leave nothing live: a stream of what is live would never end."""
    with engine.begin() as connection:
        connection.execute(text("update run set state = 'finished'"))
        connection.execute(
            text("update experiment set state = 'finished', concluded_at = clock_timestamp()")
        )


def fuzz(
    engine: Engine, caller: str, *, examples: int, folder: Path, seed: int | None = None
) -> Outcome:
    """Send *examples* requests, and those that cover each boundary, to every operation.

    *caller* is a role, or ``nobody``. *folder* takes the description and the report.
    """
    app = create_app(engine)
    description = folder / "openapi.json"
    description.write_text(json.dumps(within_reach(copy.deepcopy(app.openapi()), engine)))
    config = folder / "schemathesis.toml"
    config.write_text(CONFIG)
    report = folder / f"{caller}.ndjson"
    with serving(app) as port:
        done = subprocess.run(
            [
                *(
                    sys.executable,
                    "-c",
                    "from schemathesis.cli import schemathesis; schemathesis()",
                ),
                *("--config-file", str(config), "run", str(description)),
                *("--url", f"http://127.0.0.1:{port}", "--checks", "all"),
                *("--phases", "coverage,fuzzing", "--max-examples", str(examples)),
                *("--continue-on-failure", "--request-timeout", "20", "--warnings", "off"),
                *("--report", "ndjson", "--report-ndjson-path", str(report)),
                *(["--seed", str(seed)] if seed is not None else []),
                *_header(engine, caller),
            ],
            cwd=folder,
            env={**os.environ, "NO_COLOR": "1", "HYPOTHESIS_STORAGE_DIRECTORY": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
    return Outcome(_requests(report), done.returncode != 0, done.stdout + done.stderr)


def within_reach(description: Mapping[str, Any], engine: Engine) -> Mapping[str, Any]:
    """*description* with numbers no larger than those of what is stored, to meet some of it."""
    with engine.connect() as connection:
        most = {
            name: connection.scalar(text(f"select max(id) from {table}"))
            for table, names in STORED.items()
            for name in names
        }
    for operations in description["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if most.get(parameter["name"]):
                    parameter["schema"] = {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": most[parameter["name"]],
                    }
    return description


def _header(engine: Engine, caller: str) -> list[str]:
    if caller == NOBODY:
        return []
    return ["--header", f"Authorization: Bearer {token_of(engine, caller)}"]


def _requests(report: Path) -> Counter[str]:
    counted: Counter[str] = Counter()
    with suppress(FileNotFoundError), report.open() as lines:
        for line in lines:
            ended = json.loads(line).get("ScenarioFinished")
            if ended:
                counted[ended["recorder"]["label"]] += len(ended["recorder"]["cases"])
    return counted


def main() -> int:
    """The long form."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=1000, help="of an operation, all roles")
    parser.add_argument("--callers", nargs="+", choices=CALLERS, default=list(CALLERS))
    arguments = parser.parse_args()
    each = -(-arguments.examples // len(arguments.callers))
    total: Counter[str] = Counter()
    failed = []
    with tempfile.TemporaryDirectory(prefix="mgf-") as name:
        home = Path(name)
        os.environ["MITIGAUGE_HOME"] = name
        os.environ.pop("MITIGAUGE_DATABASE_URL", None)
        get_settings.cache_clear()
        engine = get_engine()
        try:
            command.upgrade(alembic_config(database_url()), "head")
            prepare(engine)
            for caller in arguments.callers:
                outcome = fuzz(engine, caller, examples=each, folder=home)
                total += outcome.requests
                print(f"{caller}: {outcome.requests.total()} requests", flush=True)
                if outcome.failed:
                    failed.append(caller)
                    print(outcome.said, flush=True)
        finally:
            engine.dispose()
            stop(home)
    for operation, number in sorted(total.items()):
        print(f"{number:7} {operation}")
    print(f"{total.total()} requests, failed as: {', '.join(failed) or 'nobody'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
