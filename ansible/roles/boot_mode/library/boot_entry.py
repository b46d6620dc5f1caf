#!/usr/bin/python
"""Ansible module: a one-shot GRUB entry for one arm, and the reboot into it."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

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

ENTRY_ID = "mitigauge-arm"
GRUB = Path("/boot/grub")
PIN = Path("/etc/default/grub.d/mitigauge.cfg")
PINNED = "# Mitigauge: the default is named, not the newest kernel.\nGRUB_DEFAULT=saved\n"
WATCHDOG = Path("/sys/class/watchdog/watchdog0")
# From the last sign of life of a hung system to its reset. It covers user space only:
# the kernel before that is covered by panic= and by whoever waits for the host.
WATCHDOG_S = 120
# GRUB's save_env rewrites the file's blocks in place; it cannot through these layers.
WRITABLE_FILESYSTEMS = ("ext2", "ext3", "ext4", "xfs", "vfat")
UNWRITABLE_DEVICES = re.compile(r"^/dev/(mapper/|md|dm-|loop)")
HEAD = re.compile(r"^\s*(?:menuentry|submenu)\s+(['\"])(?P<title>.*?)\1(?P<rest>.*)\{\s*$")
ID = re.compile(r"(?:--id|\$menuentry_id_option)\s+['\"]?([^'\"\s{]+)")
LINUX = re.compile(r"^(?P<indent>\s*)linux\w*\s+(?P<path>\S+)(?P<options>.*)$")
NONCE = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Whatever GRUB could take for something else than a part of a word is left out.
OPTION = re.compile(r"[\w.,:=/+@%~^-]+", re.ASCII)
# Detached and a moment later, so that the answer still gets through. The SSH server goes first:
# who watches for its greeting must not take the system on its way down for the next one.
REBOOT = (
    *("systemd-run", "--quiet", "--collect"),
    *("--on-active=500ms", "--timer-property=AccuracySec=100ms"),
    *("sh", "-c", "systemctl stop ssh.socket ssh.service; exec systemctl reboot"),
)
BEGIN = "# Mitigauge: from here to the end mark written anew for every boot\n"
END = "# Mitigauge: end\n"


class Refused(Exception):
    """The host cannot be booted this way; the text says why."""


@dataclass(frozen=True)
class Entry:
    """One Linux entry of GRUB's menu."""

    levels: tuple[tuple[str, ...], ...]  # its submenus and itself: (position, title, id) of each
    lines: tuple[str, ...]
    path: str
    options: tuple[str, ...]

    @property
    def reference(self) -> str:
        """How it is named to GRUB: ids where there are some, submenus before it."""
        return ">".join(names[-1] for names in self.levels)

    @property
    def release(self) -> str:
        """The kernel release it boots."""
        return self.path.rpartition("vmlinuz-")[2]

    def is_meant_by(self, reference: str) -> bool:
        """Whether GRUB takes `reference` for this entry or a submenu around it."""
        wanted = reference.split(">")
        return len(wanted) <= len(self.levels) and all(
            name in names for name, names in zip(wanted, self.levels, strict=False)
        )


def menu(grub_cfg: str) -> list[Entry]:
    """All Linux entries of a grub.cfg made by grub-mkconfig, in GRUB's order."""
    return list(_entries(iter(grub_cfg.splitlines()), ()))


def _entries(lines: Iterator[str], above: tuple[tuple[str, ...], ...]) -> Iterator[Entry]:
    position = 0
    for line in lines:
        head = HEAD.match(line)
        if head:
            found = ID.search(head["rest"])
            names = (str(position), head["title"], *([found[1]] if found else []))
            position += 1
            if line.split()[0] == "submenu":
                yield from _entries(lines, (*above, names))
            else:
                yield from _entry(tuple(_block(lines)), (*above, names))
        elif line.rstrip().endswith("{"):
            tuple(_block(lines))  # a function
        elif line.strip() == "}":
            return


def _block(lines: Iterator[str]) -> Iterator[str]:
    depth = 1
    for line in lines:
        depth += line.rstrip().endswith("{") - (line.strip() == "}")
        if depth == 0:
            return
        yield line


def _entry(lines: tuple[str, ...], levels: tuple[tuple[str, ...], ...]) -> Iterator[Entry]:
    for line in lines:
        linux = LINUX.match(line)
        if linux:
            yield Entry(levels, lines, linux["path"], tuple(linux["options"].split()))
            return


def configured_default(grub_cfg: str) -> str:
    """GRUB_DEFAULT as grub-mkconfig wrote it; ``${saved_entry}`` where grubenv decides."""
    found = re.findall(r'^\s*set default="(.*)"', grub_cfg, re.MULTILINE)
    return next((value for value in found if value != "${next_entry}"), "0")


def default_entry(entries: Sequence[Entry], grub_cfg: str, saved: str) -> Entry:
    """The entry that boots when nothing else is selected: what is known to be good."""
    if not entries:
        raise Refused("grub.cfg has no Linux entry; run update-grub on the host")
    configured = configured_default(grub_cfg)
    reference = saved if configured == "${saved_entry}" else configured
    # GRUB takes the first where the reference leads nowhere.
    return next((e for e in entries if reference and e.is_meant_by(reference)), entries[0])


def entry_for(entries: Sequence[Entry], default: Entry, release: str) -> Entry:
    """The first entry whose kernel has that release; the default where none is asked for."""
    if not release or release == default.release:
        return default
    for entry in entries:
        if entry.release == release:
            return entry
    known = ", ".join(sorted({entry.release for entry in entries}))
    raise Refused(f"kernel {release} is not in grub.cfg; there: {known}")


def option_name(option: str) -> str:
    """What stands before the equals sign; the kernel takes - and _ for the same."""
    return option.partition("=")[0].replace("-", "_")


def arm_options(
    base: Sequence[str], mode: Sequence[str], nonce: str, *, watchdog: bool
) -> list[str]:
    """Base options less those that the mode sets itself, then the mode's, then ours.

    Raises :class:`Refused` for an option that GRUB would not hand on as it stands.
    """
    own = [*mode, f"mitigauge.nonce={nonce}", "panic=10"]
    if watchdog:
        own.append(f"systemd.watchdog_sec={WATCHDOG_S}")
    set_here = {option_name(option) for option in own}
    kept = [o for o in base if option_name(o) not in set_here]
    for option in [*kept, *own]:
        if not OPTION.fullmatch(option):
            raise Refused(f"kernel option {option!r} has a character that GRUB would interpret")
    return kept + own


def arm_entry(entry: Entry, options: Sequence[str]) -> str:
    """The text of `entry` under our id, with other options."""
    body = []
    for line in entry.lines:
        linux = LINUX.match(line)
        text = f"{linux['indent']}linux\t{entry.path} {' '.join(options)}" if linux else line
        body.append(text + "\n")
    head = f"menuentry 'Mitigauge: the arm under test' --id '{ENTRY_ID}' {{\n"
    return BEGIN + head + "".join(body) + "}\n" + END


def without_ours(custom_cfg: str) -> str:
    """What others wrote into custom.cfg."""
    before, ours, rest = custom_cfg.partition(BEGIN)
    return before + rest.partition(END)[2] if ours else custom_cfg


def nonce_of(cmdline: str) -> str | None:
    """The nonce on a command line, or None."""
    found = re.search(r"(?:^|\s)mitigauge\.nonce=(\S+)", cmdline)
    return found[1] if found else None


def unwritable(source: str, filesystem: str, size: int) -> str:
    """Why GRUB cannot write its grubenv there; empty when it can."""
    if filesystem not in WRITABLE_FILESYSTEMS:
        return f"grubenv lies on {filesystem}, which GRUB cannot write"
    if UNWRITABLE_DEVICES.match(source):
        return f"grubenv lies on {source}, a device layer that GRUB cannot write"
    return "" if size == 1024 else f"grubenv is {size} bytes, not 1024"


def image_version(image: bytes) -> str | None:
    """What ``uname -v`` says once this bzImage is up; None where it has no such header."""
    if image[0x202:0x206] != b"HdrS":
        return None
    (offset,) = struct.unpack_from("<H", image, 0x20E)
    text = image[offset + 0x200 :].partition(b"\0")[0].decode(errors="replace")
    _, number, rest = text.partition(" #")
    return f"#{rest}" if number else None


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
        if not by_name:
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
    except (Refused, OSError) as error:
        module.fail_json(msg=f"cannot boot this host into an arm: {error}")
    else:
        module.exit_json(changed=changed, mitigauge=said)


if __name__ == "__main__":
    main()
