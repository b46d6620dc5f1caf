"""What a host's time is."""

from __future__ import annotations

from typing import Final

# The time that everybody has.
REAL: Final = "real"
# An emulated host's clock goes on by a fixed time with each instruction.
COUNTED: Final = "counted"
CLOCKS: Final = (REAL, COUNTED)
