"""Ready-made specs: the files of ``experiments/``, for whoever begins with one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.core.errors import MitigaugeError, NotFound
from mitigauge.core.natural_order import natural_order
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.yaml_file import MAX_BYTES, parse_yaml

DIRECTORY: Final = REPOSITORY / "experiments"


class ReadyMadeHead(BaseModel):
    """One of them in the list."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(description="its file's name without `.yml`")
    question: str = Field(description="what it asks, as one line")
    environment: str


class ReadyMadeSpec(ReadyMadeHead):
    """One of them, whole."""

    text: str = Field(description="YAML, as `POST /api/experiments` takes it")


def list_ready_made(directory: Path = DIRECTORY) -> list[ReadyMadeHead]:
    """All of them by name; a file that cannot be read as a spec is left out."""
    found = []
    for path in sorted(directory.glob("*.yml"), key=lambda file: natural_order(file.stem)):
        spec = _read(path)
        if spec is not None:
            found.append(ReadyMadeHead(**spec.model_dump(exclude={"text"})))
    return found


def show_ready_made(name: str, directory: Path = DIRECTORY) -> ReadyMadeSpec:
    """One of them with its text. Raises :class:`NotFound` naming those that there are."""
    # Looked up among the files that are there: the name is never made a path.
    for path in directory.glob("*.yml"):
        spec = _read(path) if path.stem == name else None
        if spec is not None:
            return spec
    known = ", ".join(each.name for each in list_ready_made(directory)) or "none"
    raise NotFound(f"there is no ready-made spec {name!r}", hint=f"Known: {known}.")


def _read(path: Path) -> ReadyMadeSpec | None:
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        text = path.read_text(encoding="utf-8-sig")
        data = parse_yaml(text, path.name).data
    except (OSError, ValueError, MitigaugeError):
        return None
    if not isinstance(data, dict):
        return None
    return ReadyMadeSpec(
        name=path.stem,
        question=" ".join(str(data.get("question", "")).split()),
        environment=str(data.get("environment", "")),
        text=text,
    )
