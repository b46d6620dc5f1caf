"""`mitigauge snippet`: small pieces of assembly timed against each other on this processor."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import count_off, print_table, say

if TYPE_CHECKING:
    from mitigauge.analysis.prices.snippets import Compared

app = typer.Typer(
    no_args_is_help=True,
    help="Small pieces of assembly against each other, on this processor, over many layouts.",
)


@app.callback()
def _is_a_group() -> None:
    """Keep the name of the one command."""


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="The one that the other is compared with.")],
    second: Annotated[Path, typer.Argument(help="The other one.")],
    layouts: Annotated[
        int, typer.Option(help="Places of the code: a process each.", min=5, max=2000)
    ] = 60,
    seconds: Annotated[float, typer.Option(help="For all of it.", min=2, max=3600)] = 20.0,
) -> None:
    """Time two pieces of assembly against each other, and what each hides of the branch history.

    Each runs before a real system call. Where code lies moves what it costs, so that the interval
    is over layouts. A piece must keep the registers that a C function keeps, and touch no memory.

    Example: mitigauge snippet compare experiments/snippets/clear-12x7.s \\
    experiments/snippets/clear-12x7-ah-al.s
    """
    from random import SystemRandom

    from mitigauge.analysis.prices.snippets import compare_snippets
    from mitigauge.core.settings import get_settings
    from pipelines.adapters.price_probe import compiled
    from pipelines.adapters.snippet import assembled

    with tempfile.TemporaryDirectory() as directory:
        codes = [assembled(each, Path(directory), f"{n}") for n, each in enumerate((first, second))]
        probe = compiled(get_settings().home / "tools")
        chance, cpus = SystemRandom(), sorted(os.sched_getaffinity(0))
        runs = []
        for done in range(layouts):
            count_off("layout", done, layouts)
            runs.append(
                probe.compared(
                    codes[0], codes[1], max(0.02, seconds / layouts - 0.05),
                    chance.getrandbits(31), chance.choice(cpus),
                )
            )  # fmt: skip
    _print_compared(first, second, compare_snippets(runs))


def _print_compared(first: Path, second: Path, found: Compared) -> None:
    print_table(
        ["snippet", "ns", "95 %"],
        [
            [path.name, f"{of.mean:.4g}", f"{of.low:.4g} to {of.high:.4g}"]
            for path, of in ((first, found.first), (second, found.second))
        ],
        empty="",
    )
    effect, verdict = found.effect, found.verdict
    word = "the same" if verdict == "same" else verdict
    say(
        f"{second.name} is {word}: {100 * effect.mean:+.1f} % "
        f"[{100 * effect.low:+.1f}, {100 * effect.high:+.1f}] over {found.layouts} layouts",
        style="bold",
    )
    if found.hidden is None:
        say(
            "What they hide of the branch history cannot be told here: behind the first a branch "
            "that needs it is predicted as well as behind nothing."
        )
        return
    hidden = found.hidden
    told = f"{100 * hidden.mean:.0f} % [{100 * hidden.low:.0f}, {100 * hidden.high:.0f}]"
    say(f"Branch history: mispredictions behind it cost {told} of those behind the first.")
    if found.hides_less:
        say("HIDES LESS: a branch behind it knows more of the history than one behind the first.")
