"""Detectors of other projects, asked in a process of an environment of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.truth.detectors import Detector, Look, sized
from bench.truth.series import Answer, Values
from mitigauge.core.settings import get_settings

PROCESS = Path(__file__).with_name("peer_process.py")
PACKAGES = ("apache-otava", "ruptures")
# Names in the table, and those that the process knows.
PEERS = {
    "Otava, windows": "otava",
    "Otava, e-divisive": "otava-original",
    "PELT, BIC": "pelt",
    "kernel": "kernel",
}
SLOW = ("Otava, e-divisive",)


def python() -> Path:
    """The interpreter of an environment with the peers in it, made where it is not there."""
    home = get_settings().home / "bench-truth"
    interpreter = home / "bin" / "python"
    if not (home / "made").exists():
        print(f"installing {', '.join(PACKAGES)} into {home}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([str(interpreter), "-m", "pip", "install", "-q", *PACKAGES], check=True)
        (home / "made").touch()
    return interpreter


@dataclass(frozen=True, slots=True)
class _Peer:
    name: str
    interpreter: Path

    def answers(self, series: Sequence[Values]) -> list[Answer]:
        """What it says of each, with sizes told here."""
        last = self._asked([(values, [len(values)]) for values in series])
        return [sized(values, looks[0]) for values, looks in zip(series, last, strict=True)]

    def looks(self, series: Sequence[Values], seen: range) -> list[Look]:
        """What it says of each at each look."""
        every = self._asked([(values, list(seen)) for values in series])
        return [[looks[look] for looks in every] for look in range(len(seen))]

    def _asked(self, asked: list[tuple[Values, list[int]]]) -> list[list[list[int]]]:
        done = subprocess.run(
            [str(self.interpreter), str(PROCESS), PEERS[self.name]],
            input=json.dumps([(values.tolist(), seen) for values, seen in asked]),
            text=True, capture_output=True, check=True,
        )  # fmt: skip
        found: list[list[list[int] | None]] = json.loads(done.stdout)["found"]
        failed = sum(each is None for looks in found for each in looks)
        if failed:
            print(f"{self.name} failed {failed} times, counted as nothing found", flush=True)
        return [[each or [] for each in looks] for looks in found]


def peers() -> list[Detector]:
    """All of them; they are installed where they are not there yet."""
    interpreter = python()
    asked = [_Peer(name, interpreter) for name in PEERS]
    return [Detector(peer.name, peer.answers, peer.looks) for peer in asked]
