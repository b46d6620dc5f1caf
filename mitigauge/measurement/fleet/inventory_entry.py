"""A host's entry in an inventory: made whole, or not at all; comments of others stay."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from mitigauge.core.errors import Conflict, InvalidInput
from mitigauge.measurement.fleet.service import host_vars

EXAMPLE = "example"
# The lab writes its own; the example is there to be copied.
NOT_TO_BE_CHANGED = ("lab", EXAMPLE)
_ENVIRONMENT = re.compile(r"[a-z][a-z0-9_-]{0,62}", re.ASCII)
_HEAD = """---
# Hosts of this environment. docs/hosts.md has the power drivers and consoles, ansible/README.md all
# variables. Passwords stand in files that only the worker's user can read, never here.
all:
  hosts:
"""


def write_host(
    environments: Path,
    environment: str,
    name: str,
    variables: Mapping[str, Any],
    *,
    example: Path,
    check: Callable[[], object] = lambda: None,
    replace: bool = False,
) -> Path:
    """Write host *name* into the environment's ``hosts.yml``; returns that file.

    A folder that is not there is made, with the ``group_vars/all.yml`` of the folder *example*.
    *check* is called when the file is written: if it raises, the file is as it was before. With
    *replace* the host's variables are updated. Raises :class:`InvalidInput` for a value that
    cannot be, and :class:`Conflict` for a name that is taken.
    """
    _require_environment(environment)
    host_vars(name, environment, variables, boot_timeout_s=1.0)
    folder = environments / environment
    file = folder / "hosts.yml"
    before = file.read_text() if file.exists() else None
    text = with_host(before or _HEAD, name, variables, where=str(file), replace=replace)
    made = _make_folder(example, folder)
    try:
        _put(file, text)
        check()
    except BaseException:
        if made:
            shutil.rmtree(folder)
        elif before is None:
            file.unlink(missing_ok=True)
        else:
            _put(file, before)
        raise
    return file


def with_host(
    text: str, name: str, variables: Mapping[str, Any], *, where: str, replace: bool = False
) -> str:
    """The inventory *text* with one host more, under ``all.hosts``. Pure.

    Raises :class:`InvalidInput` for a text that is no inventory, naming *where* it stands, and
    :class:`Conflict` for a name that a host or a group has.
    """
    yaml = YAML()
    yaml.width = 100
    # Their quotes may be what keeps "on" a word.
    yaml.preserve_quotes = True
    yaml.explicit_start = text.startswith("---")
    yaml.indent(mapping=2, sequence=4, offset=2)
    try:
        tree = yaml.load(text) or {}
    except YAMLError as error:
        said = " ".join(str(error).split())[:300]
        raise InvalidInput(f"{where} cannot be read: {said}", hint="Mend it first.") from None
    top = tree.setdefault("all", {}) if isinstance(tree, dict) else None
    hosts = (top.setdefault("hosts", {}) or {}) if isinstance(top, dict) else None
    if top is None or not isinstance(hosts, dict):
        raise InvalidInput(
            f"{where} has no group `all` with hosts", hint="See ansible/envs/example."
        )
    if not replace and name in set(_names(tree)):
        raise Conflict(
            f"{where} has a host or a group named {name!r} already",
            hint="Edit that entry, or choose another name.",
        )
    top["hosts"] = hosts
    hosts[name] = {**(hosts.get(name) or {}), **_quote_words(variables)}
    out = io.StringIO()
    yaml.dump(tree, out)
    return out.getvalue()


def _quote_words(value: Any) -> Any:
    """*value*, with quotes around each text that Ansible's YAML 1.1 reads as something else."""
    if isinstance(value, Mapping):
        return {_quote_words(key): _quote_words(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_quote_words(each) for each in value]
    if isinstance(value, str) and _is_no_text(value):
        return DoubleQuotedScalarString(value)
    return value


def _is_no_text(text: str) -> bool:
    try:
        return not isinstance(_yaml_1_1().load(text), str)
    except YAMLError:
        return True


@cache
def _yaml_1_1() -> YAML:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    return yaml


def _require_environment(environment: str) -> None:
    if environment in NOT_TO_BE_CHANGED:
        raise InvalidInput(
            f"environment {environment!r} is not for hosts of yours",
            hint="Name another: a folder is made for it.",
        )
    if not _ENVIRONMENT.fullmatch(environment):
        raise InvalidInput(
            f"environment {environment[:80]!r} cannot be the name of a folder",
            hint="Use small letters, digits, _ and -, beginning with a letter.",
        )


def _names(group: object) -> Iterator[str]:
    """Every host and group of a tree of groups."""
    if not isinstance(group, Mapping):
        return
    for name, body in group.items():
        yield str(name)
        if isinstance(body, Mapping):
            yield from (str(host) for host in body.get("hosts") or {})
            yield from _names(body.get("children"))


def _make_folder(example: Path, folder: Path) -> bool:
    """Make the folder of an environment; False where it is there."""
    if folder.exists():
        return False
    shutil.copytree(example / "group_vars", folder / "group_vars")
    for file in (folder / "group_vars").iterdir():
        # The others are of the example's own groups.
        if file.name != "all.yml":
            file.unlink()
    return True


def _put(file: Path, text: str) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text(text)
    fresh.replace(file)
