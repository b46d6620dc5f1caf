"""Variables ``MITIGAUGE_…`` of a process: which there are, and what each says.

A secret may stand in a file: ``MITIGAUGE_NAME_FILE`` names one that holds the value of
``MITIGAUGE_NAME``, as Docker's and systemd's secrets are handed over.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from mitigauge.core.errors import InvalidInput

PREFIX: Final = "MITIGAUGE_"
IN_FILE: Final = "_FILE"
LONGEST_BYTES: Final = 64 << 10

# Names that something beside the service reads: they are no settings, and no mistakes either.
OTHERS: Final[Mapping[str, str]] = {
    "API": "web/vite.config.ts: where the development server finds the API",
    "OPENAPI": "web/scripts/api-types.mjs: a file instead of the command's description",
    "SHOTS": "web/tests: a directory for pictures of pages",
    "STARTED_LINK": "web/tests: the link of the service that the tests start",
    "WEB_URL": "web/playwright.config.ts: the link of a service that runs already",
    "RUNNER_REPOSITORY": "scripts/runner-guard.sh: whose jobs a runner takes",
    "RUNNER_WORKFLOWS": "scripts/runner-guard.sh: which files of them",
    "WEEKLY_SPEC": "pipelines/ci/measure.yml: what a schedule runs; a variable of the repository",
    "BACKUPS": "docker-compose.yml: the machine's directory of backups",
    "BUILDER_MEMORY": "docker-compose.yml: a limit",
    "CONFIGURATION": "docker-compose.yml: the machine's directory of environments and secrets",
    "DEBIAN_IMAGE": "docker-compose.yml: what images are built from",
    "MACHINE_IMAGE": "scripts/test-deploy: a machine with systemd",
    "MEMORY": "docker-compose.yml: a limit",
    "LOGIN_CLIENT": "deploy/proxy/oauth2-proxy.yml: by which name the provider knows the proxy",
    "LOGIN_ISSUER": "deploy/proxy/oauth2-proxy.yml: the OpenID provider",
    "NGINX_IMAGE": "deploy/proxy/nginx.yml: which image",
    "LOGIN_IMAGE": "deploy/proxy/oauth2-proxy.yml: which image",
    "POSTGRES_IMAGE": "docker-compose.yml: which image",
    "PUBLISH": "docker-compose.yml: address and port of the machine",
    "REVISION": "docker-compose.yml: a label of the images",
    "USER": "deploy/prepare: whose the secrets are",
    "VERSION": "docker-compose.yml: a label and tag of the images",
    "CLOCK": "mitigauge/core/wire/job.py: told to a workload on its host",
    "CPU": "mitigauge/core/wire/job.py: told to a workload on its host",
    "PACE": "mitigauge/core/wire/job.py: told to a workload on its host",
    "MAPS": "lab/exact/marks.c: told to a program on an emulated host",
    "MARKS": "mitigauge/core/wire/exact.py: told to a workload on an emulated host",
    "WINDOW": "lab/exact/marks.c: told to a program on an emulated host",
    "DISK_FOLDER": "workloads/_kit/data_disk.py: where a guest's disk lies on a host",
    "LOAD": "workloads/window/run: the operator's program on a host",
    "GUEST_CPU": "workloads/window/run: told to that program",
    "GUEST_IRQCHIP": "workloads/window/run: told to that program",
    "BISECT_PATIENCE_S": "tests/lab: how long a bisection may take",
    "FAULTS": "tests/crash: how many faults",
    "FLAMEGRAPH": "tests/unit/profiles: a checkout of FlameGraph, whose captures are folded",
    "SEED": "tests/crash: which ones",
    "RIG_EXAMPLES": "tests/crash: how many interleavings",
}

# Settings of what went, by the beginning of their names: what was configured is not passed over.
GONE: Final[Mapping[str, str]] = {
    "INJECT_EVERY": "`mitigauge experiment qualify SPEC --host HOST` measures how often a known "
    "slow-down is found: unset this.",
    "OIDC_": "The service logs nobody in by OpenID Connect itself: put oauth2-proxy in front, "
    "MITIGAUGE_PROXY_SECRET_FILE and MITIGAUGE_PROXY_ROLES say whom it may name "
    "(docs/operating.md, Single sign-on); then unset this.",
    "FOLLOWERS_LIMIT": "Pages ask for progress again and again, and nothing is held open: "
    "unset this.",
    "PUBLIC_ERROR_RATES": "How often we are wrong is read as all else is, by who may read: "
    "unset this.",
}


def said_in(environment: Mapping[str, str], settings: Collection[str]) -> dict[str, str]:
    """What *environment* says of the *settings* (names in small letters), files read.

    Raises :class:`InvalidInput` for a name that nothing reads, for a setting that is given
    twice, and for a file that cannot be read.
    """
    _refuse_gone(environment)
    _require_known(environment, settings)
    said = {}
    for setting in settings:
        name = PREFIX + setting.upper()
        value, file = environment.get(name), environment.get(name + IN_FILE, "")
        # A setting may itself be called so: then it is a path, and no other one's file.
        if file and setting + IN_FILE.lower() not in settings:
            if value:
                raise InvalidInput(
                    f"both {name} and {name}{IN_FILE} are given",
                    hint="Give one of them, and unset the other.",
                )
            value = content_of(name + IN_FILE, file)
        if value is not None:
            said[setting] = value
    return said


def content_of(name: str, file: str) -> str:
    """What *file* holds, which *name* names, without one line break at its end.

    Raises :class:`InvalidInput` for one that cannot be read.
    """
    try:
        with Path(file).open("rb") as opened:
            held = opened.read(LONGEST_BYTES + 1)
        text = held.decode()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise InvalidInput(
            f"{name}, {file}, cannot be read: {why}",
            hint="Name a text file that the user of this process may read.",
        ) from None
    if len(held) > LONGEST_BYTES or "\0" in text:
        raise InvalidInput(
            f"{name}, {file}, has a NUL or more than {LONGEST_BYTES >> 10} KiB",
            hint="The whole file is the value of the setting, and nothing else.",
        )
    return text.removesuffix("\n")


def _refuse_gone(environment: Mapping[str, str]) -> None:
    """Raise :class:`InvalidInput` for a setting of what went."""
    for beginning, way_out in GONE.items():
        for name, value in environment.items():
            if name.startswith(PREFIX + beginning) and value:
                raise InvalidInput(f"{name[:80]} is no longer a setting", hint=way_out)


def _is_gone(name: str) -> bool:
    return name.startswith(tuple(PREFIX + beginning for beginning in GONE))


def _require_known(environment: Mapping[str, str], settings: Collection[str]) -> None:
    """Raise :class:`InvalidInput` for a variable of our prefix that nothing reads."""
    given = [name for name in environment if name.startswith(PREFIX)]
    known = {PREFIX + name.upper() for name in settings}
    known |= {name + IN_FILE for name in known} | {PREFIX + name for name in OTHERS}
    # One of what went is empty here: docker-compose.yml hands it on so.
    unknown = sorted(name for name in given if name not in known and not _is_gone(name))
    if not unknown:
        return
    # Only where something is wrong: it takes time to load.
    from difflib import get_close_matches

    near = get_close_matches(unknown[0], sorted(known), n=1)
    raise InvalidInput(
        f"there is no setting {', '.join(name[:80] for name in unknown[:5])}",
        hint=(f"Is {near[0]} meant? " if near else "")
        + "docs/operating.md lists the settings; unset what is none.",
    )
