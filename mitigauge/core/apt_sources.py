"""The Debian mirror this machine itself uses, read from its apt sources."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

# Options without which a machine behind a proxy or on a frozen archive cannot read it.
_INHERITED_OPTIONS = (
    "Acquire::http::Proxy",
    "Acquire::https::Proxy",
    "Acquire::Check-Valid-Until",
    "Acquire::Check-Date",
)
_ONE_LINE = re.compile(
    r"^deb\s+(?:\[[^\]]*\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>.+)$"
)
_DEBIAN_PATH = re.compile(r"/debian/?$")
_SECURITY_PATH = re.compile(r"/debian-security/?$")


@dataclass(frozen=True)
class Source:
    """One archive, suite and its components, as apt would use it."""

    uri: str
    suite: str
    components: tuple[str, ...]


@dataclass(frozen=True)
class Mirror:
    """Base addresses of Debian's archive and, where known, of its security archive."""

    archive: str
    security: str | None

    def lines(self, suite: str) -> list[str]:
        """One-line sources for a stable ``suite`` with its updates and backports."""
        trusted = f"[signed-by={KEYRING}]"
        suites = [
            (self.archive, name) for name in (suite, f"{suite}-updates", f"{suite}-backports")
        ]
        if self.security:
            suites.append((self.security, f"{suite}-security"))
        return [f"deb {trusted} {uri} {name} main" for uri, name in suites]


def find_mirror(apt_directory: Path = Path("/etc/apt")) -> Mirror | None:
    """The first Debian mirror in this machine's apt sources; None if there is none."""
    archive = security = None
    for source in read_sources(apt_directory):
        if "main" not in source.components:
            continue
        if archive is None and _DEBIAN_PATH.search(source.uri):
            archive = source.uri.rstrip("/")
        if security is None and _SECURITY_PATH.search(source.uri):
            security = source.uri.rstrip("/")
    return Mirror(archive, security) if archive else None


def read_sources(apt_directory: Path) -> Iterator[Source]:
    """Every enabled binary source, in the order in which apt reads the files."""
    parts = apt_directory / "sources.list.d"
    files = [apt_directory / "sources.list"]
    files += sorted((*parts.glob("*.list"), *parts.glob("*.sources")))
    for file in files:
        if not file.is_file():
            continue
        parse = parse_deb822 if file.suffix == ".sources" else parse_one_line
        for source in parse(file.read_text(encoding="utf-8", errors="replace")):
            uri = _resolve(source.uri)
            if uri:
                yield Source(uri, source.suite, source.components)


def parse_one_line(text: str) -> Iterator[Source]:
    """Sources of a ``sources.list``: ``deb [options] URI SUITE COMPONENT…``."""
    for line in text.splitlines():
        match = _ONE_LINE.match(line.split("#", 1)[0].strip())
        if match:
            yield Source(match["uri"], match["suite"], tuple(match["components"].split()))


def parse_deb822(text: str) -> Iterator[Source]:
    """Sources of a ``*.sources`` file of stanzas, one source per URI and suite."""
    for stanza in _stanzas(text):
        if "deb" not in stanza.get("types", "").split():
            continue
        if stanza.get("enabled", "yes").lower() in {"no", "false", "0", "off"}:
            continue
        components = tuple(stanza.get("components", "").split())
        for uri in stanza.get("uris", "").split():
            for suite in stanza.get("suites", "").split():
                yield Source(uri, suite, components)


def inherited_apt_options() -> list[str]:
    """This machine's apt options that the image's own apt needs too, as configuration lines."""
    dump = subprocess.run(
        ["apt-config", "dump", "--no-empty", "--format", '%f "%v";%n', *_INHERITED_OPTIONS],
        capture_output=True,
        text=True,
        check=False,
    )
    return (
        [line for line in dump.stdout.splitlines() if line.strip()] if not dump.returncode else []
    )


def _stanzas(text: str) -> Iterator[dict[str, str]]:
    stanza: dict[str, str] = {}
    field = ""
    for line in (*text.splitlines(), ""):
        if line.startswith("#"):
            continue
        if not line.strip():
            if stanza:
                yield stanza
            stanza, field = {}, ""
        elif line[0].isspace() and field:
            stanza[field] += " " + line.strip()
        elif ":" in line:
            name, value = line.split(":", 1)
            field = name.strip().lower()
            stanza[field] = value.strip()


def _resolve(uri: str) -> str | None:
    """Follow ``mirror+file:`` to the first address listed; None for no network archive."""
    scheme, _, rest = uri.partition(":")
    if scheme in {"http", "https"}:
        return uri
    if scheme == "mirror+file":
        listed = Path("/" + rest.lstrip("/"))
        if listed.is_file():
            for line in listed.read_text(encoding="utf-8").splitlines():
                address = line.split("#", 1)[0].split()
                if address:
                    return _resolve(address[0])
    return None
