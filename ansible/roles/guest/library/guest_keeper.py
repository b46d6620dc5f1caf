#!/usr/bin/python
"""Ansible module: one processor and a paused virtual machine, while the host is up.

An emulated host whose guests run on several threads of the emulator now and then
hangs, finds its stack overwritten, or loses a guest: of some 12 guests one, against
none of 18 with a single processor. So the others are taken offline before SSH
answers, and stay so.

KVM patches its own and the scheduler's code whenever the first virtual machine
comes or the last one goes, and whenever no local APIC is disabled any more, which
takes emulation long. While one paused machine with a disabled APIC exists, a
measuring guest's start and end patch nothing.
"""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: guest_keeper
short_description: Keep an emulated host to one processor and a paused virtual machine
options:
  state: {description: whether there is one, choices: [present, absent], type: str, required: true}
author: [Mitigauge contributors]
"""

UNIT = "mitigauge-guest-keeper.service"
PATH = Path("/etc/systemd/system", UNIT)
TEXT = """\
# Managed by Ansible (role guest).
[Unit]
Description=One processor and a paused machine, for guests on an emulated host
After=systemd-modules-load.service
# Or the processors that a fingerprint counts would depend on who was first.
Before=ssh.service
ConditionPathExists=/dev/kvm

[Service]
ExecStartPre=-/bin/sh -c 'for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; \\
  do echo 0 > $$cpu; done'
ExecStart=/usr/bin/qemu-system-x86_64 -S -no-user-config -nodefaults -display none \\
  -machine pc,accel=kvm -cpu kvm64 -m 16
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
    PATH.write_text(TEXT)
    systemctl("daemon-reload")
    systemctl("enable", UNIT)
    systemctl("restart", UNIT)
    if not present():
        raise KeeperError(f"{UNIT} does not stay up: {systemctl('status', UNIT, check=False)}")


def remove() -> None:
    """Stop, disable and delete the unit; every processor comes back."""
    systemctl("disable", "--now", UNIT)
    for online in Path("/sys/devices/system/cpu").glob("cpu[1-9]*/online"):
        online.write_text("1")
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
    except KeeperError as error:
        module.fail_json(msg=str(error))
    else:
        module.exit_json(changed=changed)


if __name__ == "__main__":
    main()
