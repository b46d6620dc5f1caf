"""`mitigauge profile`: perf's captures as folded stacks."""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from cli.output import remark, say
from cli.profile_exact import exact
from cli.profile_file import read_stacks
from cli.profile_instructions import instructions
from cli.profile_show import show
from cli.profile_stored import diff, export, functions
from mitigauge.analysis.profiles.capture.collapse import Collapse
from mitigauge.analysis.profiles.capture.decompress import pieces
from mitigauge.analysis.profiles.capture.folded_text import write_folded
from mitigauge.core.errors import InvalidInput

if TYPE_CHECKING:
    pass

# What fs.pipe-max-size lets everyone have; 64 KiB is the default.
PIPE_BYTES = 1 << 20

app = typer.Typer(help="Profiles: what perf recorded, as stacks.", no_args_is_help=True)
app.command()(diff)
app.command()(exact)
app.command()(export)
app.command()(instructions)
app.command()(functions)
app.command()(show)


@app.command()
def fold(
    capture: Annotated[
        str, typer.Argument(help="Text of `perf script`, plain, gzip or zstd; - reads a pipe.")
    ] = "-",
    raw: Annotated[
        bool, typer.Option("--raw", help="Names and counts as stackcollapse-perf.pl has them.")
    ] = False,
    event: Annotated[
        str, typer.Option(help="The event to count. Default: the first in the text.")
    ] = "",
) -> None:
    """Fold the text of `perf script` into stacks, one `frame;frame count` on each line.

    Threads and functions that differ only by number are merged (CPU 0/KVM and
    CPU 1/KVM become CPU_*/KVM). --raw keeps them apart.

    Example: perf script | mitigauge profile fold > out.folded
    """
    collapse = Collapse(event=event, name=capture, as_peer=raw)
    with _opened(capture) as stream:
        for piece in pieces(stream, name=capture):
            collapse.feed(piece)
    result = collapse.finish()
    if not result.counts:
        raise InvalidInput(
            f"{capture} has no sample" + (f" of {event}" if event else ""),
            hint="Give what `perf script` prints, of a recording with call chains (-g).",
        )
    _remark(
        result.other_events, f"samples of other events than {result.event.decode()} were left out"
    )
    if len(result.events) > 1:
        names = " and ".join(sorted(event.decode(errors="replace") for event in result.events))
        remark(f"note: {names} were added up; --event takes one of them alone")
    _remark(
        result.unrecognised,
        "lines that are neither sample nor frame were left out, with the frames behind them; the "
        "first is " + result.first_unrecognised,
    )
    stacks = result.stacks()
    write_folded(stacks if raw else _normalised(stacks), sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _normalised(stacks: dict[bytes, int]) -> dict[bytes, int]:
    # Imported here: loading the rules takes longer than folding a small capture.
    from mitigauge.analysis.profiles.store.normalise import normalised, rules

    return normalised(stacks, rules())


@app.command("import")
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(help="Folded stacks, or text of `perf script`; plain, gzip or zstd."),
    ],
    tree: Annotated[
        str, typer.Option(help="What was profiled. Only groups of one tree can be compared.")
    ],
    group: Annotated[str, typer.Option(help="The group of these files. Each file is one boot.")],
    event: Annotated[str, typer.Option(help="The event of a capture to count.")] = "",
    operations: Annotated[
        float | None,
        typer.Option(help="Operations in each file, for the cost of one.", min=0),
    ] = None,
) -> None:
    """Import profiles from files, so that two groups can be compared.

    Example: mitigauge profile import a*.folded --tree web --group before
    """
    # Imported here: `fold` runs in a pipe and does not need the database's libraries.
    from mitigauge.analysis.profiles.store.service import store_imported
    from mitigauge.storage.database.engine import get_engine, require_head, transaction

    require_head(get_engine())
    # One file is in memory at a time. All are looked at before the first is stored.
    for path in files[1:]:
        read_stacks(path, event)
    new = 0
    for path in files:
        stacks, of = read_stacks(path, event)
        with transaction() as session:
            _, is_new = store_imported(
                session, tree=tree, label=group, stacks=stacks,
                of=replace(of, operations=operations),
            )  # fmt: skip
        new += is_new
    say(f"{new} of {len(files)} profiles new in group {group} of {tree}")


def _remark(count: int, what: str) -> None:
    if count:
        remark(f"note: {count} {what}")


def _standard_input() -> BinaryIO:
    """Unbuffered. A pipe is made larger, so that the programs at both ends work at once."""
    stream = sys.stdin.buffer
    raw: BinaryIO = getattr(stream, "raw", stream)
    with suppress(OSError, AttributeError):
        fcntl.fcntl(raw, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return raw


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield _standard_input()
        return
    try:
        with Path(name).open("rb", buffering=0) as stream:
            yield stream
    except OSError as error:
        raise InvalidInput(
            f"{name} cannot be read: {error.strerror}", hint="Give a file, or - for a pipe."
        ) from error
