#!/usr/bin/python
"""Ansible module: a one-shot GRUB entry for one arm, and the reboot into it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_changes import ChangesError, note, note_paths
from ansible.module_utils.mitigauge_grub import (
    ENTRY_ID,
    WATCHDOG_S,
    Entry,
    Refused,
    arm_entry,
    arm_options,
    configured_default,
    default_entry,
    entry_for,
    menu,
    unwritable,
    without_ours,
)
from ansible.module_utils.mitigauge_kernel_image import image_version

DOCUMENTATION = r"""
module: boot_entry
short_description: Boot a kernel with a mode's options once
description:
  - C(booted) writes an entry with a stable id into GRUB's custom.cfg, proves that GRUB will
    see it, selects it for the next boot only, and reboots. The known-good entry stays the
    default, so that a panic, a hang or a power cycle falls back to it.
  - Does nothing when the nonce is on the running kernel's command line already.
  - Refuses hosts whose grubenv GRUB itself cannot write, where a one-shot would stay.
  - C(pinned) makes the kernel that is known to boot the default by name, so that one which is
    installed later does not become it.
  - C(absent) takes the entry away. The default stays pinned.
options:
  state:
    description: What is wanted.
    type: str
    choices: [booted, pinned, absent]
    default: booted
  nonce:
    description: A word no other boot has; it proves the boot.
    type: str
  cmdline:
    description: The mode's kernel options.
    type: str
    default: ""
  kernel:
    description: Release to boot; empty for the default entry's.
    type: str
    default: ""
author: [Mitigauge contributors]
"""

RETURN = r"""
mitigauge:
  description: "boot: entry_id, default_entry, kernel_release, kernel_version, previous_boot_id,
    cmdline, watchdog, already_up. Or pinned: default_entry. Or restored: boot_entry."
  type: dict
  returned: success
"""

GRUB = Path("/boot/grub")
PIN = Path("/etc/default/grub.d/mitigauge.cfg")
PINNED = "# Mitigauge: the default is named, not the newest kernel.\nGRUB_DEFAULT=saved\n"
WATCHDOG = Path("/sys/class/watchdog/watchdog0")
NONCE = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Detached and a moment later, so that the answer still gets through. The SSH server goes first:
# who watches for its greeting must not take the system on its way down for the next one.
REBOOT = (
    *("systemd-run", "--quiet", "--collect"),
    *("--on-active=500ms", "--timer-property=AccuracySec=100ms"),
    *("sh", "-c", "systemctl stop ssh.socket ssh.service; exec systemctl reboot"),
)


def nonce_of(cmdline: str) -> str | None:
    """The nonce on a command line, or None."""
    found = re.search(r"(?:^|\s)mitigauge\.nonce=(\S+)", cmdline)
    return found[1] if found else None


def run(*command: str) -> str:
    """Standard output of a command. Raises :class:`Refused` with what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"{' '.join(command)} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def environment() -> dict[str, str]:
    """The variables in grubenv."""
    listing = run("grub-editenv", str(GRUB / "grubenv"), "list")
    return dict(line.split("=", 1) for line in listing.splitlines() if "=" in line)


def note_environment() -> None:
    """Note what grubenv says of the default and the next entry before it is ours."""
    now = environment()
    before = {name: now.get(name) for name in ("saved_entry", "next_entry")}
    if before["next_entry"] == ENTRY_ID:
        before["next_entry"] = None  # of a boot of ours that was noted nowhere
    note("grub", before)


def require_one_shot(grub_cfg: str) -> None:
    """Raises :class:`Refused` unless GRUB will read our entry, and select it only once."""
    if "custom.cfg" not in grub_cfg:
        raise Refused("grub.cfg does not source custom.cfg; restore /etc/grub.d/41_custom")
    if "save_env next_entry" not in grub_cfg:
        raise Refused("grub.cfg does not know next_entry; restore /etc/grub.d/00_header")
    source, filesystem = run("findmnt", "-no", "SOURCE,FSTYPE", "--target", str(GRUB)).split()[:2]
    reason = unwritable(source, filesystem, (GRUB / "grubenv").stat().st_size)
    if reason:
        raise Refused(f"{reason}; a one-shot entry would stay for ever")


def image_of(entry: Entry) -> bytes:
    """The start of the kernel image. Raises :class:`Refused` when there is none."""
    # GRUB's paths are relative to the file system, which may be mounted at /boot.
    for path in (Path(entry.path), Path("/boot" + entry.path)):
        if path.is_file():
            with path.open("rb") as image:
                return image.read(1 << 17)
    raise Refused(f"there is no kernel at {entry.path}; run update-grub on the host")


def write_custom(text: str) -> None:
    """Replace custom.cfg at once, and only by what GRUB can read."""
    draft = GRUB / "custom.cfg.new"
    draft.write_text(text)
    run("grub-script-check", str(draft))
    draft.replace(GRUB / "custom.cfg")


def custom_cfg() -> str:
    """What stands in custom.cfg."""
    path = GRUB / "custom.cfg"
    return path.read_text() if path.exists() else ""


def select_once(default: Entry, *, pinned: bool) -> None:
    """Make ours the next boot's entry, the known-good one stays the default; read both back."""
    if pinned:
        run("grub-set-default", default.reference)
    run("grub-reboot", ENTRY_ID)
    os.sync()
    now = environment()
    if now.get("next_entry") != ENTRY_ID:
        raise Refused(f"grubenv reads {now!r} after grub-reboot {ENTRY_ID}")
    if pinned and now.get("saved_entry") != default.reference:
        raise Refused(f"grubenv reads {now!r} after grub-set-default {default.reference}")


def reboot() -> None:
    """Have the host reboot in a moment."""
    try:
        run(*REBOOT)
    except Refused:
        # A worker that died just after this left a host on its way down: into our entry.
        state = subprocess.run(
            ["systemctl", "is-system-running"], capture_output=True, text=True, check=False
        )
        if state.stdout.strip() != "stopping":
            raise


def watchdog() -> dict[str, Any] | None:
    """The device that resets a hung host; None where there is none."""
    if not WATCHDOG.exists():
        return None
    identity = WATCHDOG / "identity"
    name = identity.read_text().strip() if identity.exists() else None
    return {"identity": name, "timeout_s": WATCHDOG_S}


def boot(params: dict[str, Any], *, check: bool) -> tuple[bool, dict[str, Any]]:
    """Arm and reboot; returns (changed, facts)."""
    if not NONCE.fullmatch(params["nonce"]):
        raise Refused(f"nonce {params['nonce']!r} is not a word of letters, digits and . _ -")
    cmdline = Path("/proc/cmdline").read_text().strip()
    facts: dict[str, Any] = {"entry_id": ENTRY_ID, "watchdog": watchdog()}
    if nonce_of(cmdline) == params["nonce"]:
        up = os.uname()
        return False, facts | {
            "already_up": True,
            "kernel_release": up.release,
            "kernel_version": up.version,
            "previous_boot_id": None,
            "cmdline": cmdline,
        }
    grub_cfg = (GRUB / "grub.cfg").read_text()
    require_one_shot(grub_cfg)
    entries = menu(grub_cfg)
    default = default_entry(entries, grub_cfg, environment().get("saved_entry", ""))
    entry = entry_for(entries, default, params["kernel"])
    options = arm_options(
        entry.options,
        params["cmdline"].split(),
        params["nonce"],
        watchdog=facts["watchdog"] is not None,
    )
    facts |= {
        "already_up": False,
        "default_entry": default.reference,
        "kernel_release": entry.release,
        "kernel_version": image_version(image_of(entry)),
        "previous_boot_id": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        "cmdline": " ".join(options),
    }
    if not check:
        note_environment()
        write_custom(without_ours(custom_cfg()) + arm_entry(entry, options))
        select_once(default, pinned=configured_default(grub_cfg) == "${saved_entry}")
        reboot()
    return True, facts


def pin(*, check: bool) -> tuple[bool, dict[str, Any]]:
    """Name the default in grubenv; returns (changed, facts)."""
    grub_cfg = (GRUB / "grub.cfg").read_text()
    entries = menu(grub_cfg)
    saved = environment().get("saved_entry", "")
    by_name = configured_default(grub_cfg) == "${saved_entry}"
    default = default_entry(entries, grub_cfg, saved)
    if by_name and saved and default.is_meant_by(saved):
        return False, {"default_entry": default.reference}
    if nonce_of(Path("/proc/cmdline").read_text()) is None:
        # It is up, so it boots; the menu's first may never have been tried.
        default = entry_for(entries, default, os.uname().release)
    if not check:
        note_environment()
        if not by_name:
            note_paths([PIN])
            PIN.parent.mkdir(exist_ok=True)
            PIN.write_text(PINNED)
            run("update-grub")
        run("grub-set-default", default.reference)
    return True, {"default_entry": default.reference}


def remove(*, check: bool) -> bool:
    """Take the entry away; True if there was one."""
    text = custom_cfg()
    others = without_ours(text)
    if others == text:
        return False
    if not check:
        if others:
            write_custom(others)
        else:
            (GRUB / "custom.cfg").unlink()
        if environment().get("next_entry") == ENTRY_ID:
            run("grub-editenv", str(GRUB / "grubenv"), "unset", "next_entry")
    return True


def main() -> None:
    """Entry point of the module."""
    states = ["booted", "pinned", "absent"]
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": states, "default": "booted"},
            "nonce": {"type": "str"},
            "cmdline": {"type": "str", "default": ""},
            "kernel": {"type": "str", "default": ""},
        },
        required_if=[("state", "booted", ("nonce",))],
        supports_check_mode=True,
    )
    check = module.check_mode
    try:
        if module.params["state"] == "absent":
            changed = remove(check=check)
            said = {"restored": {"boot_entry": changed}}
        elif module.params["state"] == "pinned":
            changed, facts = pin(check=check)
            said = {"pinned": facts}
        else:
            changed, facts = boot(module.params, check=check)
            said = {"boot": facts}
    except (Refused, ChangesError, OSError) as error:
        module.fail_json(msg=f"cannot boot this host into an arm: {error}")
    else:
        module.exit_json(changed=changed, mitigauge=said)


if __name__ == "__main__":
    main()
