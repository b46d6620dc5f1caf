"""Cases that a workload left, to be broken."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.fuzz.mutations import as_json, odd_bytes, odd_json


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change an object in a file."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def reseal(directory: Path) -> None:
    """Have run.json's digests fit the files again, as a host that forges both would."""
    path = directory / "run.json"
    record = json.loads(path.read_text())
    for name in record["sha256"]:
        record["sha256"][name] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    path.write_text(json.dumps(record))


def refused_of_300(parsing: ModuleType, case_dir: Path, name: str) -> int:
    """How many of 300 changed forms of a file are refused; all others give the same numbers."""
    rng = random.Random(1)
    expected = parsing.parse(case_dir)["metrics"]
    path = case_dir / name
    recorded = path.read_bytes()
    refused = 0
    for _ in range(300):
        changed = as_json(rng, odd_json(rng, json.loads(recorded)))
        path.write_bytes(changed if rng.random() < 0.5 else odd_bytes(rng, recorded))
        try:
            assert parsing.parse(case_dir)["metrics"] == expected
        except parsing.ParseError:
            refused += 1
    return refused
