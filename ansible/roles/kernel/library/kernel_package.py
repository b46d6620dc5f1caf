#!/usr/bin/python
"""Ansible module: the package file of a kernel of ours, installed, and noted by its digest."""

from __future__ import annotations

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_changes import ChangesError, note_paths
from ansible.module_utils.mitigauge_kernel_packages import NOTES, note, sha256_of
from ansible.module_utils.mitigauge_packages import PackageError, install_files

DOCUMENTATION = r"""
module: kernel_package
short_description: Install a kernel's package file, whatever package of that name is there
description:
  - Refuses a file whose SHA-256 is not the wanted one.
  - Installs it over another build of the same name and version, which apt alone would keep.
  - Notes the digest, by which I(kernel_list) then knows the build.
options:
  name: {description: the package's name, type: str, required: true}
  file: {description: the file on this host, type: path, required: true}
  sha256: {description: what the file must be, type: str, required: true}
author: [Mitigauge contributors]
"""


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "file": {"type": "path", "required": True},
            "sha256": {"type": "str", "required": True},
        }
    )
    name, file, wanted = (module.params[key] for key in ("name", "file", "sha256"))
    try:
        found = sha256_of(Path(file))
        if found != wanted:
            module.fail_json(
                msg=f"{file} did not arrive as it was sent: its SHA-256 is {found}, not {wanted}"
            )
        note_paths([NOTES])
        install_files([file], [name])
        note(name, wanted)
    except (PackageError, ChangesError, OSError) as error:
        module.fail_json(msg=f"kernel package {name} cannot be installed: {error}")
    else:
        module.exit_json(changed=True)


if __name__ == "__main__":
    main()
