#!/usr/bin/python
"""Ansible module: settings of a running kernel, each put back before the next ones are applied.

What a file held is recorded before it is first written to. The record lies on a file system that
a reboot empties, as a reboot empties what it is about.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_readings import WRITABLE

DOCUMENTATION = r"""
module: runtime_settings
short_description: Settings of a running kernel
description:
  - C(applied) puts back all that was applied before and then writes the values, so that what
    is in force does not depend on what was applied before.
  - C(restored) only puts back.
  - A file that takes no writing is named in the answer and is no error; what the file
    then holds is for another module to read and for the control side to judge.
options:
  state: {description: what is wanted, choices: [applied, restored], type: str, required: true}
  writes:
    description: Text by file; a file below C(/sys/module) or C(/proc/sys), without the first slash.
    type: dict
  record: {description: file that keeps the original texts, type: path, required: true}
author: [Mitigauge contributors]
"""

RETURN = r"""
mitigauge:
  description: "refused: the kernel's words by file."
  type: dict
  returned: success
"""


class SettingsError(Exception):
    """The settings cannot be kept or put back; the text says why."""


def recorded(record: Path) -> dict[str, str]:
    """The original texts by file, in the order in which they were written over."""
    try:
        kept = json.loads(record.read_text())
        return {str(name): str(text) for name, text in kept.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError) as error:
        raise SettingsError(
            f"{record} cannot be read ({error!r}), so the original values are lost; reboot the "
            "host, which undoes all that was applied"
        ) from error


def keep(record: Path, texts: Mapping[str, str]) -> None:
    """Write the record, whole or not at all."""
    record.parent.mkdir(parents=True, exist_ok=True)
    partial = record.with_suffix(".partial")
    partial.write_text(json.dumps(texts))
    partial.replace(record)


def put_back(root: Path, record: Path) -> list[str]:
    """Give every file its original text back, the last written first; the files."""
    texts = recorded(record)
    done: list[str] = []
    for name in reversed(texts):
        file = root / name
        # A module that was unloaded took its parameters with it.
        if file.exists() and file.read_text(errors="replace").strip() != texts[name]:
            try:
                file.write_text(texts[name] + "\n")
            except OSError as error:
                raise SettingsError(
                    f"{file} does not take its original {texts[name]!r} back: {error.strerror}; "
                    "reboot the host, which undoes all that was applied"
                ) from error
            done.append(name)
    record.unlink(missing_ok=True)
    return done


def apply(root: Path, record: Path, writes: Mapping[str, str]) -> dict[str, str]:
    """Write the texts; what the kernel said by file of those that took none.

    Raises ValueError for a name that is none of such a file.
    """
    refused: dict[str, str] = {}
    texts: dict[str, str] = {}
    for name in writes:
        if not WRITABLE.fullmatch(name):
            raise ValueError(f"{name!r} is neither a parameter of a module nor a sysctl")
        try:
            texts[name] = (root / name).read_text(errors="replace").strip()
        except OSError as error:
            refused[name] = error.strerror or type(error).__name__
    if texts:
        keep(record, texts)
    for name in texts:
        try:
            (root / name).write_text(writes[name] + "\n")
        except OSError as error:
            refused[name] = error.strerror or type(error).__name__
    return refused


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "required": True, "choices": ["applied", "restored"]},
            "writes": {"type": "dict", "default": {}},
            "record": {"type": "path", "required": True},
        }
    )
    root, record, writes = Path("/"), Path(module.params["record"]), module.params["writes"]
    said: dict[str, Any] = {}
    try:
        changed = bool(put_back(root, record))
        if module.params["state"] == "applied":
            said["refused"] = apply(root, record, {k: str(v) for k, v in writes.items()})
            changed = changed or bool(writes)
    except (SettingsError, OSError, ValueError) as error:
        module.fail_json(msg=f"the settings of the running kernel: {error}")
    else:
        module.exit_json(changed=changed, mitigauge=said)


if __name__ == "__main__":
    main()
