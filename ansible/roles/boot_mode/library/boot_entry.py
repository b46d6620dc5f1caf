#!/usr/bin/python
"""Ansible module: a one-shot GRUB entry for one arm, and the reboot into it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: boot_entry
short_description: Boot a kernel with a mode's options once
description:
  - Writes an entry with a stable id into GRUB's custom.cfg, proves that GRUB will see it,
    selects it for the next boot only, and reboots. The known-good entry stays the default,
    so that a panic or a power cycle falls back to it.
  - Does nothing when the nonce is on the running kernel's command line already.
  - Refuses hosts whose grubenv GRUB itself cannot write, where a one-shot would stay.
options:
  state:
    description: Whether the entry is to be booted, or removed.
    type: str
    choices: [booted, absent]
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
author: Mitigauge
"""

RETURN = r"""
mitigauge:
  description: "boot: entry_id, kernel_release, previous_boot_id, cmdline, watchdog, already_up."
  type: dict
  returned: success
"""

ENTRY_ID = "mitigauge-arm"
GRUB = Path("/boot/grub")
# GRUB's save_env rewrites the file's blocks in place; it cannot through these layers.
WRITABLE_FILESYSTEMS = ("ext2", "ext3", "ext4", "xfs", "vfat")
UNWRITABLE_DEVICES = re.compile(r"^/dev/(mapper/|md|dm-|loop)")
MENUENTRY = re.compile(
    r"^\s*menuentry\s+'(?P<title>[^']*)'.*?\$menuentry_id_option\s+'(?P<id>[^']*)'\s*\{(?P<body>.*?)^\s*\}",
    re.MULTILINE | re.DOTALL,
)
LINUX = re.compile(r"^\s*linux\w*\s+(?P<path>\S+)(?P<options>.*)$", re.MULTILINE)
WATCHDOG_NOTE = "systemd pets /dev/watchdog0; a hang resets the host"


class Refused(Exception):
    """The host cannot be booted this way; the text says why."""


def entries(grub_cfg):
    """All Linux entries of a grub.cfg, in order: dicts of id, title, body, path, options."""
    found = []
    for match in MENUENTRY.finditer(grub_cfg):
        linux = LINUX.search(match["body"])
        if linux:
            found.append(
                {
                    "id": match["id"],
                    "title": match["title"],
                    "body": match["body"].strip("\n"),
                    "path": linux["path"],
                    "options": linux["options"].split(),
                }
            )
    return found


def known_good(found, saved_entry):
    """The entry that boots by default: the saved one, else the first."""
    for entry in found:
        if saved_entry and saved_entry in (entry["id"], entry["title"]):
            return entry
    if not found:
        raise Refused("grub.cfg has no Linux entry; run update-grub on the host")
    return found[0]


def entry_for(found, default, release):
    """The entry whose kernel has that release; the default one where none is asked for."""
    if not release:
        return default
    for entry in found:
        if entry["path"].endswith("vmlinuz-" + release):
            return entry
    releases = ", ".join(release_of(entry) for entry in found)
    raise Refused("kernel %s is not in grub.cfg; there: %s" % (release, releases))


def release_of(entry):
    """The kernel release an entry boots."""
    return entry["path"].rpartition("vmlinuz-")[2]


def option_name(option):
    """What stands before the equals sign."""
    return option.partition("=")[0]


def arm_options(base, mode, nonce):
    """Base options less those that the mode sets itself, then the mode's, then ours."""
    own = [*mode, "mitigauge.nonce=" + nonce, "panic=10"]
    set_here = {option_name(option) for option in own}
    return [o for o in base if option_name(o) not in set_here] + own


def custom_cfg(entry, options):
    """The text of custom.cfg: *entry* again under our id, with *options*."""
    linux = LINUX.search(entry["body"])
    line = linux.group(0)
    indent = line[: len(line) - len(line.lstrip())]
    body = entry["body"].replace(line, "%slinux\t%s %s" % (indent, entry["path"], " ".join(options)))
    return "menuentry 'Mitigauge: the arm under test' --id '%s' {\n%s\n}\n" % (ENTRY_ID, body)


def nonce_of(cmdline):
    """The nonce on a command line, or None."""
    for option in cmdline.split():
        if option.startswith("mitigauge.nonce="):
            return option.partition("=")[2]
    return None


def unwritable(source, filesystem):
    """Why GRUB cannot write its grubenv there; empty when it can."""
    if filesystem not in WRITABLE_FILESYSTEMS:
        return "grubenv lies on %s, which GRUB cannot write" % filesystem
    if UNWRITABLE_DEVICES.match(source):
        return "grubenv lies on %s, a device layer that GRUB cannot write" % source
    return ""


def environment(listing):
    """The variables in the output of grub-editenv list."""
    return dict(line.split("=", 1) for line in listing.splitlines() if "=" in line)


def check_options(options):
    """Refuse what would end the linux line or start a command of GRUB's."""
    for option in options:
        if re.search(r"[\s;{}'\"\\$&|<>]", option):
            raise Refused("kernel option %r has a character that GRUB would interpret" % option)


def run(*command):
    """Run a command of GRUB's; its output. Raises Refused with what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused("%s failed: %s" % (" ".join(command), (done.stderr or done.stdout).strip()))
    return done.stdout


def require_writable_grubenv():
    source, filesystem = run("findmnt", "-no", "SOURCE,FSTYPE", "--target", str(GRUB)).split()[:2]
    reason = unwritable(source, filesystem)
    grubenv = GRUB / "grubenv"
    if not reason and grubenv.stat().st_size != 1024:
        reason = "grubenv is %d bytes, not 1024" % grubenv.stat().st_size
    if reason:
        raise Refused(reason + "; a one-shot entry would stay for ever")


def write_entry(grub_cfg, entry, options):
    """Put the entry into custom.cfg and prove that GRUB would read it."""
    if "custom.cfg" not in grub_cfg:
        raise Refused("grub.cfg does not source custom.cfg; restore /etc/grub.d/41_custom")
    draft = GRUB / "custom.cfg.new"
    draft.write_text(custom_cfg(entry, options))
    run("grub-script-check", str(draft))
    draft.replace(GRUB / "custom.cfg")
    fd = os.open(str(GRUB), os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
    os.sync()


def select_once(default):
    """Make the known-good entry the default and ours the next boot's; read both back."""
    run("grub-set-default", default["id"])
    run("grub-reboot", ENTRY_ID)
    now = environment(run("grub-editenv", str(GRUB / "grubenv"), "list"))
    if now.get("next_entry") != ENTRY_ID or now.get("saved_entry") != default["id"]:
        raise Refused("grubenv reads %r after grub-reboot" % now)


def watchdog():
    """How a hang ends, or None where there is no watchdog."""
    return WATCHDOG_NOTE if Path("/dev/watchdog0").exists() else None


def boot(params, check_mode):
    """Arm and reboot; returns (changed, facts)."""
    cmdline = Path("/proc/cmdline").read_text().strip()
    running = os.uname().release
    facts = {"entry_id": ENTRY_ID, "watchdog": watchdog()}
    if nonce_of(cmdline) == params["nonce"]:
        facts.update(
            already_up=True, kernel_release=running, previous_boot_id=None, cmdline=cmdline
        )
        return False, facts
    grub_cfg = (GRUB / "grub.cfg").read_text()
    found = entries(grub_cfg)
    saved = environment(run("grub-editenv", str(GRUB / "grubenv"), "list")).get("saved_entry", "")
    default = known_good(found, saved)
    entry = entry_for(found, default, params["kernel"])
    options = arm_options(entry["options"], params["cmdline"].split(), params["nonce"])
    check_options(options)
    require_writable_grubenv()
    facts.update(
        already_up=False,
        kernel_release=release_of(entry),
        previous_boot_id=Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        cmdline=" ".join(options),
    )
    if not check_mode:
        write_entry(grub_cfg, entry, options)
        select_once(default)
        # Detached and a moment later, so that this answer still gets through.
        run("systemd-run", "--quiet", "--collect", "--on-active=500ms",
            "--timer-property=AccuracySec=100ms", "systemctl", "reboot")
    return True, facts


def remove(check_mode):
    """Take the entry away; True if there was one."""
    custom = GRUB / "custom.cfg"
    if not custom.exists() or ENTRY_ID not in custom.read_text():
        return False
    if not check_mode:
        custom.unlink()
        run("grub-editenv", str(GRUB / "grubenv"), "unset", "next_entry")
    return True


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["booted", "absent"], "default": "booted"},
            "nonce": {"type": "str"},
            "cmdline": {"type": "str", "default": ""},
            "kernel": {"type": "str", "default": ""},
        },
        required_if=[("state", "booted", ("nonce",))],
        supports_check_mode=True,
    )
    try:
        if module.params["state"] == "absent":
            changed = remove(module.check_mode)
            module.exit_json(changed=changed, mitigauge={"restored": {"boot_entry": changed}})
        changed, facts = boot(module.params, module.check_mode)
        module.exit_json(changed=changed, mitigauge={"boot": facts})
    except (Refused, OSError) as error:
        module.fail_json(msg="cannot boot this host into an arm: %s" % error)


if __name__ == "__main__":
    main()
