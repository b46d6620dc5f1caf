"""A PostgreSQL server that archives as deploy/pitr/compose.yml says, in places of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from mitigauge.core.settings import REPOSITORY
from mitigauge.storage.database.embedded_server import binary
from mitigauge.storage.database.postgres_account import make_reachable, server_account

SCRIPTS = REPOSITORY / "deploy" / "pitr"
WITHIN_S = 120
YEAR_S = 365 * 86400
# Of whoever loads it, the clock is a year ahead. Times of files stay the machine's.
AHEAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
#define YEAR 31536000

int clock_gettime(clockid_t clock, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += YEAR;
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec precise;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *kept) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (kept) *kept = now.tv_sec;
    return now.tv_sec;
}
"""


@dataclass
class Archived:
    """The server, its archive and the scripts of deploy/pitr."""

    home: Path
    ahead: bool = False
    """Whether the clock of what is started is a year ahead."""
    keep: int = 3

    def __post_init__(self) -> None:
        for path in (self.archive / "log", self.archive / "base", self.archive / "tail"):
            path.mkdir(parents=True)
        shutil.copytree(SCRIPTS, self.scripts)
        account = server_account(self.home)
        self.who: dict[str, Any] = {}
        if account.uid != os.geteuid():
            self.who = {"user": account.uid, "group": account.gid, "extra_groups": []}
            for path in (self.home, *self.home.rglob("*")):
                os.chown(path, account.uid, account.gid)
        programs = binary("postgres").parent.parent
        make_reachable([self.home, programs], [programs], account)
        self.run("initdb", "--auth=trust", "--username=mitigauge", "--no-sync", str(self.data))

    @property
    def archive(self) -> Path:
        return self.home / "archive"

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def scripts(self) -> Path:
        return self.home / "pitr"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{binary('postgres').parent}:{os.defpath}",
            "LC_ALL": "C.UTF-8",
            "ARCHIVE": str(self.archive),
            "BASE_KEEP": str(self.keep),
            "PASSWORD_FILE": "/dev/null",
            "PGDATA": str(self.data),
            "PGHOST": str(self.home),
            "PGUSER": "mitigauge",
            **({"LD_PRELOAD": str(self.clock)} if self.ahead else {}),
        }

    @cached_property
    def clock(self) -> Path:
        source, library = self.home / "ahead.c", self.home / "ahead.so"
        source.write_text(AHEAD)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        library.chmod(0o755)
        return library

    def run(self, *words: str, fails: bool = False) -> str:
        """What a command says, its errors too; it is to fail where *fails* says so."""
        done: subprocess.CompletedProcess[str] = subprocess.run(
            words, env=self.environment, cwd=self.home, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **self.who,
        )  # fmt: skip
        assert (done.returncode != 0) == fails, f"{words}: {done.returncode}: {done.stdout}"
        return done.stdout

    def script(self, name: str, *words: str, fails: bool = False) -> str:
        return self.run("bash", str(self.scripts / name), *words, fails=fails)

    @property
    def settings(self) -> str:
        """How compose.yml starts the server."""
        document = yaml.safe_load((self.scripts / "compose.yml").read_text())
        words = [word for word in document["services"]["database"]["command"][1:] if word != "-c"]
        words = [re.sub(r"\$\{\w+:-(\w+)\}", r"\1", word) for word in words]
        words = [word.replace("/pitr/", f"{self.scripts}/") for word in words]
        words += ["fsync=off", "listen_addresses=", f"unix_socket_directories={self.home}"]
        return " ".join(f"-c '{word}'" for word in words)

    def start(self) -> None:
        """Start the server; it is there when what it recovers is recovered."""
        log = self.home / "server.log"
        # A server keeps what it inherits open: its words go to a file.
        self.run("pg_ctl", "start", "--wait", "-l", str(log), "-o", self.settings)
        self.wait_for(lambda: self.sql("SELECT pg_is_in_recovery()") == "f")

    def stop(self, mode: str = "fast") -> None:
        self.run("pg_ctl", "stop", "--wait", "-m", mode)

    def sql(self, statement: str) -> str:
        words = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--dbname=postgres"]
        return self.run("psql", *words, "--command", statement).strip()

    def write(self, text: str) -> str:
        """Commit a row; gives a moment at which it is the latest."""
        self.sql("CREATE TABLE IF NOT EXISTS written (text text)")
        self.sql(f"INSERT INTO written VALUES ('{text}')")
        return self.sql("SELECT clock_timestamp()")

    def written(self) -> list[str]:
        return self.sql("SELECT text FROM written ORDER BY ctid").splitlines()

    def switch(self) -> str:
        """Have the part of the log that is being written archived; gives its name."""
        name = self.sql("SELECT pg_walfile_name(pg_switch_wal())")
        self.wait_for((self.archive / "log" / name).exists)
        return name

    def base(self, fails: bool = False) -> str:
        return self.script("base", "once", fails=fails)

    def bases(self) -> set[str]:
        return {path.name for path in (self.archive / "base").glob("[!.]*")}

    def restore(self, *words: str) -> str:
        """Stop, go to a moment, start; of what was there before, the latest stays."""
        self.stop()
        for aside in self.home.glob("data.before-*"):
            shutil.rmtree(aside)
        said = self.script("restore", *words)
        self.start()
        return said

    def wait_for(self, true: Callable[[], bool]) -> None:
        ends = time.monotonic() + WITHIN_S
        while not true():
            assert time.monotonic() < ends, (self.home / "server.log").read_text()[-4000:]
            time.sleep(0.02)

    @contextmanager
    def taking(self) -> Iterator[None]:
        """The job that takes bases runs, as in Compose."""
        job = subprocess.Popen(
            ["bash", self.scripts / "base"], env=self.environment, cwd=self.home,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True, **self.who,
        )  # fmt: skip
        try:
            yield
        finally:
            os.killpg(job.pid, signal.SIGTERM)
            job.wait()


@contextmanager
def archived(home: Path) -> Iterator[Archived]:
    """A server that runs, in *home*, which goes with it."""
    home.mkdir(mode=0o755)
    server = Archived(home)
    try:
        server.start()
        yield server
    finally:
        if (server.data / "postmaster.pid").exists():
            server.stop("immediate")
        shutil.rmtree(home, ignore_errors=True)
