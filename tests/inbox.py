"""A list archive of one's own: public-inbox, as lore.kernel.org runs it, on a loopback port."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.ports import free_port

LIST = "list@example.org"
READY_S = 20.0


@dataclass(frozen=True)
class Inbox:
    """A running archive with one list."""

    home: Path
    url: str

    def add(self, *mails: bytes) -> None:
        """Deliver mails to the list."""
        for mail in mails:
            subprocess.run(
                ["public-inbox-mda", "--no-precheck"],
                input=mail, env=_environment(self.home) | {"ORIGINAL_RECIPIENT": LIST},
                check=True, capture_output=True, timeout=60,
            )  # fmt: skip


@contextmanager
def inbox(home: Path, mails: Iterable[bytes] = ()) -> Iterator[Inbox]:
    """Serve a new archive with *mails* in it for as long as the block lasts."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/toys"
    environment = _environment(home)
    subprocess.run(
        ["public-inbox-init", "-V2", "-L", "medium", "toys", home / "toys", url, LIST],
        env=environment, check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    with (home / "config").open("a") as file:
        file.write("[publicinboxmda]\n\tspamcheck = none\n")
    archive = Inbox(home, url)
    archive.add(*mails)
    with (home / "httpd.log").open("wb") as log:
        server = subprocess.Popen(
            ["public-inbox-httpd", "-W0", "-l", f"127.0.0.1:{port}"],
            env=environment, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        _wait(port)
        yield archive
    finally:
        server.terminate()
        server.wait(20)


def _wait(port: int) -> None:
    deadline = time.monotonic() + READY_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PI_CONFIG": str(home / "config")}
