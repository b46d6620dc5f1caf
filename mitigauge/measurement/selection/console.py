"""What a machine's console says of its kernel's choices. Pure; the console is hostile text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from mitigauge.core.hostile_text import clean_text
from mitigauge.core.wire.kernel_log import REJECTS
from mitigauge.measurement.modes.families import Expectation
from mitigauge.measurement.selection.cells import Cell, SelectionSpec

MARK = "SAID"
MOST_LINES = 20_000
LONGEST = 300
MOST_LOG_LINES = 20
_LINE = re.compile(rf"^{MARK} (\w+) (\S+) (.*)$")
_STAMP = re.compile(r"^(<\d+>)?\[ *\d+\.\d+\] ")
_CODE = re.compile(r"([0-9a-f]{1,16}) ((?:[0-9a-f]{2}){1,16384})")


@dataclass(frozen=True, slots=True)
class Shown:
    """What one boot showed."""

    ended: bool = False
    """Whether its program came to its end."""
    release: str = ""
    command_line: tuple[str, ...] = ()
    state: str | None = None
    """Of the vulnerability; None: the kernel has no such file."""
    log: tuple[str, ...] = ()
    """The kernel's own lines of it, without time."""
    code: Mapping[str, str] = field(default_factory=dict)
    """Function → SHA-256 of its bytes as they stand after the kernel patched itself."""
    tail: str = ""
    """The console's last lines, where it did not come to its end."""

    @property
    def ignored(self) -> str:
        """The kernel's own line that it does not know an option; empty: it said none."""
        return next((line for line in self.log if REJECTS.search(line)), "")

    @property
    def code_digest(self) -> str:
        """Of all functions together; empty where none could be read."""
        whole = "".join(f"{name} {self.code[name]}\n" for name in sorted(self.code))
        return hashlib.sha256(whole.encode()).hexdigest()[:12] if self.code else ""


def read_console(text: str, spec: SelectionSpec) -> Shown:
    """What *text* says. Lines that are none of the program's are left out; raises nothing."""
    values: dict[str, str] = {}
    log: list[str] = []
    code: dict[str, str] = {}
    ended = False
    for line in text.splitlines()[:MOST_LINES]:
        found = _LINE.match(line.rstrip("\r"))
        if not found:
            continue
        kind, name, rest = found.groups()
        if kind == "log":
            own = _STAMP.sub("", rest)
            if own.startswith(f"{spec.log}:") and len(log) < MOST_LOG_LINES:
                log.append(clean_text(own)[:LONGEST])
        elif kind == "code" and name in spec.functions:
            bytes_ = _CODE.fullmatch(rest)
            if bytes_:
                # One name may stand for several functions: each copy counts.
                before = code.get(name, "")
                code[name] = hashlib.sha256(f"{before}{bytes_[2]}".encode()).hexdigest()
        elif kind == "sysfs" and name == spec.vulnerability:
            told = _part(spec, rest)
            if told is not None:
                values["state"] = clean_text(told)[:LONGEST]
        elif kind in ("release", "cmdline"):
            values[kind] = clean_text(rest)[:4096]
        ended = ended or kind == "end"
    return Shown(
        ended=ended,
        release=values.get("release", ""),
        command_line=tuple(values.get("cmdline", "").split()),
        state=values.get("state"),
        log=tuple(dict.fromkeys(log)),
        code=code,
        tail="" if ended else clean_text("\n".join(text.splitlines()[-5:]))[-LONGEST:],
    )


def _part(spec: SelectionSpec, text: str) -> str | None:
    """What tells of a file's text, as modes are proven; None: it has no such field."""
    place = Expectation(file=spec.vulnerability, field=spec.field, equals="-")
    return place.observed({spec.vulnerability: text})


def unproven(spec: SelectionSpec, cell: Cell, shown: Shown) -> str:
    """Why what a boot showed is no proof of its cell; empty: it is one."""
    if not shown.ended:
        return f"its program did not end; last: {shown.tail or 'nothing'}"
    if shown.release != cell.kernel:
        return f"another kernel ran: {shown.release[:80] or 'it did not say which'}"
    missing = [word for word in cell.words if word not in shown.command_line]
    if missing:
        return f"its command line lacks {missing[0]}"
    own = [word for word in shown.command_line if word.partition("=")[0] in spec.names]
    others = [word for word in own if word not in cell.words]
    if others:
        return f"its command line has {others[0][:80]} besides"
    if not shown.code:
        return "the code of none of the functions could be read"
    return ""
