"""The real service for browser tests: real PostgreSQL, a recorded run, and one going on.

``python -m tests.web.serve [PORT]`` prints the URL on its first line, where browsers get
in by the key, and serves until it is ended. MITIGAUGE_LOGIN_KEY replaces the key. Experiment 1 was recorded on the emulated hosts; the last one is live, its
hosts simulated, so that progress can be watched without booting anything.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import uvicorn
from alembic import command
from sqlalchemy import Engine

from api.app import create_app
from mitigauge.database import alembic_config, database_url, get_engine, transaction
from mitigauge.embedded_postgres import stop
from mitigauge.experiments.spec import read_spec
from mitigauge.experiments.submit import submit
from mitigauge.settings import REPOSITORY, get_settings
from tests import recording
from tests.specs import CATALOG, HOSTS, SPEC, inventory

HOSTILE = "<img src=x onerror=alert(1)> what does it cost?"


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    with tempfile.TemporaryDirectory(prefix="mgw-") as home:
        os.environ["MITIGAUGE_HOME"] = home
        os.environ.pop("MITIGAUGE_DATABASE_URL", None)
        get_settings.cache_clear()
        engine = get_engine()
        command.upgrade(alembic_config(database_url()), "head")
        if recording.RECORDED.exists():
            recording.load(engine)
        submit_live(engine)
        worker = start_worker(Path(home))
        try:
            serve()
        finally:
            worker.terminate()
            worker.wait()
            engine.dispose()
            stop(Path(home))


def submit_live(engine: Engine) -> None:
    """An experiment that is under way while the tests look on; its question is hostile.

    Its values scatter so much that no look decides it and ends it early.
    """
    text = (
        SPEC.replace("blocks: 2", "blocks: 60")
        .replace("What does it cost?", f"'{HOSTILE}'")
        .replace("workload: spin", "workload: jitter")
    )
    spec = read_spec(text, name="live.yml", catalog=CATALOG, hosts=HOSTS)
    with transaction(engine) as session:
        submit(session, spec, text, catalog=CATALOG, hosts=inventory("alpha"))


def start_worker(worlds: Path) -> subprocess.Popen[bytes]:
    """A real worker over simulated hosts."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.crash.worker_main", database_url(), str(worlds), "30"],
        cwd=REPOSITORY,
    )


def serve() -> None:
    """Serve on the wanted or any free port."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    listener = socket.create_server(("127.0.0.1", port))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    config = uvicorn.Config(create_app(), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
