"""Configurations of hosts' own kernels, by which candidates for them are built.

A host wrote them: each line is taken only as a plain setting, and no file is named by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.natural_order import natural_order
from mitigauge.core.settings import get_settings

AS_HOST = "as-host:"
LARGEST_BYTES = 1 << 20
_PLACE = re.compile(r"([a-z][a-z0-9_-]{0,62})/([A-Za-z0-9][A-Za-z0-9._-]{0,62})", re.ASCII)
_SETTING = re.compile(
    r'CONFIG_\w{1,120}=(?:[ymn]|-?\d{1,20}|0x[0-9a-fA-F]{1,16}|"[\w.,:=/+@%~^() -]{0,500}")'
    r"|# CONFIG_\w{1,120} is not set",
    re.ASCII,
)
# What a build of ours sets otherwise: debug information costs gigabytes and hours, and these name
# files that the distribution's build had beside it.
_LEFT_OUT = re.compile(
    r"(?:# )?CONFIG_(?:DEBUG_INFO\w*|GDB_SCRIPTS|INITRAMFS_SOURCE|EXTRA_FIRMWARE\w*"
    r"|SYSTEM_TRUSTED_KEYS|SYSTEM_REVOCATION_KEYS|SYSTEM_BLACKLIST_HASH_LIST|MODULE_SIG_KEY"
    r"|LOCALVERSION\w*|BUILD_SALT)(?: |=)"
)
# Candidates are of other versions; what one does not take is listed with its kernel.
_OTHER_VERSIONS = "# optional: *\n"
_SET_HERE = """\
CONFIG_DEBUG_INFO_NONE=y
CONFIG_SYSTEM_TRUSTED_KEYS=""
CONFIG_SYSTEM_REVOCATION_KEYS=""
CONFIG_MODULE_SIG_KEY="certs/signing_key.pem"
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


def keep(environment: str, host: str, release: str, config: str) -> Path:
    """Keep the configuration of a host's own kernel; returns the file.

    Raises InvalidInput for one that is too large or sets nothing.
    """
    if len(config) > LARGEST_BYTES:
        raise InvalidInput(f"the configuration of {environment}/{host} is larger than 1 MiB")
    head = f"# The configuration of {environment}/{host}, kernel {release}\n{_OTHER_VERSIONS}"
    text = head + settings_in(config)
    file = _file_of(f"{environment}/{host}")
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".new")
    draft.write_text(text, "utf-8")
    draft.replace(file)
    return file


def known_hosts() -> list[str]:
    """Names of the profiles of hosts whose configuration is kept."""
    files = folder().glob("*/*.config")
    names = (f"{AS_HOST}{file.parent.name}/{file.name.removesuffix('.config')}" for file in files)
    return sorted(names, key=natural_order)


def text_of(name: str) -> str:
    """What a candidate for the host is configured by. *name*: ``as-host:ENVIRONMENT/HOST``.

    Raises NotFound where none is kept.
    """
    place = name.removeprefix(AS_HOST)
    try:
        return _file_of(place).read_text("utf-8")
    except FileNotFoundError as error:
        raise NotFound(
            f"the configuration of host {place} is not known",
            hint="`mitigauge host check HOST --environment NAME` reads it from the host.",
        ) from error


def _file_of(place: str) -> Path:
    found = _PLACE.fullmatch(place)
    if found is None:
        raise InvalidInput(
            f"{place[:80]!r} names no host", hint=f"Write {AS_HOST}ENVIRONMENT/HOST."
        )
    return folder() / found[1] / f"{found[2]}.config"
