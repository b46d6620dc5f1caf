"""What can be asked for: workloads and modes, read from their files.

To add one is to add files under ``workloads/`` or ``modes/``; nothing here
knows their names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pydantic import (
    BaseModel,
    ValidationError,
)

from mitigauge.core.errors import InvalidInput
from mitigauge.core.field_types import located_errors
from mitigauge.core.natural_order import natural_order
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.modes.families import HardwareEvent, KnownStates, ModeFamily
from mitigauge.measurement.workloads.definitions import Workload

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True)
class Catalog:
    """Every workload and mode family under one root directory."""

    root: Path = REPOSITORY

    @cached_property
    def workloads(self) -> dict[str, Workload]:
        """By name. Raises :class:`InvalidInput` naming file and line of a bad one."""
        found = {}
        for path in in_natural_order(self.root.glob("workloads/*/workload.yml")):
            workload = read_definition(path, Workload, self.root)
            require_name(path, workload.name, path.parent.name)
            found[workload.name] = workload
        return found

    @cached_property
    def families(self) -> dict[str, ModeFamily]:
        """Mode families by name. Raises :class:`InvalidInput` naming file and line."""
        found = {}
        for path in in_natural_order(self.root.glob("modes/*.yml")):
            family = read_definition(path, ModeFamily, self.root)
            require_name(path, family.family, path.stem)
            self._require_events(path, family)
            found[family.family] = family
        return found

    @cached_property
    def events(self) -> dict[str, HardwareEvent]:
        """What modes work by, by name. Raises :class:`InvalidInput` naming file and line."""
        found = {}
        for path in in_natural_order(self.root.glob("modes/events/*.yml")):
            event = read_definition(path, HardwareEvent, self.root)
            require_name(path, event.event, path.stem)
            found[event.event] = event
        return found

    @cached_property
    def known_states(self) -> KnownStates:
        """What no mode expects, with reasons. Raises :class:`InvalidInput` naming file and line."""
        path = self.root / "modes" / "states" / "without-a-mode.yml"
        if not path.is_file():
            return KnownStates()
        return read_definition(path, KnownStates, self.root)

    def _require_events(self, path: Path, family: ModeFamily) -> None:
        named = {event for mode in family.modes.values() for event in mode.events}
        for event in sorted(named - self.events.keys()):
            raise InvalidInput(
                f"{path}: no event {event!r}",
                hint=f"Known: {', '.join(self.events)}. Each is a file of modes/events/.",
            )

    @property
    def mode_names(self) -> list[str]:
        """All modes as ``family/mode``."""
        return [f"{f.family}/{name}" for f in self.families.values() for name in f.modes]

    def workload_directory(self, name: str) -> Path:
        """Where the workload's ``run`` and ``parse.py`` are."""
        return self.root / "workloads" / name


def in_natural_order(paths: Iterable[Path]) -> list[Path]:
    """The paths as people sort them."""
    return sorted(paths, key=lambda path: natural_order(str(path)))


def read_definition(path: Path, model: type[_Model], root: Path) -> _Model:
    """A file's definition. Raises :class:`InvalidInput` naming file and line."""
    document = parse_yaml(path.read_text(), str(path.relative_to(root)))
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        raise InvalidInput(
            "\n".join(located_errors(document, error)), hint="Correct the file."
        ) from error


def require_name(path: Path, name: str, expected: str) -> None:
    """Raise :class:`InvalidInput` where a definition is not named as its place."""
    if name != expected:
        raise InvalidInput(
            f"{path}: is named {name!r} but lies in a place named {expected!r}",
            hint="Give both the same name.",
        )
