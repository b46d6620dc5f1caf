"""What `mitigauge experiment undecided` prints and orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.output import print_table, say
from cli.remote.routes import at
from cli.source import answer
from mitigauge.core.errors import InvalidInput

if TYPE_CHECKING:
    from mitigauge.reporting.pages.undecided import Undecided


def print_undecided(of: Undecided) -> None:
    """A line a cell, and what all of them take."""
    print_table(
        ["case", "metric", "host", "arm", "blocks", "needs", "why"],
        [
            [
                each.case, each.metric, each.host, each.arm, str(each.blocks),
                "not known" if each.needed is None else str(each.needed), each.why,
            ]
            for each in of.cells
        ],
        empty="Every arm of every primary metric is decided, or was not measured.",
    )  # fmt: skip
    if of.blocks is not None:
        hours = "" if of.hours is None else f", some {of.hours:g} h at the pace of this one"
        say(f"{of.blocks} blocks are {of.boots} boots{hours}: --order submits them.")


def order_again(of: Undecided, blocks: int | None) -> None:
    """Submit the spec once more. Raises InvalidInput where no number of blocks is known."""
    from mitigauge.access.roles import OPERATOR
    from mitigauge.reporting.pages.schemas import ExperimentHead
    from mitigauge.reporting.pages.undecided import measure_again

    wanted = blocks or of.blocks
    if wanted is None:
        raise InvalidInput(
            "no number of blocks is known that would decide it", hint="Say one: --blocks N."
        )
    number = answer(
        lambda session: measure_again(session, of.experiment_id, wanted, by=OPERATOR),
        lambda client: (
            client.post(
                at("/api/experiments/{}/again", of.experiment_id),
                ExperimentHead,
                {"blocks": wanted},
            ).id
        ),
    )
    say(f"experiment {number}: {wanted} blocks; `mitigauge experiment wait {number}` follows it")
