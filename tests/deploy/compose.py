"""A service by docker-compose.yml, in places of its own, under a name of its own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mitigauge.core.settings import REPOSITORY
from tests.ports import free_port
from tests.unit.docs.pages import blocks, page

PAGE = "docs/operating.md"


def shown(section: str) -> list[list[str]]:
    """The commands of a section of the page, as words, in order."""
    found = [block for block in blocks(page(PAGE)) if block.section == section]
    lines = [line for block in found if block.language == "sh" for line in block.text.splitlines()]
    return [shlex.split(line) for line in lines if line]


def command(section: str, *first: str) -> list[str]:
    """The one command of the section that holds these words."""
    found = [words for words in shown(section) if set(first) <= set(words)]
    assert len(found) == 1, f"{section} shows {len(found)} commands with {first}"
    return found[0]


@dataclass
class Composed:
    """The service, its places and its port on this machine."""

    directory: Path
    project: str
    port: int = field(default_factory=free_port)
    files: Sequence[str] = ()

    @property
    def configuration(self) -> Path:
        return self.directory / "etc"

    @property
    def backups(self) -> Path:
        return self.directory / "backups"

    @property
    def environment(self) -> dict[str, str]:
        """Of the administrator's shell."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("MITIGAUGE_") or name.endswith("_IMAGE")
        }
        return kept | {
            "COMPOSE_PROJECT_NAME": self.project,
            "MITIGAUGE_CONFIGURATION": str(self.configuration),
            "MITIGAUGE_BACKUPS": str(self.backups),
            "MITIGAUGE_PUBLISH": f"127.0.0.1:{self.port}",
            "MITIGAUGE_VERSION": "tested",
            "MITIGAUGE_ALLOWED_HOSTS": f"localhost:{self.port}",
        }

    def run(
        self,
        words: Sequence[str],
        given: Mapping[str, str] | None = None,
        more: Sequence[str] = (),
        fails: bool = False,
        text: str = "",
        timeout_s: float = 900,
    ) -> str:
        """What a command prints, with *given* put in for the page's placeholders.

        *text* is what it reads from its standard input.
        """
        words = [(given or {}).get(word, word) for word in words]
        if words[0] == "sudo":
            words = words[1:]
        if words[:2] == ["docker", "compose"] and words[2] in {"exec", "run"}:
            words = [*words[:3], "-T", *words[3:]]
        print("$", *words, *more, flush=True)
        done = subprocess.run(
            [*words, *more],
            cwd=REPOSITORY, env=self.environment, input=text,
            capture_output=True, text=True, timeout=timeout_s, check=False,
        )  # fmt: skip
        print(done.stdout[-4000:], done.stderr[-4000:], flush=True)
        assert fails or done.returncode == 0, f"{words}: {done.returncode}: {done.stderr}"
        return done.stdout

    def compose(self, *words: str, **options: Any) -> str:
        return self.run(["docker", "compose", *words], **options)

    def containers(self) -> dict[str, dict[str, Any]]:
        """What runs, by service."""
        lines = self.compose("ps", "--all", "--format", "json").splitlines()
        return {found["Service"]: found for found in map(json.loads, lines)}

    def gateway(self) -> str:
        """This machine's address as containers reach it."""
        network = f"{self.project}_default"
        said = self.run(["docker", "network", "inspect", network])
        return str(json.loads(said)[0]["IPAM"]["Config"][0]["Gateway"])
