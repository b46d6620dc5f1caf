"""The hosts of an environment, as Ansible's own inventory says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.natural_order import natural_order
from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.measurement.fleet.service import HostVars, host_vars

# Those that come with Mitigauge: the lab's, and the example that new ones begin with.
SHIPPED = REPOSITORY / "ansible" / "envs"
INVENTORY_TIMEOUT_S = 60
# An inventory is read, never run; and a file with a fault in it is not one without hosts.
INVENTORY_READING = {
    "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true",
    "ANSIBLE_INVENTORY_ENABLED": "yaml",
}


def environment_folders() -> dict[str, Path]:
    """Every environment there is an inventory for, by name; the team's own stand before ours."""
    found: dict[str, Path] = {}
    for directory in (SHIPPED, get_settings().own_environments):
        with suppress(FileNotFoundError):
            found |= {path.name: path for path in directory.iterdir() if path.is_dir()}
    return dict(sorted(found.items(), key=lambda of: natural_order(of[0])))


def environment_names() -> list[str]:
    """Every environment there is an inventory for."""
    return list(environment_folders())


def inventory_sources(environment: str) -> list[Path]:
    """The environment's inventory, and the one generated beside it if there is one.

    Raises :class:`NotFound` naming the known environments.
    """
    folders = environment_folders()
    if environment not in folders:
        raise NotFound(
            f"there is no environment {environment!r}",
            hint=f"Known: {', '.join(folders)}. Each is a folder of "
            f"{get_settings().own_environments}.",
        )
    generated = get_settings().home / environment / "inventory" / "hosts.yml"
    sources = [folders[environment] / "hosts.yml"]
    return [*sources, generated] if generated.exists() else sources


def load_hosts(environment: str) -> dict[str, HostVars]:
    """All hosts of the environment by name.

    Raises :class:`NotFound` for an unknown environment and :class:`InvalidInput` when
    Ansible cannot read its inventory.
    """
    sources = inventory_sources(environment)
    listing = _list(tuple(sources), _stamps(sources))
    timeout = get_settings().boot_timeout_s
    return {
        name: host_vars(name, environment, variables, boot_timeout_s=timeout)
        for name, variables in sorted(listing.items())
    }


def _stamps(sources: Sequence[Path]) -> tuple[tuple[str, int, int], ...]:
    """Name, time and size of every file that the inventory may read."""
    stamps = []
    for file in (file for source in sources for file in sorted(source.parent.rglob("*"))):
        with suppress(FileNotFoundError):  # being replaced right now
            found = file.stat()
            stamps.append((str(file), found.st_mtime_ns, found.st_size))
    return tuple(stamps)


@lru_cache(maxsize=16)
def _list(
    sources: tuple[Path, ...], _: tuple[tuple[str, int, int], ...]
) -> Mapping[str, Mapping[str, Any]]:
    """What Ansible says; kept while no file changes, since a worker asks at every step."""
    command = [str(Path(sys.executable).parent / "ansible-inventory"), "--list"]
    for source in sources:
        command += ["-i", str(source)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=INVENTORY_TIMEOUT_S,
        check=False,
        cwd=REPOSITORY / "ansible",
        env={
            **os.environ,
            **INVENTORY_READING,
        },
    )
    if done.returncode != 0:
        raise InvalidInput(
            f"the inventory {sources[0]} cannot be read: {done.stderr.strip()[-500:]}",
            hint=f"Try `ansible-inventory -i {sources[0]} --list`.",
        )
    listing = json.loads(done.stdout)
    hosts: dict[str, Mapping[str, Any]] = dict(listing["_meta"]["hostvars"])
    for group in listing.values():
        for name in group.get("hosts", []) if isinstance(group, dict) else []:
            hosts.setdefault(name, {})
    _require_no_group(hosts, {"all", "ungrouped", *listing})
    return hosts


def _require_no_group(hosts: Iterable[str], groups: Set[str]) -> None:
    """A play is limited to one host by its name, which must not mean a whole group."""
    for name in hosts:
        if name in groups:
            raise InvalidInput(
                f"{name!r} is the name of a host and of a group",
                hint="Give the host another name: a play for it would reach the whole group.",
            )
