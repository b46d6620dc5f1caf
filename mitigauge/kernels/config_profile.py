"""Config profiles: files of ``profiles/``, each a fragment over the kernel's own default."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.natural_order import natural_order
from mitigauge.kernels import host_config

DIRECTORY = Path(__file__).parent / "profiles"
LARGEST_BYTES = 1 << 20
# Lines of a profile that name options which need not be taken; * stands for all.
_OPTIONAL = re.compile(r"#\s*optional:\s*(.+)")
_NAME = re.compile(r"CONFIG_\w+")
_OFF = re.compile(r"# (CONFIG_\w+) is not set")
# What a whole configuration says of the compiler and the architecture, and no one asks for; and
# what a build of ours sets itself.
_FOUND_OUT = re.compile(
    r"CONFIG_(?:CC|GCC|CLANG|LLD?|AS|LD|PAHOLE|RUSTC|BINDGEN|HAVE|ARCH|TOOLCHAIN|TOOLS|GENERIC)_\w+"
    r"|CONFIG_(?:CLANG|RUSTC|GCC)\w*VERSION\w*|CONFIG_LOCALVERSION\w*|CONFIG_BUILD_SALT"
)


@dataclass(frozen=True, slots=True)
class Profile:
    """A fragment of a configuration; *whole*: a configuration that needs no default below it."""

    name: str
    text: str
    whole: bool = False

    @property
    def sha256(self) -> str:
        """Of its text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def refused(wanted: str, config: str) -> list[str]:
    """Lines of a fragment that the configuration did not take, as it stands there instead."""
    there = {line.partition("=")[0]: line for line in config.splitlines() if "=" in line}
    taken = set(config.splitlines())
    missed = []
    for name, line in _options(wanted):
        unset = line.startswith("#") or line.endswith("=n")
        if (unset and name in there) or (not unset and line not in taken):
            missed.append(f"{line}: {there.get(name, 'not set')}")
    return missed


def not_taken(profile: Profile, config: str) -> list[str]:
    """Options that a profile asks for and *config*, made of it, lacks, unless it may lack them.

    Of a whole configuration: those that are gone. What else became of an option that another
    version knows otherwise, that version decides.
    """
    optional = {name for found in _OPTIONAL.finditer(profile.text) for name in found[1].split()}
    if "*" in optional:
        return []
    if not profile.whole:
        missed = refused(profile.text, config)
        return [line for line in missed if _NAME.findall(line)[0] not in optional]
    there = {line.partition("=")[0] for line in config.splitlines()}
    return [
        f"{line}: not set"
        for name, line in _options(profile.text)
        if not line.startswith("#") and not line.endswith("=n")
        if name not in there and name not in optional and not _FOUND_OUT.fullmatch(name)
    ]


def config_refused(profile: Profile, config: str) -> list[str]:
    """What is listed with a kernel: lines of its profile that *config*, as it was built, lacks.

    Of a whole configuration: in what its hosts differ, and which of that the kernel's own tools
    made otherwise than the profile has it.
    """
    if not profile.whole:
        return refused(profile.text, config)
    notes = host_config.notes_in(profile.text)
    disputed = {name for note in notes for name in _NAME.findall(note)}
    lines = (line for name, line in _options(profile.text) if name in disputed)
    return [*notes, *refused("\n".join(lines), config)]


def _options(text: str) -> Iterator[tuple[str, str]]:
    """Name and line of each option that a configuration sets, or says is not set."""
    for line in map(str.strip, text.splitlines()):
        off = _OFF.fullmatch(line)
        if off or line.startswith("CONFIG_"):
            yield off[1] if off else line.partition("=")[0], line


def known_profiles() -> list[str]:
    """Names of the profiles that come with us, of which those of hosts are none."""
    return sorted((file.stem for file in DIRECTORY.glob("*.config")), key=natural_order)


def profile_of(name: str) -> Profile:
    """The profile of that name, that of hosts (``as-host:ENVIRONMENT/HOST``), or the configuration
    in the file of that path.

    Raises NotFound naming those there are, InvalidInput for a file that is no configuration.
    """
    if name in known_profiles():
        return Profile(name, (DIRECTORY / f"{name}.config").read_text("utf-8"))
    if name.startswith(f"{host_config.AS_HOST}:"):
        return Profile(name, host_config.text_of(name), whole=True)
    file = Path(name)
    if "/" not in name or not file.is_file():
        raise NotFound(
            f"no config profile {name!r}",
            hint=f"Known: {', '.join([*known_profiles(), *host_config.known_hosts()])}; or the "
            "path of a kernel's .config.",
        )
    if file.stat().st_size > LARGEST_BYTES:
        raise InvalidInput(f"{name} is larger than 1 MiB", hint="Give a kernel's .config.")
    text = file.read_text("utf-8-sig", errors="replace")
    if not any(line.startswith("CONFIG_") for line in text.splitlines()):
        raise InvalidInput(f"{name} sets nothing", hint="Give a kernel's .config.")
    return Profile(file.name, text, whole=True)
