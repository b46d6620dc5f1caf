"""A service of its own below the state directory, for what nobody may read.

It has a database, files and a worker of its own, and shares only the lab, its environments and the
compiler's cache. Whatever it measures, judges, searches and writes is in no list, page, trend,
letter or export of the service whose state directory it lies in.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.orm import Session

from mitigauge.core.settings import CODE, Settings
from mitigauge.storage.database import embedded_server
from mitigauge.storage.database.engine import new_engine, transaction
from mitigauge.storage.database.schema_upgrade import upgrade
from mitigauge.storage.files.blobs import BlobStore, blob_store

NAME = "blind"
# Of the state directory; the rest it makes for itself.
SHARED = ("lab", "kernels", "environments")
# Settings of the process above would have it read its mails, watch its archives, take its backups.
PREFIX = "MITIGAUGE_"
ENDS_WITHIN_S = 60.0


@dataclass(frozen=True)
class BlindService:
    """The service below *settings*' state directory."""

    settings: Settings

    @property
    def home(self) -> Path:
        """Its own state directory."""
        return self.settings.home / NAME

    @property
    def blobs(self) -> BlobStore:
        """Its own files."""
        return blob_store(self.settings.model_copy(update={"home": self.home, "blobs_url": ""}))

    def begin(self) -> None:
        """Make it anew: what the last one left goes."""
        self.end()
        with suppress(FileNotFoundError):
            shutil.rmtree(self.home)
        self.home.mkdir(parents=True)
        for name in SHARED:
            shared = self.settings.home / name
            if shared.exists():
                (self.home / name).symlink_to(shared, target_is_directory=True)
        upgrade(embedded_server.ensure_running(self.home))

    def end(self) -> None:
        """End its worker and its database; its files stay until the next one begins."""
        self._end_worker()
        if self.home.exists():
            embedded_server.stop(self.home)

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """A transaction of its database."""
        engine = new_engine(embedded_server.ensure_running(self.home), pooled=False)
        try:
            with transaction(engine) as session:
                yield session
        finally:
            engine.dispose()

    def see_worker(self) -> None:
        """Start its worker where none runs; it ends by itself once nothing is left to do."""
        if self._worker() is not None:
            return
        log = self.home / "log" / "worker.log"
        log.parent.mkdir(exist_ok=True)
        with log.open("ab") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "cli.main", "worker", "--until-idle"],
                cwd=CODE,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._pid_file.write_text(str(process.pid))

    @property
    def environment(self) -> dict[str, str]:
        """Of its worker: nothing of ours that would make it do the service's work again."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        return own | {
            f"{PREFIX}HOME": str(self.home),
            f"{PREFIX}ENVIRONMENTS": self.settings.environments,
            f"{PREFIX}LAB_PORT_BASE": str(self.settings.lab_port_base),
            f"{PREFIX}LEASE_SECONDS": str(self.settings.lease_seconds),
            f"{PREFIX}INJECT_EVERY": "0",
            f"{PREFIX}CONFIRM_BOOTS_WEEK": "0",
        }

    @property
    def _pid_file(self) -> Path:
        return self.home / "worker.pid"

    def _worker(self) -> int | None:
        """Its process; None: it ended. A number that another process has now is none of it."""
        try:
            pid = int(self._pid_file.read_text())
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
            words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except (OSError, ValueError):
            return None
        return pid if f"{PREFIX}HOME={self.home}".encode() in words else None

    def _end_worker(self) -> None:
        deadline = time.monotonic() + ENDS_WITHIN_S
        sign = signal.SIGTERM
        while (pid := self._worker()) is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, sign)
            if time.monotonic() > deadline:
                sign = signal.SIGKILL
            time.sleep(0.5)
