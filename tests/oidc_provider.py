"""A real OpenID provider, panva's certified oidc-provider, as a process beside the tests."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from mitigauge.core.settings import REPOSITORY
from tests.oidc_made import CLIENT, SECRET

PROGRAM = REPOSITORY / "tests" / "oidc" / "provider.mjs"
PACKAGES = REPOSITORY / ".mitigauge" / "tools" / "oidc"
BEGINS_WITHIN_S = 30.0


@dataclass(frozen=True)
class People:
    """Who the provider knows, in the *file* that it reads at each log-in."""

    file: Path

    def are(self, here: str | None, **groups: list[str]) -> None:
        """Those of *groups*, by user name, are known; *here* sits before the browser."""
        people = {f"number-of-{name}": {"name": name, "groups": each}
                  for name, each in groups.items()}  # fmt: skip
        number = None if here is None else f"number-of-{here}"
        self.file.write_text(json.dumps({"here": number, "people": people}))


@contextmanager
def real_provider(
    people: People, port: int, redirect: str, place: str = "userinfo"
) -> Iterator[str]:
    """The provider for as long as the block lasts; its issuer. *place*: where it names groups."""
    assert (PACKAGES / "node_modules" / "oidc-provider").is_dir(), (
        f"{PACKAGES} has no OpenID provider; make setup installs it"
    )
    issuer = f"http://127.0.0.1:{port}"
    log = people.file.with_suffix(".log")
    with log.open("wb") as file, subprocess.Popen(
        ["node", PROGRAM, PACKAGES, people.file, str(port), CLIENT, SECRET, redirect, place],
        stdout=file, stderr=file,
    ) as process:  # fmt: skip
        try:
            deadline = time.monotonic() + BEGINS_WITHIN_S
            while not _answers(issuer):
                late = process.poll() is not None or time.monotonic() > deadline
                assert not late, log.read_text()
                time.sleep(0.1)
            yield issuer
        finally:
            process.terminate()
            process.wait(30)


def _answers(issuer: str) -> bool:
    try:
        return httpx2.get(f"{issuer}/.well-known/openid-configuration").is_success
    except httpx2.TransportError:
        return False
