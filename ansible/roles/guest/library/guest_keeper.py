#!/usr/bin/python
"""Ansible module: a paused virtual machine that lasts as long as the host is up.

KVM patches its own and the scheduler's code whenever the first virtual machine
comes or the last one goes, and whenever no local APIC is disabled any more. An
emulated host with several threads now and then executes a half-patched
instruction and panics. While one paused machine with a disabled APIC exists, a
measuring guest's start and end patch nothing; and while that one starts, the host
makes do with its first processor.
"""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_changes import ChangesError, note, note_paths

DOCUMENTATION = r"""
module: guest_keeper
short_description: Keep a paused virtual machine on an emulated host
options:
  state: {description: whether there is one, choices: [present, absent], type: str, required: true}
author: [Mitigauge contributors]
"""

UNIT = "mitigauge-guest-keeper.service"
PATH = Path("/etc/systemd/system", UNIT)
TEXT = """\
# Managed by Ansible (role guest).
[Unit]
Description=Paused machine that spares an emulated host KVM's code patching
After=systemd-modules-load.service
ConditionPathExists=/dev/kvm

[Service]
ExecStartPre=-/bin/sh -c 'for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; \\
  do echo 0 > $$cpu; done'
ExecStart=/usr/bin/qemu-system-x86_64 -S -no-user-config -nodefaults -display none \\
  -machine pc,accel=kvm -cpu kvm64 -m 16
ExecStartPost=/bin/sleep 1
ExecStartPost=-/bin/sh -c 'for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; \\
  do echo 1 > $$cpu; done'
Restart=on-failure
RestartSec=2

[Install]
WantedBy=multi-user.target
"""


class KeeperError(Exception):
    """systemd refused; the text says what."""


def systemctl(*words: str, check: bool = True) -> str:
    """Output of systemctl; KeeperError if it fails and `check`."""
    done = subprocess.run(["systemctl", *words], check=False, capture_output=True, text=True)
    if check and done.returncode:
        raise KeeperError(f"systemctl {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def present() -> bool:
    """Whether the unit is as wanted, starts at boot and runs now."""
    with contextlib.suppress(FileNotFoundError):
        return (
            PATH.read_text() == TEXT
            and systemctl("is-enabled", UNIT, check=False) == "enabled"
            and systemctl("is-active", UNIT, check=False) == "active"
        )
    return False


def create() -> None:
    """Write, enable and start the unit."""
    note_paths([PATH])
    note("units", {UNIT: None})
    PATH.write_text(TEXT)
    systemctl("daemon-reload")
    systemctl("enable", UNIT)
    systemctl("restart", UNIT)
    if not present():
        raise KeeperError(f"{UNIT} does not stay up: {systemctl('status', UNIT, check=False)}")


def remove() -> None:
    """Stop, disable and delete the unit."""
    systemctl("disable", "--now", UNIT)
    PATH.unlink()
    systemctl("daemon-reload")


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "required": True}
        },
        supports_check_mode=True,
    )
    wanted = module.params["state"] == "present"
    changed = not present() if wanted else PATH.exists()
    try:
        if changed and not module.check_mode:
            create() if wanted else remove()
    except (KeeperError, ChangesError) as error:
        module.fail_json(msg=str(error))
    else:
        module.exit_json(changed=changed)


if __name__ == "__main__":
    main()
