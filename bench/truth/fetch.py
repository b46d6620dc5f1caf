"""Get the real series that their owners publish: ``python -m bench.truth.fetch DIR``.

`sources.yml` says whose they are, under which licence, and the SHA-256 of each file. A file that is
another one is refused with both digests, and nothing of its source is kept. A clone of a source's
repository, bare or not, serves instead of the network: ``--clone tcpd=PATH``.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

SOURCES = Path(__file__).with_name("sources.yml")
ADDRESS = "https://raw.githubusercontent.com/{repository}/{commit}/{path}"
_MOST_BYTES = 4 << 20
_SECONDS = 60

Get = Callable[["Source", str], bytes]


class Refused(Exception):
    """Why a source is not kept."""


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one owner at one commit, by their paths, with their SHA-256."""

    title: str
    owner: str
    licence: str
    repository: str
    commit: str
    files: Mapping[str, str]


def sources(path: Path = SOURCES) -> dict[str, Source]:
    """All that are known, by name."""
    said = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: Source(**source) for name, source in said.items()}


def over_network(source: Source, path: str) -> bytes:
    """A file as the owner's repository serves it."""
    address = ADDRESS.format(repository=source.repository, commit=source.commit, path=path)
    with urllib.request.urlopen(address, timeout=_SECONDS) as answer:
        content: bytes = answer.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise Refused(f"{path}: more than {_MOST_BYTES} bytes")
    return content


def from_clone(clone: Path) -> Get:
    """A file as a clone of the repository has it."""

    def get(source: Source, path: str) -> bytes:
        command = ["git", "-C", str(clone), "show", f"{source.commit}:{path}"]
        return subprocess.run(command, capture_output=True, check=True).stdout

    return get


def fetch(name: str, source: Source, folder: Path, get: Get = over_network) -> Path:
    """Put a source's files below *folder*, all of them or none. What is there is checked."""
    kept = folder / name
    if kept.exists():
        for path in source.files:
            checked(source, path, (kept / path).read_bytes())
        return kept
    folder.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder))
    try:
        for path in source.files:
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (new / path).write_bytes(checked(source, path, get(source, path)))
        (new / "ORIGIN.yml").write_text(_origin(source), encoding="utf-8")
        new.chmod(0o755)
        new.rename(kept)
    except BaseException:
        shutil.rmtree(new)
        raise
    return kept


def checked(source: Source, path: str, content: bytes) -> bytes:
    """The content, if it is what `sources.yml` says."""
    digest = hashlib.sha256(content).hexdigest()
    if digest != source.files[path]:
        raise Refused(f"{path}: SHA-256 is {digest}, not {source.files[path]}")
    return content


def _origin(source: Source) -> str:
    said = {
        "title": source.title,
        "owner": source.owner,
        "licence": source.licence,
        "source": f"https://github.com/{source.repository}",
        "commit": source.commit,
    }
    text: str = yaml.safe_dump(said, sort_keys=False, allow_unicode=True)
    return text


def main() -> int:
    """Fetch every source."""
    parser = argparse.ArgumentParser(prog="python -m bench.truth.fetch", description=main.__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="where they are put")
    parser.add_argument("--clone", action="append", default=[], metavar="NAME=PATH")
    options = parser.parse_args()
    clones = {name: Path(path) for name, _, path in (each.partition("=") for each in options.clone)}
    failed = 0
    for name, source in sources().items():
        get = from_clone(clones[name]) if name in clones else over_network
        try:
            print(f"{fetch(name, source, options.folder, get)}: {source.licence}")
        except (Refused, OSError, subprocess.CalledProcessError) as error:
            failed += 1
            print(f"{name} is not kept: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
