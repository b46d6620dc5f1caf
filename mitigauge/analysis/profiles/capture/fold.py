"""A capture folded in a process of its own, since a host may have written it to do harm."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mitigauge.analysis.profiles.capture.folded_text import read_folded, require_few
from mitigauge.core.errors import InvalidInput
from mitigauge.storage.files.confinement import Limits, run_confined

PROGRAM = Path(__file__).with_name("_fold.py")
MEMORY_BYTES = 400 << 20
# perf's text shrinks by 20 to 60 times, and a capture has at most 32 MiB.
MOST_TEXT = 2 << 30


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one capture may cost."""

    seconds: float = 60.0
    stack_bytes: int = 32 << 20
    """Of all distinct folded stacks together."""
    stacks: int = 200_000
    frames: int = 6_000_000
    """Of all distinct stacks together."""
    symbols: int = 50_000
    line_bytes: int = 64 << 10


@dataclass(frozen=True, slots=True)
class Folded:
    """A capture's stacks and what they were sampled by."""

    event: str
    samples: int
    stacks: dict[bytes, int]


def fold_apart(path: Path, bounds: Bounds) -> Folded:
    """Fold perf's text in *path*, plain, gzip or zstd, within *bounds*.

    Raises :class:`InvalidInput` naming the line of what is no capture, and the bound that
    was reached.
    """
    numbers = (MOST_TEXT, bounds.stacks, bounds.stack_bytes, bounds.line_bytes)
    output = run_confined(
        PROGRAM,
        [path, *map(str, numbers)],
        name=path.name,
        # A line has a stack and a count of at most 16 digits.
        limits=Limits(bounds.seconds, MEMORY_BYTES, bounds.stack_bytes + 20 * bounds.stacks + 4096),
    )
    head, _, text = output.partition(b"\n")
    if head.startswith(b"refused "):
        raise InvalidInput(
            head.removeprefix(b"refused ").decode(errors="replace"),
            hint="This reads what `perf script` prints. Nothing was stored.",
        )
    samples, _, event = head.partition(b" ")
    stacks = read_folded([text], name=path.name)
    require_few(stacks, name=path.name, symbols=bounds.symbols, frames=bounds.frames)
    return Folded(event.decode(errors="replace"), int(samples), stacks)
