"""Handing values to a play in a way that Ansible never takes for templates.

Ansible evaluates whatever it is given as an extra variable, unless it is marked unsafe.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from mitigauge.core.errors import InvalidInput

# Names of roles' variables. Ansible's own decide how it connects, so they stay the inventory's.
NAME = re.compile(r"(?!ansible_)[a-z][a-z0-9_]{0,63}")
DEEPEST = 20


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Writes each text quoted, so that one like ``0123`` or ``off`` stays a text."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 -- the library's name
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", text, style='"')


_Dumper.add_representer(str, _Dumper.represent_text)


def write_variables(directory: Path, variables: Mapping[str, Any]) -> None:
    """Write *variables* to where ansible-runner looks for extra variables of a run.

    The whole document is marked ``!unsafe``, which reaches all its values and keys. (On a
    single text the mark would make Ansible guess its type anew: ``"0123"`` becomes 83.)

    Raises :class:`InvalidInput` for a name that is none of a role's, and for a value that
    is none of JSON's.
    """
    for name, value in variables.items():
        if not NAME.fullmatch(name):
            raise InvalidInput(
                f"{name[:80]!r} cannot be the name of a play's variable",
                hint="Names are lower-case words, and none begins with ansible_.",
            )
        _check(name, value, DEEPEST)
    text = yaml.dump(
        dict(variables), Dumper=_Dumper, sort_keys=False, allow_unicode=False, width=math.inf
    )
    path = directory / "env" / "extravars"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_text(f"--- !unsafe\n{text}", encoding="ascii")


def _check(name: str, value: object, levels: int) -> None:
    """Raise :class:`InvalidInput` unless Ansible reads *value* as it is written."""
    if isinstance(value, list | tuple) and levels:
        for item in value:
            _check(name, item, levels - 1)
    elif isinstance(value, Mapping) and levels:
        for key, item in value.items():
            if not isinstance(key, str) or _UNREADABLE.search(key) or key.startswith(_INTERNAL):
                raise _refusal(name, f"the key {str(key)[:40]!r}")
            _check(name, item, levels - 1)
    elif not _is_plain(value):
        raise _refusal(name, f"{type(value).__name__} {str(value)[:40]!r}")


# Keys by which Ansible marks types in its JSON.
_INTERNAL = "__ansible_"
# NUL, and halves of surrogate pairs, which are no UTF-8.
_UNREADABLE = re.compile(r"[\x00\ud800-\udfff]")


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return not _UNREADABLE.search(value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, bool | int)


def _refusal(name: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"the value of {name} cannot be handed to a play: it holds {what}",
        hint=f"It may hold texts without NUL, numbers, lists and mappings, {DEEPEST} levels deep.",
    )
