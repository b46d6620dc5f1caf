"""`mitigauge profile show`: one profile by itself, without a database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, print_json, print_table, say
from cli.profile_file import read_stacks

if TYPE_CHECKING:
    from mitigauge.analysis.profiles.store.shares import FunctionShare

TOP = 30


def show(
    file: Annotated[
        Path, typer.Argument(help="Folded stacks, or text of `perf script`; plain, gzip or zstd.")
    ],
    above: Annotated[
        float, typer.Option(help="Least share of all samples, in percent.", min=0, max=100)
    ] = 1.0,
    total: Annotated[
        bool, typer.Option("--total", help="By what a function costs with all that it calls.")
    ] = False,
    search: Annotated[str, typer.Option(help="Part of a function's name.")] = "",
    event: Annotated[str, typer.Option(help="The event of a capture to count.")] = "",
    json: Json = False,
) -> None:
    """List the functions of one profile, the most expensive first. No database is needed.

    A function's own cost is what a flame graph shows as a flat top. Threads and functions that
    differ only by number are merged (CPU 0/KVM and CPU 1/KVM become CPU_*/KVM).

    Example: perf script > boot.txt; mitigauge profile show boot.txt

    A picture: mitigauge profile fold boot.txt | flamegraph.pl > boot.svg
    """
    from mitigauge.analysis.profiles.store.functions import PERF_DEEPEST
    from mitigauge.analysis.profiles.store.normalise import normalised, rules
    from mitigauge.analysis.profiles.store.shares import shares_of

    stacks, of = read_stacks(file, event)
    profile = shares_of(normalised(stacks, rules()), of)

    def share(row: FunctionShare) -> float:
        return row.total_percent if total else row.self_percent

    shown = sorted(
        (row for row in profile.functions if share(row) >= above and search in row.function),
        key=lambda row: (-share(row), row.function),
    )
    if json:
        print_json(profile.model_copy(update={"functions": shown}))
        return
    of_what = f"samples of {of.event}" if profile.is_recording else "in all, as the stacks count"
    say(
        f"{profile.samples:,} {of_what}; {profile.unknown_percent:.1f} % in stacks with a frame of "
        "which neither function nor file is known"
    )
    if profile.truncated_percent:
        say(
            f"{profile.truncated_percent:.1f} % in stacks of {PERF_DEEPEST} frames and more: perf "
            "follows no further as it comes, inlined functions aside"
        )
    print_table(
        ["self %", "total %", "function"],
        [
            [f"{row.self_percent:.1f}", f"{row.total_percent:.1f}", row.function]
            for row in shown[:TOP]
        ],
        empty=f"No function has {above:g} % of all samples. Lower --above.",
    )
    if len(shown) > TOP:
        say(f"{len(shown) - TOP} more; --above or --search leaves some out, --json has all")
