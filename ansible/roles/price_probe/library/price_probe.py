#!/usr/bin/python
"""Ansible module: run a program that times events, once for each line of a plan."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: price_probe
short_description: Run a program that times events, once for each line of a plan
description:
  - Runs C(program) with the words of each line, one after the other, and returns what each printed.
  - The place of the processor in a line is its number; it stands for one of those that this
    process may use, taken in turn. Changes nothing.
options:
  program: {description: The program on the host, type: path, required: true}
  plan: {description: A file with a JSON list of lists of words, type: path, required: true}
  limit_s: {description: For one line, type: float, default: 30}
author: [Mitigauge contributors]
"""

RETURN = r"""
mitigauge:
  description: "prices: what each line printed, and what the processor says of itself."
  type: dict
  returned: success
"""

LONGEST = 4000
LONGEST_CPUINFO = 20_000
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
# Of a line: event, seconds, seed, processor, and what runs behind it.
PROCESSOR = 3


def caches() -> str:
    """``L1d 48K, L2 1024K, L3 32768K``; empty where the kernel does not say."""
    said = []
    for folder in sorted(CACHES.glob("index*")):
        level, kind, size = (text_of(folder / name) for name in ("level", "type", "size"))
        suffix = {"Data": "d", "Instruction": "i"}.get(kind, "")
        said.append(f"L{level}{suffix} {size}")
    return ", ".join(said)


def text_of(path: Path) -> str:
    """The file's text without surrounding blanks; empty where there is none."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def printed(program: str, words: list[str], limit_s: float) -> str:
    """What the program printed; why it failed stands behind a ``!``."""
    try:
        done = subprocess.run(
            [program, *words], capture_output=True, text=True, check=False, timeout=limit_s,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"! {error}"[:LONGEST]
    if done.returncode:
        return f"! it ended with {done.returncode}: {done.stderr.strip()}"[:LONGEST]
    return done.stdout.strip()[:LONGEST]


def answer(program: str, plan: list[list[str]], limit_s: float) -> dict[str, Any]:
    """What every line printed, and what the processor says of itself."""
    cpus = sorted(os.sched_getaffinity(0))
    lines = []
    for words in plan:
        cpu = cpus[int(words[PROCESSOR]) % len(cpus)]
        line = [*words[:PROCESSOR], str(cpu), *words[PROCESSOR + 1 :]]
        lines.append(printed(program, line, limit_s))
    return {
        "lines": lines,
        "cpuinfo": text_of(Path("/proc/cpuinfo"))[:LONGEST_CPUINFO],
        "caches": caches()[:LONGEST],
        "kernel": platform.release(),
    }


def main() -> None:
    """Run the plan."""
    module = AnsibleModule(
        argument_spec={
            "program": {"type": "path", "required": True},
            "plan": {"type": "path", "required": True},
            "limit_s": {"type": "float", "default": 30.0},
        },
        supports_check_mode=False,
    )
    words = module.params
    plan = json.loads(Path(words["plan"]).read_text())
    told = answer(words["program"], plan, words["limit_s"])
    module.exit_json(changed=False, mitigauge={"prices": told})


if __name__ == "__main__":
    main()
