#!/usr/bin/python
"""Ansible module: remove the directories of jobs that ended long ago.

What a job left is fetched within minutes of its end; nothing on the host is needed after.
"""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_wire.job import NAME, STATE_FILE, unit_of

DOCUMENTATION = r"""
module: workload_cleanup
short_description: Remove the directories of jobs that ended long ago
description:
  - The newest ones stay whatever their age, and so does a job whose unit is active.
  - What cannot be removed is counted, and stays.
options:
  jobs: {description: directory of all jobs, type: path, required: true}
  keep_days: {description: days that a job's directory stays, type: int, default: 14}
  keep_newest: {description: directories that always stay, type: int, default: 10}
  wait_s: {description: seconds after which the rest is left for later, type: int, default: 30}
author: [Mitigauge contributors]
"""

SECONDS_A_DAY = 86400
# More entries than this are looked at the next time.
MOST_ENTRIES = 100_000


def last_change(directory: Path) -> float:
    """When the job wrote its state last, seconds since 1970."""
    times = [directory.lstat().st_mtime]
    state = directory / STATE_FILE
    if state.exists():
        times.append(state.lstat().st_mtime)
    return max(times)


def by_age(jobs: Path) -> list[tuple[float, Path]]:
    """Directories of jobs, the oldest first; links and what is named otherwise are none."""
    found = []
    if not jobs.is_dir():
        return []
    with os.scandir(jobs) as entries:
        for entry in itertools.islice(entries, MOST_ENTRIES):
            if NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                found.append((last_change(Path(entry.path)), Path(entry.path)))
    return sorted(found)


def unit_active(job: str) -> bool:
    """Whether the job's unit is running or about to."""
    done = subprocess.run(
        ["systemctl", "is-active", unit_of(job)],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip() in {"active", "activating", "deactivating", "reloading"}


def old_jobs(jobs: Path, keep_days: int, keep_newest: int, now: float) -> list[Path]:
    """Directories that may go, the oldest first."""
    found = by_age(jobs)
    before = now - keep_days * SECONDS_A_DAY
    aged = found[: len(found) - keep_newest] if keep_newest else found
    return [path for changed, path in aged if changed < before]


def remove(directory: Path) -> bool:
    """Whether the directory went; a job in progress stays, and so does what resists."""
    if unit_active(directory.name) or not stat.S_ISDIR(directory.lstat().st_mode):
        return False
    try:
        shutil.rmtree(directory)
    except (OSError, RecursionError):
        return False
    return True


def clean_up(params: dict[str, Any], *, check_mode: bool) -> dict[str, int]:
    """How many directories went, how many resisted, and how many are left to the next time."""
    deadline = time.monotonic() + params["wait_s"]
    old = old_jobs(Path(params["jobs"]), params["keep_days"], params["keep_newest"], time.time())
    counts = {"removed": 0, "kept": 0, "left": 0}
    for directory in old:
        if time.monotonic() > deadline:
            counts["left"] += 1
        elif check_mode or remove(directory):
            counts["removed"] += 1
        else:
            counts["kept"] += 1
    return counts


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "jobs": {"type": "path", "required": True},
            "keep_days": {"type": "int", "default": 14},
            "keep_newest": {"type": "int", "default": 10},
            "wait_s": {"type": "int", "default": 30},
        },
        supports_check_mode=True,
    )
    try:
        counts = clean_up(module.params, check_mode=module.check_mode)
    except OSError as error:
        module.fail_json(msg=f"{module.params['jobs']} cannot be read: {error}")
    module.exit_json(changed=counts["removed"] > 0, **counts)


if __name__ == "__main__":
    main()
