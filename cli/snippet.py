"""`mitigauge snippet`: small pieces of assembly ranked on this processor."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, count_off, print_json, print_table, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mitigauge.analysis.prices.snippet_ranking import RankedSnippet
    from mitigauge.analysis.prices.snippets import Compared
    from mitigauge.core.stats.tournament import Ranking

MOST_PIECES = 64
app = typer.Typer(
    no_args_is_help=True,
    help="Small pieces of assembly against each other, on this processor, over many layouts.",
)


@app.command()
def rank(
    first: Annotated[Path, typer.Argument(help="The one that protects: others must hide as much.")],
    others: Annotated[list[Path], typer.Argument(help="Variants of it.")],
    gate: Annotated[
        int, typer.Option(help="Layouts in which each variant shows what it hides.", min=5, max=500)
    ] = 20,
    seconds: Annotated[
        float, typer.Option(help="For a piece in a layout.", min=0.02, max=60)
    ] = 0.2,
    margin: Annotated[
        float, typer.Option(help="A difference that does not matter, in percent.", min=0.1, max=50)
    ] = 1.0,
    json: Json = False,
) -> None:
    """Which of several pieces of assembly is the fastest that hides as much of the history.

    First each variant shows what it hides: one that hides less than the first is out before it is
    timed. The others are timed layout by layout; a piece drops out once it surely takes longer than
    the leader. The fastest drops out in one of a hundred at most, over all layouts and pieces.

    Example: mitigauge snippet rank experiments/snippets/clear-12x7.s experiments/snippets/*.s
    """
    from random import SystemRandom

    from mitigauge.analysis.prices.snippet_ranking import ranked_snippets
    from mitigauge.analysis.prices.snippets import compare_snippets, more_than_first
    from mitigauge.core.settings import get_settings
    from mitigauge.core.stats.tournament import LOOKS, tournament
    from pipelines.adapters.price_probe import compiled
    from pipelines.adapters.snippet import assembled

    pieces = _pieces(first, others)
    with tempfile.TemporaryDirectory() as directory:
        codes = {
            name: assembled(path, Path(directory), f"{number}")
            for number, (name, path) in enumerate(pieces.items())
        }
        probe = compiled(get_settings().home / "tools")
        chance, cpus = SystemRandom(), sorted(os.sched_getaffinity(0))
        places = [(chance.getrandbits(31), chance.choice(cpus)) for _ in range(LOOKS[-1])]
        shown: dict[str, Compared] = {}
        for number, name in enumerate(list(codes)[1:]):
            count_off("variant at the gate", number, len(codes) - 1)
            shown[name] = compare_snippets([
                probe.compared(codes[first.name], codes[name], seconds,
                               chance.getrandbits(31), chance.choice(cpus))
                for _ in range(gate)
            ])  # fmt: skip
        left = [name for name in codes if name not in shown or not shown[name].hides_less]

        def measure(name: str, at: int) -> float:
            if name == left[0]:
                count_off("layout", at, LOOKS[-1])
            return more_than_first(
                probe.compared(codes[first.name], codes[name], seconds, *places[at])
            )

        found = tournament(left, measure, margin=margin / 100) if len(left) > 1 else None
    ranked = ranked_snippets(first.name, shown, found, margin=margin / 100)
    print_json(ranked) if json else _print_ranked(ranked, found)


def _pieces(first: Path, others: list[Path]) -> dict[str, Path]:
    """By their files' names, the first one first; the same file is one piece."""
    from mitigauge.core.errors import InvalidInput

    pieces = {first.name: first}
    for path in others:
        if pieces.setdefault(path.name, path).resolve() != path.resolve():
            raise InvalidInput(f"two files are called {path.name}", hint="Rename one of them.")
    if not 2 <= len(pieces) <= MOST_PIECES:
        raise InvalidInput(
            f"{len(pieces)} pieces cannot be ranked", hint=f"Give 2 to {MOST_PIECES}."
        )
    return pieces


def _print_ranked(ranked: Sequence[RankedSnippet], found: Ranking | None) -> None:
    print_table(
        ["snippet", "is", "more than the winner", "95 %", "hides of the history"],
        [
            [each.name, each.place,
             "" if each.more_percent is None else f"{each.more_percent:+.1f} %",
             "" if each.low_percent is None
             else f"{each.low_percent:+.1f} to {each.high_percent:+.1f}",
             each.hides]
            for each in ranked
        ],
        empty="",
    )  # fmt: skip
    if found is None:
        say("No variant is left beside the first: all hide less.", style="bold")
        return
    say(f"{ranked[0].name} wins after {found.rounds} layouts.", style="bold")
    if not found.is_decided:
        say("The layouts ran out: one that is left beside it may be faster.")
