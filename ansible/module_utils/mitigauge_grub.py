"""GRUB's menu as grub-mkconfig writes it, and our one entry in it. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ENTRY_ID = "mitigauge-arm"
# From the last sign of life of a hung system to its reset. It covers user space only:
# the kernel before that is covered by panic= and by whoever waits for the host.
WATCHDOG_S = 120
# GRUB's save_env rewrites the file's blocks in place; it cannot through these layers.
WRITABLE_FILESYSTEMS = ("ext2", "ext3", "ext4", "xfs", "vfat")
# Source as findmnt names it → what GRUB finds there instead of plain blocks.
UNWRITABLE_DEVICES = (
    (re.compile(r"^/dev/md"), "software RAID"),
    (re.compile(r"^/dev/(mapper/|dm-)"), "LVM, encryption or multipath"),
    (re.compile(r"^/dev/loop"), "a file behind a loop device"),
)
HEAD = re.compile(
    # A title ends at the first quote like its own, a word where it cannot go on: no other end is
    # tried, which would take the square of a line's length.
    r"^\s*(?:menuentry|submenu)\s+"
    r"(?:(['\"])(?P<title>(?:(?!\1).)*)\1|(?P<word>[^\s'\"{]+)(?![^\s'\"{]))(?P<rest>.*)\{\s*$"
)
ID = re.compile(r"(?:--id|\$menuentry_id_option)\s+['\"]?([^'\"\s{]+)")
INITRD = re.compile(r"^\s*initrd\w*\s+(?P<paths>\S.*)$")
LINUX = re.compile(r"^(?P<indent>\s*)(?P<command>linux\w*)\s+(?P<words>\S.*)$")
# What signing tools add to the name of a kernel's file.
SIGNED = (".signed", ".efi")
# What is behind it goes to init, and is no option of the kernel's.
TO_INIT = "--"
PATH = re.compile(r"/[\w.,:=/+@%~^-]+", re.ASCII)
# Options, and words of a title or a file's name, of a system that starts for its repair.
RESCUE = re.compile(
    r"single|S|s|1|emergency|rescue|recovery|rd\.break(?:=.*)?|(?:rd)?init=/bin/\w*sh"
    r"|systemd\.unit=(?:rescue|emergency)\.target"
)
RESCUE_NAMED = re.compile(r"\b(?:recovery mode|rescue)\b|0-rescue-", re.IGNORECASE)
# Whatever GRUB could take for something else than a part of a word is left out.
OPTION = re.compile(r"[\w.,:=/+@%~^-]+", re.ASCII)
# Ubuntu's 10_linux hands the console's mode on by it, where GRUB draws on the screen ("splash"):
# GRUB makes it `vt.handoff=7` or nothing. It says how the screen looks, and no more.
CONSOLE_HANDOVER = "$vt_handoff"
# Fedora and RHEL have one line for all entries, which are files of their own.
BLS = re.compile(r"^[^\S\n]*blscfg[^\S\n]*$", re.MULTILINE)
BEGIN = "# Mitigauge: from here to the end mark written anew for every boot\n"
END = "# Mitigauge: end\n"


class Refused(Exception):
    """The host cannot be booted this way; the text says why."""


@dataclass(frozen=True)
class Entry:
    """One entry of GRUB's menu; *path* is empty for one that starts no Linux itself."""

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
        """The kernel release it boots, as `uname -r` says it."""
        name = self.path.rpartition("vmlinuz-")[2]
        for end in SIGNED:
            name = name.removesuffix(end)
        return name

    @property
    def names_its_release(self) -> bool:
        """Whether the last part of its reference has the release, and so stays with that kernel."""
        return bool(self.release) and self.release in self.levels[-1][-1]

    @property
    def title(self) -> str:
        """What the menu shows, with the submenus around it."""
        return " > ".join(names[1] for names in self.levels)

    @property
    def is_rescue(self) -> bool:
        """Whether it starts a system for its repair, which is no system to measure on."""
        options = self.options
        own = options[: options.index(TO_INIT)] if TO_INIT in options else options
        named = any(RESCUE_NAMED.search(name) for name in (self.levels[-1][1], self.path))
        return named or any(RESCUE.fullmatch(option) for option in own)

    @property
    def initial_disks(self) -> list[str]:
        """The initial RAM disks that are loaded beside the kernel."""
        found = [INITRD.match(line) for line in self.lines]
        return [path for match in found if match for path in match["paths"].split()]

    def is_meant_by(self, reference: str) -> bool:
        """Whether GRUB takes `reference` for this entry or a submenu around it."""
        wanted = reference.split(">")
        return len(wanted) <= len(self.levels) and all(
            name in names for name, names in zip(wanted, self.levels)
        )


def menu(grub_cfg: str) -> list[Entry]:
    """All Linux entries of a grub.cfg made by grub-mkconfig, in GRUB's order."""
    return [entry for entry in _whole_menu(grub_cfg) if entry.path]


def _whole_menu(grub_cfg: str) -> list[Entry]:
    return list(_entries(iter(grub_cfg.splitlines()), ()))


def _entries(lines: Iterator[str], above: tuple[tuple[str, ...], ...]) -> Iterator[Entry]:
    position = 0
    for line in lines:
        head = HEAD.match(line)
        if head:
            found = ID.search(head["rest"])
            title = head["word"] if head["title"] is None else head["title"]
            names = (str(position), title, *([found[1]] if found else []))
            position += 1
            if line.split()[0] == "submenu":
                yield from _entries(lines, (*above, names))
            else:
                yield _entry(tuple(_block(lines)), (*above, names))
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


def _entry(lines: tuple[str, ...], levels: tuple[tuple[str, ...], ...]) -> Entry:
    for line in lines:
        linux = LINUX.match(line)
        if linux:
            path, *options = _words(linux["words"])
            return Entry(levels, lines, path, tuple(options))
    return Entry(levels, lines, "", ())


def _words(text: str) -> list[str]:
    """The words of a command, without quotes around them, as GRUB reads them."""
    try:
        return shlex.split(text)
    except ValueError:
        # A quote that is not closed: whoever takes such a word names it.
        return text.split()


def configured_default(grub_cfg: str) -> str:
    """GRUB_DEFAULT as grub-mkconfig wrote it; ``${saved_entry}`` where grubenv decides."""
    found = re.findall(r'^[^\S\n]*set default="(.*)"', grub_cfg, re.MULTILINE)
    return next((value for value in found if value != "${next_entry}"), "0")


def default_entry(entries: Sequence[Entry], grub_cfg: str, saved: str) -> Entry:
    """The entry that boots when nothing else is selected: what is known to be good.

    Raises :class:`Refused` where entries are none of the menu's own.
    """
    if BLS.search(grub_cfg):
        raise Refused(
            "grub.cfg takes its entries from /boot/loader/entries (BLS), as Fedora and RHEL have "
            "it, and update-grub is no help there: no entry for one boot is made on such a host. "
            "Measure on Debian or Ubuntu, of which a second system on the same machine is enough"
        )
    if not entries:
        raise Refused("grub.cfg has no Linux entry; run update-grub on the host")
    configured = configured_default(grub_cfg)
    reference = saved if configured == "${saved_entry}" else configured
    whole = _whole_menu(grub_cfg) or entries
    # GRUB takes the first where the reference leads nowhere.
    found = next((e for e in whole if reference and e.is_meant_by(reference)), whole[0])
    if not found.path:
        raise Refused(
            f"GRUB's default is {found.title!r}, which is no Linux entry; name one of "
            f"{', '.join(repr(entry.title) for entry in entries[:5])} by grub-set-default"
        )
    if found.is_rescue:
        raise Refused(
            f"GRUB's default is {found.title!r}, which starts a system for its repair; name "
            "another by grub-set-default"
        )
    return found


def fallbacks(grub_cfg: str, release: str) -> list[int]:
    """Numbers of entries that GRUB goes on to where it cannot load a kernel of that *release*.

    Those of the menu itself that start another kernel: a name, or a place within a submenu, GRUB
    2.06 and 2.12 do not take here.
    """
    top = [entry for entry in menu(grub_cfg) if len(entry.levels) == 1 and not entry.is_rescue]
    return [int(entry.levels[0][0]) for entry in top if entry.release != release]


def waits_for_key(grub_cfg: str) -> bool:
    """Whether GRUB shows its menu until somebody presses a key."""
    return bool(re.search(r"^[^\S\n]*set timeout=[\"']?-1", grub_cfg, re.MULTILINE))


def entry_for(entries: Sequence[Entry], default: Entry, release: str) -> Entry:
    """The first entry whose kernel has that release; the default where none is asked for."""
    if not release or release == default.release:
        return default
    for entry in entries:
        if entry.release == release and not entry.is_rescue:
            return entry
    known = ", ".join(sorted({entry.release for entry in entries}))
    raise Refused(f"kernel {release} is not in grub.cfg; there: {known}")


def lasting_entry(entries: Sequence[Entry], entry: Entry) -> Entry:
    """The entry of the same kernel that stays with it when another kernel is installed.

    Debian's first entry (``gnulinux-simple-…``, or 0) is always of the newest one, which
    may be the kernel under test. *entry* itself where none is named by the release.
    """
    if entry.names_its_release:
        return entry
    return next(
        (
            other
            for other in entries
            if other.release == entry.release and other.names_its_release and not other.is_rescue
        ),
        entry,
    )


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
    end = list(base).index(TO_INIT) if TO_INIT in base else len(base)
    kept = [o for o in base[:end] if option_name(o) not in set_here and o != CONSOLE_HANDOVER]
    options = [*kept, *own, *(o for o in base[end:] if o != CONSOLE_HANDOVER)]
    for option in options:
        if not OPTION.fullmatch(option):
            raise Refused(f"kernel option {option!r} has a character that boot loaders interpret")
    if TO_INIT in own:
        raise Refused(
            f"kernel option {TO_INIT!r} of a mode would keep what follows from the kernel"
        )
    return options


def arm_entry(entry: Entry, options: Sequence[str], fallbacks: Sequence[int] = ()) -> str:
    """The text of `entry` under our id, with other options.

    Where GRUB cannot load it, it goes on to the entries of those numbers; without any it would
    show its menu and wait for a key for ever.
    """

    if not PATH.fullmatch(entry.path):
        raise Refused(f"the kernel {entry.path!r} has a character that GRUB would interpret")

    def with_options(linux: re.Match[str]) -> str:
        return f"{linux['indent']}{linux['command']}\t{entry.path} {' '.join(options)}"

    body = [LINUX.sub(with_options, line) + "\n" for line in entry.lines]
    # Where the menu has a password, GRUB would ask for a user's name before it starts the entry.
    head = f"menuentry 'Mitigauge: the arm under test' --unrestricted --id '{ENTRY_ID}' {{\n"
    numbers = " ".join(str(number) for number in fallbacks)
    fallback = f'set fallback="{numbers}"\n' if numbers else ""
    return BEGIN + fallback + head + "".join(body) + "}\n" + END


def without_ours(custom_cfg: str) -> str:
    """What others wrote into custom.cfg."""
    before, ours, rest = custom_cfg.partition(BEGIN)
    return before + rest.partition(END)[2] if ours else custom_cfg


def unwritable(source: str, filesystem: str, size: int) -> str:
    """Why GRUB cannot write its grubenv there; empty when it can."""
    if filesystem not in WRITABLE_FILESYSTEMS:
        return f"grubenv lies on {filesystem}, which GRUB cannot write"
    for pattern, layer in UNWRITABLE_DEVICES:
        if pattern.match(source):
            return f"grubenv lies on {source} ({layer}), a device layer that GRUB cannot write"
    return "" if size == 1024 else f"grubenv is {size} bytes, not 1024"
