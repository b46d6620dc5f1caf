"""What this machine's worker can do: looked at here, never asked of anybody."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable
from pathlib import Path

from mitigauge.core.errors import MitigaugeError
from mitigauge.core.settings import Settings
from mitigauge.jobs.abilities import Abilities, Missing
from mitigauge.jobs.states import Ability
from mitigauge.measurement.fleet.inventory import environment_names, load_hosts
from mitigauge.measurement.fleet.inventory_entry import EXAMPLE
from mitigauge.measurement.fleet.service import HostVars
from pipelines.adapters.build_root import known_bases

# Without one of these no kernel is built; its way out stands beside it.
BUILD_PROGRAMS = {
    "bwrap": "install bubblewrap",
    "git": "install git",
    "prlimit": "install util-linux",
    "mmdebstrap": "install mmdebstrap",
}

Which = Callable[[str], str | None]


def find_abilities(settings: Settings, which: Which = shutil.which) -> Abilities:
    """What a worker of these settings can do on this machine, and what it lacks.

    Raises nothing: an inventory that cannot be read is something that it lacks.
    """
    lacks: list[Missing] = []
    hosts: dict[str, list[str]] = {}
    for environment in environment_names():
        if environment == EXAMPLE:
            continue
        reached, missing_here = _reachable(environment)
        lacks += missing_here
        if reached:
            hosts[environment] = reached
    jobs, bases = [Ability.LETTERS, Ability.DIGESTS], dict[str, str]()
    missing = [(name, way) for name, way in BUILD_PROGRAMS.items() if which(name) is None]
    if missing:
        said = "; ".join(f"no {name}: {way}" for name, way in missing)
        lacks.append(Missing(what="kernel builds", why=said))
    else:
        jobs.append(Ability.KERNELS)
        bases = _bases(settings)
    if settings.watch_series:
        jobs.append(Ability.ARCHIVES)
    if settings.maildir:
        _add_mail(settings, jobs, lacks)
    if settings.backup_directory:
        _add_backups(Path(settings.backup_directory), jobs, lacks)
    return Abilities(
        jobs=sorted(jobs), hosts=hosts, bases=bases, architecture=platform.machine(), lacks=lacks
    )


def _bases(settings: Settings) -> dict[str, str]:
    try:
        return dict(known_bases(settings))
    except (MitigaugeError, OSError, ValueError):
        # It is fetched anew with the first kernel.
        return {}


def _reachable(environment: str) -> tuple[list[str], list[Missing]]:
    """Hosts of the environment whose keys are there, and what is missing for the others."""
    try:
        hosts = load_hosts(environment)
    except (MitigaugeError, OSError, ValueError) as error:
        return [], [Missing(what=f"environment {environment}", why=_words(error))]
    whys = {name: _why_unreachable(host) for name, host in hosts.items()}
    reached = [name for name, why in whys.items() if not why]
    unreached = {name: why for name, why in whys.items() if why}
    if len(unreached) > 1 and len(set(unreached.values())) == 1 and not reached:
        [why] = set(unreached.values())
        return [], [Missing(what=f"all hosts of {environment}", why=why)]
    lacks = [Missing(what=f"host {environment}/{name}", why=why) for name, why in unreached.items()]
    return reached, lacks


def _why_unreachable(host: HostVars) -> str:
    key = host.variables.get("ansible_ssh_private_key_file")
    if not key:
        return ""  # an agent, or ssh's own configuration
    path = Path(str(key)).expanduser()
    if not path.is_file():
        return f"its key {path} is missing"
    return "" if os.access(path, os.R_OK) else f"its key {path} cannot be read"


def _add_mail(settings: Settings, jobs: list[Ability], lacks: list[Missing]) -> None:
    new = Path(settings.maildir) / "new"
    if os.access(new, os.R_OK | os.W_OK | os.X_OK):
        jobs.append(Ability.MAIL)
    else:
        lacks.append(Missing(what="mail", why=f"{new} is missing, or cannot be read and written"))


def _add_backups(directory: Path, jobs: list[Ability], lacks: list[Missing]) -> None:
    if directory.is_dir() and os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        jobs.append(Ability.BACKUPS)
    else:
        lacks.append(Missing(what="backups", why=f"{directory} is missing, or cannot be written"))


def _words(error: Exception) -> str:
    return error.message if isinstance(error, MitigaugeError) else str(error)
