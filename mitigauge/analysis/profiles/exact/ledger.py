"""What an emulator counted of a case in one boot: functions and instructions, by window. Pure."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import zstandard
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from mitigauge.analysis.profiles.store.pack import inflated
from mitigauge.core.wire.exact import MOST_SYMBOLS, WINDOWS
from mitigauge.core.wire.instructions import LONGEST_NAME
from mitigauge.core.wire.limits import LARGEST_WHOLE

Count = Annotated[int, Field(ge=0, lt=LARGEST_WHOLE)]
Text = Annotated[str, StringConstraints(max_length=LONGEST_NAME)]
Runs = Annotated[list[Count], Field(min_length=WINDOWS, max_length=WINDOWS)]
"""Of one thing, in each window."""
# An instruction of x86 has at most 15 bytes.
Bytes = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{2}){1,16}$")]


class _Read(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Line(NamedTuple):
    """One instruction that ran; *place* in bytes after its function's start."""

    place: Count
    code: Bytes
    text: Text
    normal: Text
    """Without what placing it moves: by this two instructions are the same."""
    runs: Runs
    taken: Count
    """How often it led elsewhere, all windows together; of what ends a block."""


class LedgerFunction(_Read):
    """A function, or what no symbol covers: that has no name."""

    name: Text
    module: Text
    is_kernel: bool
    runs: Runs
    """Its instructions, each as often as it ran."""
    lines: list[Line]
    """None of a function that runs too seldom, lies nowhere, or finds no room (`_read.py`)."""


class Window(_Read):
    """The sums of one window."""

    instructions: Count
    left_out: Count
    """Those of blocks that found no room: in the sum, and in no function."""
    unresolved: Count
    """Blocks that stopped in their midst, nobody knows where: counted whole."""
    seconds: Annotated[float, Field(ge=0, lt=1e9)]
    """What the workload measured of the same operations."""


class Branches(_Read):
    """What each operation does of them, the same number of times."""

    taken: Count
    """Jumps, calls and returns that led elsewhere."""
    indirect: Count
    """Jumps and calls whose target is read from a register or memory."""
    returns: Count


class Footprint(_Read):
    """Code that each operation runs through, and branches that it takes."""

    # Ledgers that are stored may tell of data, too, which nobody reads.
    model_config = ConfigDict(extra="ignore", frozen=True)

    lines: Count
    """Of 64 bytes."""
    pages: Count
    branches: Branches | None = None
    """None in a ledger whose lines alone tell them."""


class Ledger(_Read):
    """A case in one boot. *operations*: of each window."""

    operations: Annotated[int, Field(ge=1, lt=LARGEST_WHOLE)]
    windows: list[Window] = Field(min_length=WINDOWS, max_length=WINDOWS)
    functions: list[LedgerFunction] = Field(max_length=MOST_SYMBOLS + 4)
    footprint: Footprint

    def to_bytes(self) -> bytes:
        """As it is stored."""
        return zstandard.ZstdCompressor(level=12).compress(self.model_dump_json().encode())

    @classmethod
    def from_bytes(cls, data: bytes) -> Ledger:
        """What :meth:`to_bytes` made. Raises ``ValueError`` for what is none."""
        return cls.model_validate_json(inflated(data))

    @property
    def instructions(self) -> float:
        """Instructions an operation, everything that ran meanwhile included."""
        return sum(window.instructions for window in self.windows) / self._all_operations

    @property
    def seconds(self) -> float:
        """Seconds an operation, as the workload measured them."""
        return sum(window.seconds for window in self.windows) / self._all_operations

    @property
    def _all_operations(self) -> int:
        return self.operations * len(self.windows)
