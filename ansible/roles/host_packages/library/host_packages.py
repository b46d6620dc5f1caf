#!/usr/bin/python
"""Ansible module: packages that a run needs, installed so that they can be taken away again."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_changes import ChangesError
from ansible.module_utils.mitigauge_packages import PackageError, install

DOCUMENTATION = r"""
module: host_packages
short_description: Install Debian packages and note which of them are ours
description:
  - Installs I(names) and what they depend on, without what they recommend.
  - Notes each package that was not there before, which C(host restore) then removes.
options:
  names: {description: packages that are missing, type: list, elements: str, required: true}
author: [Mitigauge contributors]
"""


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={"names": {"type": "list", "elements": "str", "required": True}},
        supports_check_mode=True,
    )
    names = module.params["names"]
    try:
        if names and not module.check_mode:
            install(names)
    except (PackageError, ChangesError) as error:
        module.fail_json(msg=str(error))
    else:
        module.exit_json(changed=bool(names))


if __name__ == "__main__":
    main()
