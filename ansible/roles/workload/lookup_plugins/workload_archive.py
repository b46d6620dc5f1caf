"""Lookup: the named workloads as one archive, their digests and the packages they need."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

DOCUMENTATION = r"""
name: workload_archive
short_description: Workload directories as a base64 tar.gz
description:
  - Packs what a host needs of each named workload, that is all but parse.py, fixtures, README.md
    and hidden files, and the kit that they share.
options:
  _terms: {description: names of the workloads, required: true}
  root: {description: directory with one directory for each workload, type: path, required: true}
author: [Mitigauge contributors]
"""

# Used on the control side only: a change in them must not look like a change of the workload.
LEFT_OUT = {"parse.py", "fixtures", "README.md"}
CACHE = "__pycache__"
# What workloads import; it lies beside them.
KIT = "_kit"


def staged_files(directory: Path) -> Iterator[tuple[str, Path]]:
    """(path within the workload, file) of what a host needs, in a fixed order."""
    for path in sorted(files_below(directory)):
        parts = path.relative_to(directory).parts
        if parts[0] not in LEFT_OUT and not any(p == CACHE or p[0] == "." for p in parts):
            yield "/".join(parts), path


def files_below(directory: Path) -> Iterator[Path]:
    """All files of a directory; the contract with hosts lies elsewhere and is linked here."""
    for parent, _, names in os.walk(directory, followlinks=True):
        yield from (Path(parent, name) for name in names)


def executable(path: Path) -> bool:
    """Whether the owner may execute `path`."""
    return bool(path.stat().st_mode & 0o100)


def digest(directory: Path) -> str:
    """SHA-256 over names, executable bits and contents of the staged files."""
    total = hashlib.sha256()
    for name, path in staged_files(directory):
        content = path.read_bytes()
        total.update(f"{name}\0{executable(path):d}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()


def archive(names: list[str], root: Path) -> tuple[str, dict[str, str]]:
    """(base64 of the tar.gz, name → digest); AnsibleError for a workload without `run`."""
    raw = io.BytesIO()
    digests: dict[str, str] = {}
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in [KIT, *names]:
            if name != KIT and not (root / name / "run").is_file():
                known = ", ".join(sorted(p.parent.name for p in root.glob("*/run"))) or "none"
                raise AnsibleError(f"no workload {name!r} in {root}; known: {known}")
            digests[name] = digest(root / name)
            for inner, path in staged_files(root / name):
                entry = tarfile.TarInfo(f"{name}/{inner}")
                entry.size, entry.mode = path.stat().st_size, 0o755 if executable(path) else 0o644
                with path.open("rb") as file:
                    tar.addfile(entry, file)
    return base64.b64encode(gzip.compress(raw.getvalue(), mtime=0)).decode(), digests


def packages(names: list[str], root: Path) -> list[str]:
    """Debian packages that the workloads' workload.yml name, each once."""
    wanted = [yaml.safe_load((root / name / "workload.yml").read_text()) for name in names]
    return sorted({package for one in wanted for package in one.get("packages", [])})


class LookupModule(LookupBase):  # type: ignore[misc]
    """Returns one element: {archive: base64, sha256: {name: digest}, packages: [names]}."""

    def run(
        self, terms: list[str], variables: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[dict[str, Any]]:
        """See DOCUMENTATION."""
        self.set_options(var_options=variables, direct=kwargs)
        root = Path(self.get_option("root"))
        packed, digests = archive(list(terms), root)
        return [{"archive": packed, "sha256": digests, "packages": packages(list(terms), root)}]
