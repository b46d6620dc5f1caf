"""What a kernel's package that was built elsewhere holds, looked at by a process that can harm
nobody: a few hundred bytes of it may unpack to gigabytes."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from mitigauge.core.errors import InvalidInput, NotReady
from mitigauge.core.hostile_text import clean_text
from mitigauge.storage.files.confinement import ENVIRONMENT, Limits, run_confined

PROGRAM = Path(__file__).with_name("_package.py")
# Both windows, the package's and the image's, are 128 MiB at most where people made them.
MEMORY_BYTES = 640 << 20
# A distribution's package unpacks to half a gigabyte, and its image stands first.
SECONDS = 120.0
LONGEST_ANSWER = 8 << 10
HINT = "Give a linux-image-*.deb."
_RELEASE = re.compile(r"[0-9][0-9A-Za-z.~_+-]{1,62}")
_BUILD_ID = re.compile(r"[0-9a-f]{2,64}")


@dataclass(frozen=True, slots=True)
class Package:
    """A kernel in a Debian package."""

    release: str
    build_id: str


def look_into(path: Path) -> Package:
    """What a package holds. Raises InvalidInput for any other file, NotReady without dpkg-deb."""
    if not shutil.which("dpkg-deb", path=ENVIRONMENT["PATH"]):
        raise NotReady("dpkg-deb is not installed", hint="apt-get install dpkg")
    limits = Limits(SECONDS, MEMORY_BYTES, LONGEST_ANSWER, wall_seconds=3 * SECONDS)
    try:
        said = run_confined(PROGRAM, [path.resolve()], name=path.name, limits=limits)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error.message[:400]}", hint=HINT) from error
    if said.startswith(b"refused"):
        why = clean_text(said.removeprefix(b"refused ").decode(errors="replace")).strip()
        raise InvalidInput(f"{path}: {why}", hint=HINT)
    return _read(said, path)


def _read(said: bytes, path: Path) -> Package:
    """The answer of a process that may have been taken over by what it read."""
    try:
        found = json.loads(said)
        package = Package(str(found["release"]), str(found["build_id"]))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise InvalidInput(f"{path}: it cannot be looked into", hint=HINT) from error
    if not _RELEASE.fullmatch(package.release) or not _BUILD_ID.fullmatch(package.build_id):
        raise InvalidInput(f"{path}: its release or build id is none", hint=HINT)
    return package
