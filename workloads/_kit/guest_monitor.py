"""QEMU's monitor (QMP): what it says of the guest that it made, beside what an arm asks of it."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import Any

# It answers while the guest runs; one that does not is stuck.
TIMEOUT_S = 10.0
LONGEST_LINE = 4 << 20
YES, NO = ("on", "yes", "true"), ("off", "no", "false")
# A line of the tree of objects: depth, name, type.
OBJECT = re.compile(r"^( *)/(\S*) \(([^()]+)\)\s*$", re.M)
# Controllers by who serves them, as QEMU names their types.
IN_KERNEL = {"apic": "kvm-apic", "ioapic": "kvm-ioapic"}


class MonitorError(Exception):
    """The monitor did not answer, or refused the question."""


class Monitor:
    """One connection to the monitor of a QEMU."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(TIMEOUT_S)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise MonitorError(f"QEMU's monitor at {path}: {error}") from None
        self._file = self._socket.makefile("rwb")
        self._line()
        self.ask("qmp_capabilities")

    def close(self) -> None:
        """End the connection; QEMU goes on."""
        self._file.close()
        self._socket.close()

    def ask(self, command: str, **arguments: Any) -> Any:
        """The answer to a command; raises :class:`MonitorError` for a refusal."""
        question = {"execute": command, **({"arguments": arguments} if arguments else {})}
        try:
            self._file.write(json.dumps(question).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise MonitorError(f"QEMU's monitor: {error}") from None
        while True:
            said = self._line()
            if "error" in said:
                raise MonitorError(f"{command}: {said['error'].get('desc', said['error'])}")
            if "return" in said:
                return said["return"]

    def _line(self) -> dict[str, Any]:
        try:
            line = self._file.readline(LONGEST_LINE)
            said: dict[str, Any] = json.loads(line)
        except (OSError, ValueError) as error:
            raise MonitorError(f"QEMU's monitor: {error}") from None
        return said


def processor(monitor: Monitor, asked: str) -> str:
    """What the first processor is of what is *asked*: the same text where it is all of it.

    *asked* is a model, +FLAG, -FLAG and PROPERTY=VALUE with commas between them.
    """
    path = monitor.ask("query-cpus-fast")[0]["qom-path"]

    def read(name: str) -> Any:
        return monitor.ask("qom-get", path=path, property=name)

    return ",".join(_shown(word, read) for word in asked.split(","))


def _shown(word: str, read: Any) -> str:
    name, equals, value = word.partition("=")
    if equals:
        return f"{name}={_as_asked(value, read(name))}"
    if word[0] in "+-":
        return ("+" if read(word[1:]) else "-") + word[1:]
    model = str(read("type")).removesuffix("-x86_64-cpu")
    # A model without a version is another name for one of its versions.
    return word if re.fullmatch(rf"{re.escape(word)}(-v\d+)?", model) else model


def _as_asked(value: str, shown: Any) -> str:
    """*shown* in the words of *value*, where it is the same."""
    if isinstance(shown, bool):
        words = YES if shown else NO
        return value if value in words else words[0]
    if isinstance(shown, int):
        try:
            return value if int(value, 0) == shown else str(shown)
        except ValueError:
            return str(shown)
    return str(shown)


def irqchip(monitor: Monitor) -> str:
    """Where the interrupt controllers are: ``on``, ``split`` or ``off``, as kernel_irqchip says."""
    tree = monitor.ask("human-monitor-command", **{"command-line": "info qom-tree"})
    found = set(re.findall(r"\(((?:kvm-)?(?:apic|ioapic))\)", tree))
    kernels = {name for name, kind in IN_KERNEL.items() if kind in found}
    return {2: "on", 0: "off"}.get(len(kernels), "split" if kernels == {"apic"} else "unknown")


def devices(monitor: Monitor, asked: str) -> str:
    """What the devices have of what is *asked*: the same text where each one has all of it.

    *asked* is DEVICE.PROPERTY=VALUE with commas between them.
    """
    tree = monitor.ask("human-monitor-command", **{"command-line": "info qom-tree"})
    made = paths_by_type(tree)
    return ",".join(_of_all(monitor, made, word) for word in asked.split(","))


def paths_by_type(tree: str) -> dict[str, list[str]]:
    """Type → paths of its objects, of the tree that QEMU shows by indentation."""
    found: dict[str, list[str]] = {}
    above: list[str] = []
    for indent, name, kind in OBJECT.findall(tree):
        depth = len(indent) // 2
        above[depth:] = [name]
        found.setdefault(kind, []).append("/" + "/".join(above).lstrip("/"))
    return found


def _of_all(monitor: Monitor, made: dict[str, list[str]], word: str) -> str:
    device, _, setting = word.partition(".")
    name, _, value = setting.partition("=")
    shown = {
        _as_asked(value, monitor.ask("qom-get", path=path, property=name))
        for path in made.get(device, [])
    }
    others = sorted(shown - {value}) if shown else ["no such device"]
    return f"{device}.{name}={others[0] if others else value}"


def memory_mb(monitor: Monitor) -> int:
    """The memory that the machine was made with, in MiB."""
    return int(monitor.ask("query-memory-size-summary")["base-memory"]) >> 20
