"""`mitigauge profile`: perf's captures as folded stacks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from cli.output import errors
from mitigauge.errors import InvalidInput
from mitigauge.profiles.collapse import Collapse
from mitigauge.profiles.folded import write_folded
from mitigauge.profiles.normalise import normalised, rules
from mitigauge.profiles.reading import pieces

app = typer.Typer(help="Profiles: what perf recorded, as stacks.", no_args_is_help=True)


@app.callback()
def profile() -> None:
    """Profiles: what perf recorded, as stacks."""


@app.command()
def fold(
    capture: Annotated[
        str, typer.Argument(help="What `perf script` printed, plain, gzip or zstd; - reads a pipe.")
    ] = "-",
    raw: Annotated[
        bool, typer.Option("--raw", help="Names and counts as stackcollapse-perf.pl has them.")
    ] = False,
    event: Annotated[str, typer.Option(help="Count this event; the first, if none.")] = "",
) -> None:
    """Collapse what `perf script` printed into folded stacks, one `frame;frame count` a line.

    Threads and functions that differ only by number are merged (CPU 0/KVM and
    CPU 1/KVM become CPU_*/KVM); --raw leaves them apart.

    Example: perf script | mitigauge profile fold > out.folded
    """
    collapse = Collapse(event=event, name=capture)
    with _opened(capture) as stream:
        for piece in pieces(stream, name=capture):
            collapse.feed(piece)
    result = collapse.finish()
    if not result.counts:
        raise InvalidInput(
            f"{capture} has no sample" + (f" of {event}" if event else ""),
            hint="Give what `perf script` prints, of a recording with call chains (-g).",
        )
    _remark(result.other_events, f"samples of other events than {result.event.decode()} left out")
    _remark(result.unrecognised, "lines that are neither sample nor frame left out")
    stacks = result.stacks()
    write_folded(stacks if raw else normalised(stacks, rules()), sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _remark(count: int, what: str) -> None:
    if count:
        errors.print(f"note: {count} {what}", markup=False)


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        with Path(name).open("rb", buffering=0) as stream:
            yield stream
    except OSError as error:
        raise InvalidInput(
            f"{name} cannot be read: {error.strerror}", hint="Give a file, or - for a pipe."
        ) from error
