"""Lookup: what the named workloads add to the measuring guest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

DOCUMENTATION = r"""
name: guest_additions
short_description: What workloads need in the guest that they boot
description:
  - One element for each named workload with a directory guest/, as module guest_addition takes it.
  - guest.json there says programs, links, modules and memory; all other files go into the guest,
    beside those that workloads share.
options:
  _terms: {description: names of the workloads, required: true}
  root: {description: directory with one directory for each workload, type: path, required: true}
author: [Mitigauge contributors]
"""

DECLARATION = "guest.json"
KNOWN = {"programs", "links", "modules", "more_memory_mb", "more_ready_s"}
SHARED = "_kit/guest"


def texts(directory: Path) -> dict[str, str]:
    """Name in the guest → text, of the files in `directory`."""
    return {
        path.name: path.read_text()
        for path in sorted(directory.glob("*"))
        if path.is_file() and path.name != DECLARATION
    }


def addition(name: str, root: Path) -> dict[str, Any]:
    """What workload `name` adds; AnsibleError where guest.json says something unknown."""
    path = root / name / "guest" / DECLARATION
    try:
        declared = json.loads(path.read_text())
    except ValueError as error:
        raise AnsibleError(f"{path}: not JSON: {error}") from None
    unknown = sorted(set(declared) - KNOWN)
    if unknown:
        raise AnsibleError(
            f"{path}: unknown {', '.join(unknown)}; known: {', '.join(sorted(KNOWN))}"
        )
    return {"name": name, **declared, "files": texts(root / SHARED) | texts(path.parent)}


def additions(names: list[str], root: Path) -> list[dict[str, Any]]:
    """One element for each of the workloads that adds something."""
    return [
        addition(name, root) for name in names if (root / name / "guest" / DECLARATION).is_file()
    ]


class LookupModule(LookupBase):  # type: ignore[misc]
    """Returns one element for each workload that adds something."""

    def run(
        self, terms: list[str], variables: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[dict[str, Any]]:
        """See DOCUMENTATION."""
        self.set_options(var_options=variables, direct=kwargs)
        return additions(terms, Path(self.get_option("root")))
