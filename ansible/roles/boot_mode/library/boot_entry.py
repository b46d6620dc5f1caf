#!/usr/bin/python
"""Ansible module: a one-shot GRUB entry for one arm, and the reboot into it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils import mitigauge_efi as efi
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
    fallbacks,
    lasting_entry,
    menu,
    unwritable,
    waits_for_key,
    without_ours,
)
from ansible.module_utils.mitigauge_kernel_files import takes_packages
from ansible.module_utils.mitigauge_kernel_image import image_version, is_signed

DOCUMENTATION = r"""
module: boot_entry
short_description: Boot a kernel with a mode's options once
description:
  - C(booted) tells the firmware (EFI, by BootNext) or GRUB (by an entry in custom.cfg) to start
    the kernel at the next boot only, proves that it was taken, and reboots. The system's own boot
    stays the default, so that a panic, a hang or a power cycle falls back to it.
  - With C(method=kexec) the running kernel starts the entry's kernel itself, without firmware and
    boot loader. Nothing is written then; whatever goes wrong falls back in the same way.
  - Does nothing when the nonce is on the running kernel's command line already.
  - By GRUB, refuses hosts whose grubenv GRUB itself cannot write, where a one-shot would stay.
  - C(pinned) makes the kernel that is known to boot the default by name, so that one which is
    installed later does not become it.
  - C(kexec_guarded) tells Debian's kexec-tools, before it is installed, to leave reboots to the
    firmware: it would turn each into a kexec.
  - C(absent) takes the entry away. The default stays pinned.
options:
  state:
    description: What is wanted.
    type: str
    choices: [booted, pinned, kexec_guarded, absent]
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
  method:
    description: How the host gets from the running kernel to the wanted one.
    type: str
    choices: [reset, kexec]
    default: reset
  loader:
    description: What starts the kernel; C(auto) is the firmware where it can, else GRUB.
    type: str
    choices: [auto, efi, grub]
    default: auto
  watchdog:
    description: Whether systemd arms the host's watchdog device in the boot, where there is one.
    type: bool
    default: true
author: [Mitigauge contributors]
"""

RETURN = r"""
mitigauge:
  description: "boot: entry_id, default_entry, kernel_release, kernel_version, previous_boot_id,
    cmdline, watchdog, already_up, loader. Or pinned: default_entry. Or restored: boot_entry."
  type: dict
  returned: success
"""

GRUB = Path("/boot/grub")
PIN = Path("/etc/default/grub.d/mitigauge.cfg")
PINNED = "# Mitigauge: the default is named, not the newest kernel.\nGRUB_DEFAULT=saved\n"
WATCHDOG = Path("/sys/class/watchdog/watchdog0")
NONCE = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Detached and a moment later, so that the answer still gets through. The SSH server (by either of
# its names) goes first: who watches for its greeting must not take the system on its way down for
# the next one.
DETACHED = (
    *("systemd-run", "--quiet", "--collect"),
    *("--on-active=500ms", "--timer-property=AccuracySec=100ms"),
)
REBOOT = {
    "reset": "systemctl stop ssh.socket ssh.service sshd.service; exec systemctl reboot",
    "kexec": "systemctl stop ssh.socket ssh.service sshd.service; exec systemctl kexec",
}
KEXEC_GUARD = Path("/etc/default/kexec.d/mitigauge")
KEXEC_GUARDED = "# Mitigauge: what is not asked to be a kexec is none.\nLOAD_KEXEC=false\n"
KEXEC_LOADED = Path("/sys/kernel/kexec_loaded")


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
    if waits_for_key(grub_cfg):
        raise Refused("GRUB waits for a key (set timeout=-1): set GRUB_TIMEOUT and run update-grub")
    source, filesystem = run("findmnt", "-no", "SOURCE,FSTYPE", "--target", str(GRUB)).split()[:2]
    reason = unwritable(source, filesystem, (GRUB / "grubenv").stat().st_size)
    if reason:
        raise Refused(f"{reason}; a one-shot entry would stay for ever")


def file_of(path: str) -> Path:
    """The file that GRUB knows as *path*. Raises :class:`Refused` when there is none."""
    # GRUB's paths are relative to the file system, which may be mounted at /boot.
    for there in (Path(path), Path("/boot" + path)):
        if there.is_file():
            return there
    raise Refused(f"there is no file {path}; run update-grub on the host")


def start_of_image(image: Path) -> bytes:
    """The first part of the kernel image, with its version."""
    with image.open("rb") as file:
        return file.read(1 << 17)


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


def load(image: Path, disks: list[Path], options: Sequence[str]) -> None:
    """Put the kernel that is to be started next into memory."""
    if shutil.which("kexec") is None:
        raise Refused("there is no program kexec; install kexec-tools on the host")
    if len(disks) > 1:
        names = ", ".join(str(disk) for disk in disks)
        raise Refused(f"kexec takes one initial RAM disk, the entry has {names}; boot by reset")
    initial = [f"--initrd={disk}" for disk in disks]
    command_line = f"--command-line={' '.join(options)}"
    run("kexec", "--load", str(image), *initial, command_line)
    if KEXEC_LOADED.read_text().strip() != "1":
        raise Refused("kexec --load said nothing, and no kernel is loaded")


def unload() -> bool:
    """Take a kernel that waits to be started out of memory; True if there was one."""
    if not KEXEC_LOADED.exists() or KEXEC_LOADED.read_text().strip() != "1":
        return False
    run("kexec", "--unload")
    return True


def reboot(method: str) -> None:
    """Have the host reboot in a moment."""
    try:
        run(*DETACHED, "sh", "-c", REBOOT[method])
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
    facts: dict[str, Any] = {"watchdog": watchdog() if params["watchdog"] else None}
    if nonce_of(cmdline) == params["nonce"]:
        up = os.uname()
        return False, facts | {
            "entry_id": None,
            "already_up": True,
            "kernel_release": up.release,
            "kernel_version": up.version,
            "previous_boot_id": None,
            "cmdline": cmdline,
        }
    facts |= {
        "already_up": False,
        "previous_boot_id": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
    }
    make = boot_by_firmware if loader_for(params["loader"]) == "efi" else boot_by_grub
    facts |= make(params, cmdline, facts["watchdog"] is not None, check=check)
    if not check:
        reboot(params["method"])
    return True, facts


def loader_for(wanted: str) -> str:
    """What starts the kernel. Raises :class:`Refused` where it is the firmware that cannot."""
    has_grub = (GRUB / "grub.cfg").exists()
    why = efi.why_not(wanted, has_grub=has_grub) or efi.why_no_place()
    if wanted == "efi" and why:
        raise Refused(why)
    if why and not has_grub:
        raise Refused(f"the firmware cannot be told what to start once, as {why}; and no GRUB is "
                      f"there: {GRUB}/grub.cfg does not exist")  # fmt: skip
    return "grub" if why else "efi"


def boot_by_grub(
    params: dict[str, Any], _cmdline: str, watched: bool, *, check: bool
) -> dict[str, Any]:
    """Write an entry of GRUB's and select it once, or load its kernel; the facts of it."""
    grub_cfg = (GRUB / "grub.cfg").read_text()
    if params["method"] == "reset":
        require_one_shot(grub_cfg)
    entries = menu(grub_cfg)
    default = default_entry(entries, grub_cfg, environment().get("saved_entry", ""))
    entry = entry_for(entries, default, params["kernel"])
    options = arm_options(
        entry.options, params["cmdline"].split(), params["nonce"], watchdog=watched
    )
    text = arm_entry(entry, options, fallbacks(grub_cfg, entry.release))
    image = file_of(entry.path)
    if params["method"] == "reset" and efi.shim_checks_signatures():
        require_signature(image, "GRUB", "the firmware or the shim knows")
    if not check:
        if params["method"] == "kexec":
            load(image, [file_of(disk) for disk in entry.initial_disks], options)
        else:
            note_environment()
            write_custom(without_ours(custom_cfg()) + text)
            by_name = configured_default(grub_cfg) == "${saved_entry}"
            select_once(lasting_entry(entries, default), pinned=by_name)
    return {
        "loader": "grub",
        "entry_id": ENTRY_ID,
        "default_entry": default.reference,
        "kernel_release": entry.release,
        "kernel_version": image_version(start_of_image(image)),
        "cmdline": " ".join(options),
    }


def require_signature(image: Path, loader: str, keys: str) -> None:
    """Raises :class:`Refused` for a kernel without a signature where Secure Boot asks for one.

    Where the firmware hides its variables nobody can tell; the boot then shows it, and `host check`
    says so before.
    """
    if efi.flag("SecureBoot") and not is_signed(start_of_image(image)):
        raise Refused(
            f"Secure Boot is on and {image} has no signature: {loader} would not load it. Sign it "
            f"(sbsign) with a key that {keys}, or switch Secure Boot off in the firmware's set-up"
        )


def boot_by_firmware(
    params: dict[str, Any], cmdline: str, watched: bool, *, check: bool
) -> dict[str, Any]:
    """Put the kernel onto the EFI system partition and name it to the firmware once, or load it;
    the facts of it.
    """
    if nonce_of(cmdline) is None:
        base = efi.Base(os.uname().release, efi.base_options(cmdline))
        base = base if check else efi.keep_base(cmdline, base.release)
    else:
        base = efi.require_base()
    boot = efi.plan(
        base, params["kernel"], params["cmdline"].split(), params["nonce"], watchdog=watched
    )
    if params["method"] == "reset":
        require_signature(boot.files.image, "the firmware", "its db has")
    number = None
    if not check and params["method"] == "kexec":
        load(boot.files.image, [d for d in [boot.files.initial_disk] if d], boot.options)
    elif not check:
        before = efi.read_variables()
        partition = efi.find_partition(before)
        efi.note_entry()
        with efi.mounted(partition) as esp:
            efi.write_files(boot, esp)
        number = efi.arm(boot, partition, before)
        os.sync()
    return {
        "loader": "efi",
        "entry_id": f"Boot{number}" if number else None,
        "default_entry": base.release,
        "kernel_release": boot.release,
        "kernel_version": image_version(start_of_image(boot.files.image)),
        "cmdline": " ".join(boot.options),
    }


def pin(*, check: bool) -> tuple[bool, dict[str, Any]]:
    """Keep what is known to boot: what runs, and GRUB's default by name; (changed, facts).

    *default_release* is of what is kept, *starts_release* of what GRUB starts without it.
    """
    cmdline = Path("/proc/cmdline").read_text()
    by_firmware = not efi.why_not(has_grub=(GRUB / "grub.cfg").exists())
    if by_firmware and not check and nonce_of(cmdline) is None:
        efi.keep_base(cmdline, os.uname().release)
    # Our kernels then lie where no menu is made from.
    if by_firmware and not takes_packages():
        release = os.uname().release
        return False, {
            "default_entry": release, "default_release": release, "starts_release": release,
        }  # fmt: skip
    if not (GRUB / "grubenv").exists() and not check:
        run("grub-editenv", str(GRUB / "grubenv"), "create")
    grub_cfg = (GRUB / "grub.cfg").read_text()
    entries = menu(grub_cfg)
    saved = environment().get("saved_entry", "")
    by_name = configured_default(grub_cfg) == "${saved_entry}"
    default = default_entry(entries, grub_cfg, saved)
    starts = default.release
    is_chosen = by_name and bool(saved) and default.is_meant_by(saved)
    if not is_chosen and nonce_of(cmdline) is None:
        # It is up, so it boots; the menu's first may never have been tried.
        default = entry_for(entries, default, os.uname().release)
    default = lasting_entry(entries, default)
    facts = {
        "default_entry": default.reference,
        "default_release": default.release,
        "starts_release": starts,
    }
    if is_chosen and saved.rpartition(">")[2] in default.levels[-1] and default.release in saved:
        return False, facts
    if not check:
        note_environment()
        if not by_name:
            note_paths([PIN])
            PIN.parent.mkdir(exist_ok=True)
            PIN.write_text(PINNED)
            run("update-grub")
        run("grub-set-default", default.reference)
    return True, facts


def guard_kexec(*, check: bool) -> bool:
    """Leave reboots to the firmware; True if something had to be written for it."""
    if KEXEC_GUARD.exists() and KEXEC_GUARD.read_text() == KEXEC_GUARDED:
        return False
    if not check:
        note_paths([KEXEC_GUARD])
        KEXEC_GUARD.parent.mkdir(exist_ok=True)
        KEXEC_GUARD.write_text(KEXEC_GUARDED)
    return True


def remove(*, check: bool) -> bool:
    """Take the entries away; True if there was one."""
    firmware = False if check else efi.remove()
    return remove_from_grub(check=check) or firmware


def remove_from_grub(*, check: bool) -> bool:
    """Take GRUB's entry away; True if there was one."""
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
    states = ["booted", "pinned", "kexec_guarded", "absent"]
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": states, "default": "booted"},
            "nonce": {"type": "str"},
            "cmdline": {"type": "str", "default": ""},
            "kernel": {"type": "str", "default": ""},
            "method": {"type": "str", "choices": list(REBOOT), "default": "reset"},
            "loader": {"type": "str", "choices": ["auto", "efi", "grub"], "default": "auto"},
            "watchdog": {"type": "bool", "default": True},
        },
        required_if=[("state", "booted", ("nonce",))],
        supports_check_mode=True,
    )
    check = module.check_mode
    try:
        if module.params["state"] == "absent":
            changed = remove(check=check)
            said = {"restored": {"boot_entry": changed}}
            if not check:
                changed = unload() or changed
        elif module.params["state"] == "kexec_guarded":
            changed, said = guard_kexec(check=check), {}
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
