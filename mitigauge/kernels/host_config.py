"""Configurations of hosts' own kernels, by which candidates for them are built.

A host wrote them: each line is taken only as a plain setting, and no file is named by one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.natural_order import natural_order
from mitigauge.core.settings import get_settings

AS_HOST = "as-host"
# Behind a profile's name: without the modules that the hosts have not loaded.
LOCAL = "+local"
LARGEST_BYTES = 1 << 20
MOST_MODULES = 2000
MOST_HOSTS = 64
_ENVIRONMENT = re.compile(r"[a-z][a-z0-9_-]{0,62}", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
_SETTING = re.compile(
    r'CONFIG_\w{1,120}=(?:[ymn]|-?\d{1,20}|0x[0-9a-fA-F]{1,16}|"[\w.,:=/+@%~^() -]{0,500}")'
    r"|# CONFIG_\w{1,120} is not set",
    re.ASCII,
)
# What a build of ours sets otherwise: debug information costs gigabytes and hours, these name files
# that the distribution's build had beside it, and each build finds its own compiler.
_LEFT_OUT = re.compile(
    r"(?:# )?CONFIG_(?:DEBUG_INFO\w*|GDB_SCRIPTS|INITRAMFS_SOURCE|EXTRA_FIRMWARE\w*"
    r"|SYSTEM_TRUSTED_KEYS|SYSTEM_REVOCATION_KEYS|SYSTEM_BLACKLIST_HASH_LIST|MODULE_SIG_KEY"
    r"|LOCALVERSION\w*|BUILD_SALT"
    r"|(?:CC|GCC|CLANG|AS|LD|LLD|PAHOLE|RUSTC|RUSTC_LLVM|BINDGEN)_VERSION(?:_TEXT)?)(?: |=)"
)
# No host's name: two hosts of one configuration have one build. Candidates are of other versions;
# what one does not take is listed with its kernel.
# Loaded by runs, and perhaps not just now: guests and their network, the EFI system partition.
_OF_RUNS = (
    "bridge", "efivarfs", "kvm_amd", "kvm_intel", "msr", "nls_ascii", "nls_cp437", "nls_iso8859_1",
    "tun", "vfat", "vhost_net", "virtio_console", "virtio_net", "virtio_pci",
)  # fmt: skip
_MODULE_NAME = re.compile(r"[A-Za-z0-9_]{1,64}", re.ASCII)
# A line of a profile's text that names a loaded module; kernel_scripts/configure reads them.
_MODULE = "# module: "
_HEAD = "# The configuration of a host's own kernel\n# optional: *\n"
# A line of a united configuration that says whose value stands.
_NOTE = "# note: "
_SWITCHES = ("n", "m", "y")
# Options of which a kernel has one at most (Kconfig's `choice`), one choice a line. Of two that are
# on, the kernel's own tools take either.
_CHOICE = re.compile(
    "CONFIG_(?:"
    r"(HZ_\d+)"
    r"|(HZ_PERIODIC|NO_HZ_IDLE|NO_HZ_FULL)"
    r"|(PREEMPT(?:_NONE|_VOLUNTARY|_LAZY|_RT)?)"
    r"|(TICK_CPU_ACCOUNTING|VIRT_CPU_ACCOUNTING_(?:NATIVE|GEN))"
    r"|(SLAB|SLUB|SLOB)"
    r"|(UNWINDER_\w+)"
    r"|(CC_OPTIMIZE_FOR_\w+)"
    r"|(KERNEL_(?:GZIP|BZIP2|LZMA|XZ|LZO|LZ4|ZSTD|UNCOMPRESSED))"
    r"|(MODULE_COMPRESS_(?:NONE|GZIP|XZ|ZSTD))"
    r"|(INITRAMFS_COMPRESSION_\w+)"
    r"|(ZRAM_DEF_COMP_\w+)"
    r"|(ZSWAP_COMPRESSOR_DEFAULT_\w+)"
    r"|(ZSWAP_ZPOOL_DEFAULT_\w+)"
    r"|(HIBERNATION_COMP_\w+)"
    r"|(TRANSPARENT_HUGEPAGE_(?:ALWAYS|MADVISE|NEVER))"
    r"|(MHP_DEFAULT_ONLINE_TYPE_\w+)"
    r"|(CPU_FREQ_DEFAULT_GOV_\w+)"
    r"|(IOMMU_DEFAULT_\w+)"
    r"|(INTEL_IOMMU_DEFAULT_\w+)"
    r"|(PCIE_BUS_\w+)"
    r"|(PCIEASPM_(?:DEFAULT|POWERSAVE|POWER_SUPERSAVE|PERFORMANCE))"
    r"|(M(?:K8|PSC|CORE2|ATOM|NATIVE_INTEL|NATIVE_AMD)|GENERIC_CPU\d?)"
    r"|(X86_INTEL_TSX_MODE_\w+)"
    r"|(LEGACY_VSYSCALL_\w+)"
    r"|(IO_DELAY_\w+)"
    r"|(INIT_STACK_\w+)"
    r"|(RANDSTRUCT_(?:NONE|FULL|PERFORMANCE))"
    r"|(PROC_MEM_\w+)"
    r"|(DEFAULT_SECURITY_\w+)"
    r"|(LOCK_DOWN_KERNEL_FORCE_\w+)"
    r"|(IMA_DEFAULT_HASH_\w+)"
    r"|(IMA_(?:NG|SIG)_TEMPLATE)"
    r"|(DEBUG_FS_(?:ALLOW_ALL|DISALLOW_MOUNT|ALLOW_NONE))"
    r"|(DEFAULT_(?:BIC|CUBIC|HTCP|HYBLA|VEGAS|VENO|WESTWOOD|DCTCP|CDG|BBR|RENO))"
    r"|(DEFAULT_(?:FQ|CODEL|FQ_CODEL|FQ_PIE|SFQ|PFIFO_FAST))"
    r"|(SQUASHFS_FILE_(?:CACHE|DIRECT))"
    r"|(CRYPTO_JITTERENTROPY_MEMSIZE_\d+)"
    ")",
    re.ASCII,
)
_SET_HERE = """\
CONFIG_DEBUG_INFO_NONE=y
CONFIG_SYSTEM_TRUSTED_KEYS=""
CONFIG_SYSTEM_REVOCATION_KEYS=""
CONFIG_EFI=y
CONFIG_EFI_STUB=y
"""


def folder() -> Path:
    """Where they are kept, below the state directory."""
    return get_settings().home / "host-configs"


def settings_in(config: str) -> str:
    """The plain settings of a kernel's configuration, with what a build of ours sets otherwise.

    Raises InvalidInput for a text that sets nothing.
    """
    kept = [line for line in _settings(config) if not _LEFT_OUT.match(line)]
    if not any(line.startswith("CONFIG_") for line in kept):
        raise InvalidInput(
            "the host's configuration sets nothing", hint="See /boot/config-RELEASE on the host."
        )
    return "\n".join(kept) + "\n" + _SET_HERE


def _settings(config: str) -> Iterator[str]:
    lines = (line.strip() for line in config.splitlines() if len(line) < 700)
    return (line for line in lines if _SETTING.fullmatch(line))


def keep(environment: str, host: str, config: str, modules: Iterable[str] = ()) -> str:
    """Keep the configuration of a host's own kernel, and which modules it has loaded; returns the
    SHA-256 of the configuration as it is kept.

    Raises InvalidInput for one that is too large or sets nothing.
    """
    if len(config) > LARGEST_BYTES:
        raise InvalidInput(f"the configuration of {environment}/{host} is larger than 1 MiB")
    text = _HEAD + settings_in(config)
    [file] = _files_of(f"{environment}/{host}").values()
    file.parent.mkdir(parents=True, exist_ok=True)
    loaded = sorted(name for name in set(modules) if _MODULE_NAME.fullmatch(name))
    _write(_modules_beside(file), "".join(f"{name}\n" for name in loaded[:MOST_MODULES]))
    _write(file, text)
    return hashlib.sha256(text.encode()).hexdigest()


def _write(file: Path, text: str) -> None:
    draft = file.with_suffix(".new")
    draft.write_text(text, "utf-8")
    draft.replace(file)


def _modules_beside(file: Path) -> Path:
    return file.with_name(f"{file.name.removesuffix('.config')}.modules")


def profile_name(environment: str, hosts: Iterable[str]) -> str:
    """What a profile is called that boots each of these hosts."""
    return f"{AS_HOST}:{environment}/{','.join(hosts)}"


def known_hosts() -> list[str]:
    """Names of the profiles of hosts whose configuration is kept."""
    files = folder().glob("*/*.config")
    names = (profile_name(file.parent.name, [file.name.removesuffix(".config")]) for file in files)
    return sorted(names, key=natural_order)


def text_of(name: str) -> str:
    """What a candidate for the hosts is configured by. *name*: ``as-host:ENVIRONMENT/HOST``, or
    with several hosts, ``HOST,HOST``: what one of them has, the candidate has. With ``+local``
    behind it: without the modules that none of them has loaded.

    Raises NotFound where one is not kept, naming all of these.
    """
    place = name.removeprefix(f"{AS_HOST}:").removesuffix(LOCAL)
    files = _files_of(place)
    text = united(_read("configuration", place, files))
    if not name.endswith(LOCAL):
        return text
    beside = {host: _modules_beside(file) for host, file in files.items()}
    loaded = " ".join(_read("list of loaded modules", place, beside).values()).split()
    return text + "".join(f"{_MODULE}{module}\n" for module in sorted({*_OF_RUNS, *loaded}))


def _read(what: str, place: str, files: Mapping[str, Path]) -> dict[str, str]:
    """The text of each host's file. Raises NotFound naming all hosts that have none."""
    missing = [host for host, file in files.items() if not file.exists()]
    if missing:
        environment = place.partition("/")[0]
        raise NotFound(
            f"the {what} of {', '.join(f'{environment}/{host}' for host in missing)} is not known",
            hint=f"`mitigauge host check HOST --environment {environment}` reads it from the host.",
        )
    return {host: file.read_text("utf-8") for host, file in files.items()}


def united(configs: Mapping[str, str]) -> str:
    """One configuration of those of several hosts, by the hosts' names.

    A switch is the most that a host has of it (y before m before n). Of a choice, and of another
    value, that of the first host that has one stands, with a line that says so (:func:`notes_in`).
    """
    if len(set(configs.values())) == 1:
        return next(iter(configs.values()))
    values: dict[str, tuple[str, str]] = {}
    chosen: dict[int, tuple[str, str]] = {}
    notes = []
    for host, config in configs.items():
        chosen = dict(_choices(config, host)) | chosen
        for option, value in _values(config):
            member, owner = chosen.get(_choice_of(option, value), ("", host))
            if owner != host and values.setdefault(option, ("n", owner))[0] == "n":
                notes.append(f"{_NOTE}{option}=y, of {host}: {member}=y, of {owner}")
                continue
            before, owner = values.setdefault(option, (value, host))
            if before in _SWITCHES and value in _SWITCHES:
                most = max(before, value, key=_SWITCHES.index)
                values[option] = (most, owner)
            elif before != value:
                notes.append(f"{_NOTE}{option}={value}, of {host}: {option}={before}, of {owner}")
    lines = (_line(option, value) for option, (value, _) in values.items())
    return _HEAD + "".join(f"{line}\n" for line in (*notes, *lines))


def _choices(config: str, host: str) -> Iterator[tuple[int, tuple[str, str]]]:
    """Choice → (what the configuration has of it, its host)."""
    for option, value in _values(config):
        if choice := _choice_of(option, value):
            yield choice, (option, host)


def _choice_of(option: str, value: str) -> int:
    """The number of the choice in which an option is on; 0: it is in none."""
    member = _CHOICE.fullmatch(option) if value == "y" else None
    return (member and member.lastindex) or 0


def notes_in(text: str) -> list[str]:
    """Values that hosts of a united configuration have otherwise than it."""
    lines = text.splitlines()
    return [line.removeprefix(_NOTE) for line in lines if line.startswith(_NOTE)]


def _values(config: str) -> Iterator[tuple[str, str]]:
    for line in _settings(config):
        option, _, value = line.removeprefix("# ").partition("=")
        yield (option, value) if value else (option.partition(" ")[0], "n")


def _line(option: str, value: str) -> str:
    return f"# {option} is not set" if value == "n" else f"{option}={value}"


def _files_of(place: str) -> dict[str, Path]:
    """The file of each host of ``ENVIRONMENT/HOST,HOST``."""
    environment, _, names = place.partition("/")
    hosts = names.split(",")
    known = _ENVIRONMENT.fullmatch(environment) and len(hosts) <= MOST_HOSTS
    if not known or not all(_HOST.fullmatch(host) for host in hosts):
        raise InvalidInput(
            f"{place[:80]!r} names no host", hint=f"Write {AS_HOST}:ENVIRONMENT/HOST."
        )
    return {host: folder() / environment / f"{host}.config" for host in hosts}
