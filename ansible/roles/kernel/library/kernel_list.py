#!/usr/bin/python
"""Ansible module: which kernels are installed, and which of the wanted ones are not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: kernel_list
short_description: List installed kernels
description:
  - Every kernel in /boot with the package that owns it, and those of I(wanted) that are missing.
options:
  wanted:
    description: Kernel packages that should be there.
    type: list
    elements: str
    default: []
author: Mitigauge
"""

RETURN = r"""
missing:
  description: Wanted packages that are not installed.
  type: list
  returned: success
mitigauge:
  description: "kernels: release and package of each."
  type: dict
  returned: success
"""


def releases(boot):
    """Kernel releases in a boot directory, in order."""
    return sorted(file.name[len("vmlinuz-"):] for file in Path(boot).glob("vmlinuz-*"))


def installed(listing):
    """Names of installed packages in the output of dpkg-query."""
    rows = (line.split("\t") for line in listing.splitlines() if "\t" in line)
    return {name for name, status in rows if status.endswith("ok installed")}


def main():
    module = AnsibleModule(
        argument_spec={"wanted": {"type": "list", "elements": "str", "default": []}},
        supports_check_mode=True,
    )
    listing = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package}\t${Status}\n", "linux-image-*"],
        capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"},
    ).stdout
    packages = installed(listing)
    kernels = [
        {
            "release": release,
            "package": package if (package := "linux-image-" + release) in packages else None,
        }
        for release in releases("/boot")
    ]
    missing = [name for name in module.params["wanted"] if name not in packages]
    module.exit_json(changed=False, missing=missing, mitigauge={"kernels": kernels})


if __name__ == "__main__":
    main()
