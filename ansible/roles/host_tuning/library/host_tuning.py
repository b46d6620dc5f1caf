#!/usr/bin/python
"""Ansible module: a quiet host while it measures, put back afterwards.

What was there is recorded on the host before the first change and kept until it has
been put back. Nothing is made permanent: a reboot undoes all of it, the record stays,
and applying again does not record again.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_changes import ChangesError, note_paths

DOCUMENTATION = r"""
module: host_tuning
short_description: A quiet host while it measures, put back afterwards
description:
  - C(applied) fixes the processor's frequency policy, switches turbo and the NMI watchdog
    off and stops units that would wake up in the middle of a measurement.
  - C(restored) puts back what was recorded before the first change.
options:
  state: {description: what is wanted, choices: [applied, restored], type: str, required: true}
  thp: {description: transparent huge pages, type: str, default: leave}
  units: {description: systemd units to stop, type: list, elements: str}
  record: {description: file that keeps the original values, type: path, required: true}
author: [Mitigauge contributors]
"""

Run = Callable[[Sequence[str]], str]
THP_CHOICES = ("leave", "always", "madvise", "never")
RECORD_VERSION = 1


class TuningError(Exception):
    """The host cannot be tuned or put back; the text says why."""


@dataclass(frozen=True)
class Knob:
    """A setting of the kernel: one file, or one a processor policy, all with one value."""

    name: str
    pattern: str  # below the root of the file systems
    wanted: str


def knobs(thp: str) -> list[Knob]:
    """What is set on a host that has it."""
    cpu = "sys/devices/system/cpu"
    wanted = [
        Knob("scaling_governor", f"{cpu}/cpufreq/policy[0-9]*/scaling_governor", "performance"),
        Knob("no_turbo", f"{cpu}/intel_pstate/no_turbo", "1"),
        Knob("boost", f"{cpu}/cpufreq/boost", "0"),
        Knob("nmi_watchdog", "proc/sys/kernel/nmi_watchdog", "0"),
    ]
    if thp != "leave":
        wanted.append(Knob("thp", "sys/kernel/mm/transparent_hugepage/enabled", thp))
    return wanted


def value_of(path: Path) -> str:
    """The knob's value: of a choice such as ``always [madvise] never`` the chosen word."""
    text = path.read_text().strip()
    _, bracket, rest = text.partition("[")
    return rest.partition("]")[0] if bracket else text


def takes(path: Path, value: str) -> bool:
    """Whether the kernel offers `value` there; only governors say what they offer."""
    offered = path.with_name("scaling_available_governors")
    if path.name != "scaling_governor" or not offered.exists():
        return True
    return value in offered.read_text().split()


def set_value(path: Path, value: str) -> None:
    """Write `value` and check that the kernel took it."""
    try:
        path.write_text(value + "\n")
    except OSError as error:
        raise TuningError(f"{path} does not take {value!r}: {error.strerror}") from error
    now = value_of(path)
    if now != value:
        raise TuningError(f"{path}: wrote {value!r}, the kernel says {now!r}")


def run(words: Sequence[str]) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode:
        raise TuningError(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def unit_states(units: Sequence[str], systemctl: Run) -> dict[str, str]:
    """Unit → ActiveState of those that systemd has and may start (masked ones it may not)."""
    if not units:
        return {}
    shown = systemctl(["systemctl", "show", "--property=Id,LoadState,ActiveState", "--", *units])
    blocks = [
        dict(line.partition("=")[::2] for line in block.splitlines())
        for block in shown.strip().split("\n\n")
    ]
    return {b["Id"]: b["ActiveState"] for b in blocks if b.get("LoadState") == "loaded"}


@dataclass(frozen=True)
class Host:
    """A host's knobs and units, with the record of what they were."""

    root: Path
    record: Path
    run: Run

    def recorded(self) -> dict[str, dict[str, str]] | None:
        """``{knobs: {file: value}, units: {unit: state}}``; None before the first change."""
        try:
            kept = json.loads(self.record.read_text())
            if kept["version"] == RECORD_VERSION:
                return {"knobs": dict(kept["knobs"]), "units": dict(kept["units"])}
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise TuningError(
                f"{self.record} cannot be read ({error!r}), so the original values are lost; "
                "delete it and reboot the host, which undoes all tuning"
            ) from error
        raise TuningError(
            f"{self.record} is of version {kept['version']!r}, not {RECORD_VERSION}; "
            "restore with the version that wrote it, or delete it and reboot the host"
        )

    def write_record(self, recorded: dict[str, dict[str, str]]) -> None:
        """Whole or not at all, and on disk before anything is changed."""
        self.record.parent.mkdir(parents=True, exist_ok=True)
        partial = self.record.with_suffix(".partial")
        with partial.open("w") as file:
            json.dump({"version": RECORD_VERSION, **recorded}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.record)

    def files(self, knob: Knob) -> list[str]:
        """The knob's files that take the wanted value, relative to the root."""
        found = sorted(self.root.glob(knob.pattern))
        return [str(p.relative_to(self.root)) for p in found if takes(p, knob.wanted)]

    def apply(self, wanted: Sequence[Knob], units: Sequence[str], *, check: bool) -> dict[str, Any]:
        """Bring knobs and units to what is wanted; with `check` only say what would change."""
        files = {knob: self.files(knob) for knob in wanted}
        now = {name: value_of(self.root / name) for names in files.values() for name in names}
        states = unit_states(units, self.run)
        kept = self.recorded()
        before = kept or {"knobs": {}, "units": {}}
        # What only this kernel has is added; what was recorded once stays.
        recorded = {"knobs": now | before["knobs"], "units": states | before["units"]}
        off = [
            (name, knob.wanted)
            for knob, names in files.items()
            for name in names
            if now[name] != knob.wanted
        ]
        running = [unit for unit, state in states.items() if state in ("active", "activating")]
        if not check:
            if recorded != kept:
                self.write_record(recorded)
            for name, value in off:
                set_value(self.root / name, value)
            if running:
                self.run(["systemctl", "stop", "--", *running])
        return {
            "changed": bool(off or running or recorded != kept),
            "changes": [f"{name} = {value}" for name, value in off]
            + [f"{unit} stopped" for unit in running],
            "tuning": {
                "recorded": recorded,
                "applied": {knob.name: knob.wanted for knob, names in files.items() if names}
                | dict.fromkeys(states, "inactive"),
                "absent": [knob.name for knob, names in files.items() if not names]
                + [unit for unit in units if unit not in states],
            },
        }

    def restore(self, *, check: bool) -> dict[str, Any]:
        """Put back what is recorded, then drop the record; without one nothing is changed."""
        recorded = self.recorded()
        if recorded is None:
            return {"changed": False, "changes": [], "restored": {}}
        # A knob of another kernel's driver may be gone, a unit uninstalled.
        present = {n: v for n, v in recorded["knobs"].items() if (self.root / n).exists()}
        off = {n: v for n, v in present.items() if value_of(self.root / n) != v}
        states = unit_states(list(recorded["units"]), self.run)
        stopped = [
            unit
            for unit, state in recorded["units"].items()
            if state == "active" and states.get(unit, "active") != "active"
        ]
        if not check:
            for name, value in off.items():
                set_value(self.root / name, value)
            if stopped:
                self.run(["systemctl", "start", "--", *stopped])
            self.record.unlink()
        return {
            "changed": True,
            "changes": [f"{name} = {value}" for name, value in off.items()]
            + [f"{unit} started" for unit in stopped],
            "restored": {
                "knobs": present,
                "units": {unit: recorded["units"][unit] for unit in states},
                "gone": sorted(recorded["knobs"].keys() - present.keys())
                + sorted(recorded["units"].keys() - states.keys()),
            },
        }


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "required": True, "choices": ["applied", "restored"]},
            "thp": {"type": "str", "default": "leave", "choices": list(THP_CHOICES)},
            "units": {"type": "list", "elements": "str", "default": []},
            "record": {"type": "path", "required": True},
        },
        supports_check_mode=True,
    )
    params = module.params
    host = Host(Path("/"), Path(params["record"]), run)
    try:
        if params["state"] == "applied":
            if not module.check_mode:
                note_paths([params["record"]])
            result = host.apply(knobs(params["thp"]), params["units"], check=module.check_mode)
        else:
            result = host.restore(check=module.check_mode)
    except (TuningError, ChangesError) as error:
        module.fail_json(msg=str(error))
    else:
        said = {key: result[key] for key in ("tuning", "restored") if key in result}
        module.exit_json(changed=result["changed"], changes=result["changes"], mitigauge=said)


if __name__ == "__main__":
    main()
