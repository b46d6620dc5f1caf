"""What the functions and the data of two kernels have in common, by what they are. Pure.

A build notes of each function how many instructions it has and a digest of them without addresses,
names and padding, so that it stays where the function lies elsewhere, or what it calls has another
name; where it calls and jumps to and which objects it names, by another digest; what the kernel may
write over a part of it (alternatives); what faults in it lead to; whether it runs while the kernel
starts; and of each object with contents its size and a digest
without addresses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field

import zstandard

from mitigauge.core.errors import InvalidInput

# Shorter ones are alike by chance: a stub that returns 0 has the code of a hundred others.
SHORTEST = 8
MOST = 2_000_000
_LINE = re.compile(
    r"(?:(targets|alternative|data|fault|boot) )?"
    r"([0-9]{1,9}) ([0-9a-f]{16}) ([A-Za-z0-9_.$?]{1,520})"
)
# Builds of earlier versions noted the blocks of functions as well.
_BLOCKS = "blocks "
# Bytes of the notes of the largest kernel there can be, with all of its modules.
LARGEST = 256 << 20


@dataclass(frozen=True, slots=True)
class Code:
    """What one function or object is: its instructions without padding, or bytes; a digest."""

    size: int
    digest: str


Named = dict[str, list[Code]]
"""By name; several functions or objects may have one."""


@dataclass(frozen=True, slots=True)
class Notes:
    """What a build noted of a kernel."""

    functions: Named = field(default_factory=dict)
    targets: Named = field(default_factory=dict)
    alternatives: Named = field(default_factory=dict)
    objects: Named = field(default_factory=dict)
    faults: Named = field(default_factory=dict)
    """What a fault in a function leads to, by the kernel's tables."""
    boot: Named = field(default_factory=dict)
    """Functions that run while the kernel starts, or a module is loaded, and are then gone."""

    @property
    def code_size(self) -> int:
        """Instructions of all functions that stay once the kernel has started."""
        return _size(self.functions) - self.boot_size

    @property
    def boot_size(self) -> int:
        """Instructions of those that are gone by then."""
        return _size(self.boot)

    @property
    def data_size(self) -> int:
        """Bytes of all objects with contents."""
        return _size(self.objects)

    @property
    def of_one_name(self) -> dict[str, Code]:
        """Functions but those whose name several have: nothing says which of them is meant."""
        return {name: codes[0] for name, codes in self.functions.items() if len(codes) == 1}


def _size(named: Named) -> int:
    return sum(code.size for codes in named.values() for code in codes)


@dataclass(frozen=True, slots=True)
class Changed:
    """Names of what differs between kernels."""

    functions: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    boot: frozenset[str] = frozenset()
    """Of the functions, those that run while a kernel starts."""

    def __or__(self, other: Changed) -> Changed:
        return Changed(
            self.functions | other.functions,
            self.objects | other.objects,
            self.boot | other.boot,
        )


def notes_of(text: str) -> Notes:
    """What `kernel_scripts/functions` said. Raises InvalidInput with the line for all else."""
    notes = Notes()
    kinds = {
        None: notes.functions,
        "targets": notes.targets,
        "alternative": notes.alternatives,
        "data": notes.objects,
        "fault": notes.faults,
        "boot": notes.boot,
    }
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.startswith(_BLOCKS):
            continue
        said = _LINE.fullmatch(line)
        if said is None or number > MOST:
            raise InvalidInput(
                f"line {number} of the functions is {line[:80]!r}", hint="Build the kernel again."
            )
        kinds[said[1]].setdefault(said[4], []).append(Code(int(said[2]), said[3]))
    for named in kinds.values():
        for codes in named.values():
            codes.sort(key=astuple)
    return notes


def packed(text: bytes) -> bytes:
    """What a build said, as it is stored."""
    return zstandard.ZstdCompressor(level=6).compress(text)


def unpacked(stored: bytes) -> str:
    """What :func:`packed` made, or the text itself. Raises InvalidInput for what is damaged."""
    if not stored.startswith(zstandard.FRAME_HEADER):
        return stored.decode(errors="replace")
    try:
        size = zstandard.frame_content_size(stored)
        if not 0 <= size <= LARGEST:
            raise zstandard.ZstdError(f"a text of {size} bytes is none of ours")
        return zstandard.ZstdDecompressor().decompress(stored).decode(errors="replace")
    except zstandard.ZstdError as error:
        raise InvalidInput(
            f"a kernel's functions: {error}", hint="Build the kernel again."
        ) from error


def changed(before: Notes, after: Notes) -> Changed:
    """What differs, is new, or gone.

    Only of functions that *before* has can anybody know what runs them: a new one is reached
    through a function that calls it, which differs too.
    """
    functions = (
        _differing(before.functions, after.functions)
        | _differing(before.targets, after.targets)
        | _differing(before.alternatives, after.alternatives)
        | _differing(before.faults, after.faults)
    )
    boot = functions & {*before.boot, *after.boot}
    return Changed(functions, _differing(before.objects, after.objects), boot)


def _differing(before: Named, after: Named) -> frozenset[str]:
    return frozenset(name for name in {*before, *after} if before.get(name) != after.get(name))


def renamed(before: Mapping[str, Code], after: Mapping[str, Code]) -> dict[str, str]:
    """Old name → new name of functions that one kernel lacks and the other has, of one code.

    Only where one gone and one new function have that code, and it is not too short to tell.
    """
    gone = _by_code(before, after)
    new = _by_code(after, before)
    return {gone[code]: new[code] for code in gone if code in new}


def _by_code(these: Mapping[str, Code], others: Mapping[str, Code]) -> dict[Code, str]:
    """Names that the others lack by their code, where it is one name's alone."""
    own = {
        name: code for name, code in these.items() if name not in others and code.size >= SHORTEST
    }
    times = Counter(own.values())
    return {code: name for name, code in own.items() if times[code] == 1}
