"""The ssh call that reaches a host as Ansible reaches it, for what needs no play."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from configparser import RawConfigParser
from functools import cache
from pathlib import Path
from typing import Any

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.fleet.service import HostVars

CONFIGURATION = REPOSITORY / "ansible" / "ansible.cfg"
# Where Ansible puts the sockets of connections that are shared, by ansible.cfg.
SOCKETS = Path("~/.ansible/cp")
# What only Ansible can do, or only with a secret that has no place in a command.
ANSIBLES_OWN = (
    "ansible_password",
    "ansible_ssh_pass",
    "ansible_ssh_password",
    "ansible_become_password",
    "ansible_become_pass",
    "ansible_ssh_executable",
    "ansible_control_path",
    "ansible_control_path_dir",
    "ansible_ssh_args",
)
# What a call can do as Ansible does it; the first is what an inventory need not say.
KNOWN = {
    "ansible_connection": ("ssh", "smart"),
    "ansible_become_method": ("sudo",),
    "ansible_become_user": ("root",),
}
READ_HERE = (
    "ansible_user",
    "ansible_ssh_private_key_file",
    "ansible_ssh_common_args",
    "ansible_ssh_extra_args",
    "ansible_python_interpreter",
)


def ssh_command(host: HostVars, remote: Sequence[str]) -> list[str] | None:
    """The call that runs *remote* on the host as who changes it there.

    None where only Ansible knows how: its inventory holds a template, a password, or another
    connection than ssh's. The connection is the one that Ansible's tasks share, if it stands.
    """
    given = host.variables
    if not host.address or not _is_plain(given):
        return None
    become = ["sudo", "-n", "--"] if _wants(given.get("ansible_become")) else []
    user = given.get("ansible_user")
    key = given.get("ansible_ssh_private_key_file")
    return [
        "ssh", "-T", "-q",
        # The first value of an option counts: an inventory weakens nothing of these.
        *shlex.split(_ssh_args()),
        *("-o", "BatchMode=yes"),
        *("-o", f"Port={host.port}"),
        *(("-o", f'IdentityFile="{Path(str(key)).expanduser()}"') if key else ()),
        *(("-o", f'User="{user}"') if user else ()),
        *("-o", "ConnectTimeout=30"),
        *shlex.split(str(given.get("ansible_ssh_common_args") or "")),
        *shlex.split(str(given.get("ansible_ssh_extra_args") or "")),
        *("-o", f"ControlPath={SOCKETS.expanduser()}/%C"),
        "--", host.address, shlex.join([*become, *remote]),
    ]  # fmt: skip


def python_of(host: HostVars) -> str:
    """The Python that plays use on the host."""
    named = host.variables.get("ansible_python_interpreter")
    return str(named or _of("defaults", "interpreter_python"))


def _is_plain(given: Mapping[str, Any]) -> bool:
    if any(given.get(name) for name in ANSIBLES_OWN):
        return False
    if any(given.get(name, allowed[0]) not in allowed for name, allowed in KNOWN.items()):
        return False
    return not any("{{" in str(given.get(name) or "") for name in READ_HERE)


def _wants(become: object) -> bool:
    return become is True or str(become).lower() in ("true", "yes", "1")


def _ssh_args() -> str:
    return _of("ssh_connection", "ssh_args")


@cache
def _of(section: str, name: str) -> str:
    """A value of our ansible.cfg."""
    parser = RawConfigParser()
    parser.read_string(CONFIGURATION.read_text())
    return parser.get(section, name)
