#!/usr/bin/python
"""Ansible module: workloads and their runner under one directory of the host."""

from __future__ import annotations

import base64
import contextlib
import io
import shutil
import subprocess
import tarfile
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_changes import ChangesError, note_paths
from ansible.module_utils.mitigauge_kernel_files import has_dpkg

DOCUMENTATION = r"""
module: workload_stage
short_description: Put workloads on the host
description:
  - Unpacks each workload whose digest differs from the staged one, whole or not at all.
  - Says which of I(packages) are not installed; it installs none.
options:
  path: {description: directory of the staged workloads, type: path, required: true}
  archive: {description: tar.gz of the workloads in base64, type: str, required: true}
  sha256: {description: name of each workload and its digest, type: dict, required: true}
  programs: {description: runner and its parts, text by file name, type: dict, required: true}
  packages: {description: Debian packages the workloads need, type: list, elements: str}
author: [Mitigauge contributors]
"""

MARK = ".sha256"


def missing_packages(packages: list[str]) -> list[str]:
    """Those of `packages` that dpkg does not show as installed; none where there is no dpkg.

    What is not there then, the workload itself says.
    """
    if not packages or not has_dpkg():
        return []
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    installed = {
        line.split()[0] for line in done.stdout.splitlines() if line.endswith(" installed")
    }
    return [name for name in packages if name not in installed]


def staged(path: Path, name: str) -> str:
    """Digest of the staged workload; empty if there is none or it is not whole."""
    with contextlib.suppress(FileNotFoundError):
        return (path / name / MARK).read_text()
    return ""


def unpack(archive: bytes, name: str, sha256: str, path: Path) -> None:
    """Replace the staged workload; its digest is written last and marks it whole."""
    fresh = path / f".{name}.new"
    shutil.rmtree(fresh, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        members = [m for m in tar.getmembers() if m.name.startswith(f"{name}/") and m.isfile()]
        for member in members:
            target = fresh / member.name.removeprefix(f"{name}/")
            target.parent.mkdir(parents=True, exist_ok=True)
            source = tar.extractfile(member)
            if source:
                target.write_bytes(source.read())
                target.chmod(member.mode)
    (fresh / MARK).write_text(sha256)
    shutil.rmtree(path / name, ignore_errors=True)
    fresh.rename(path / name)


def ensure_program(path: Path, text: str, *, check_mode: bool) -> bool:
    """Whether the program was (or would be) replaced."""
    with contextlib.suppress(FileNotFoundError):
        if path.read_text() == text and path.stat().st_mode & 0o100:
            return False
    if not check_mode:
        part = path.with_name(f"{path.name}.part")
        part.write_text(text)
        part.chmod(0o755)
        part.replace(path)
    return True


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            # no_log: kept out of the event stream, where it would be stored with every run.
            "archive": {"type": "str", "required": True, "no_log": True},
            "sha256": {"type": "dict", "required": True},
            "programs": {"type": "dict", "required": True, "no_log": True},
            "packages": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    params = module.params
    path = Path(params["path"])
    if not module.check_mode:
        try:
            note_paths([path])
        except ChangesError as error:
            module.fail_json(msg=str(error))
        path.mkdir(parents=True, exist_ok=True)
    stale = [name for name, sha256 in params["sha256"].items() if staged(path, name) != sha256]
    changed = [
        name for name, text in params["programs"].items()
        if ensure_program(path / name, text, check_mode=module.check_mode)
    ]  # fmt: skip
    if not module.check_mode:
        archive = base64.b64decode(params["archive"])
        for name in stale:
            unpack(archive, name, params["sha256"][name], path)
    module.exit_json(
        changed=bool(changed or stale),
        replaced=changed + stale,
        missing_packages=missing_packages(params["packages"]),
        mitigauge={"staged": params["sha256"]},
    )


if __name__ == "__main__":
    main()
