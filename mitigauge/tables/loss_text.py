"""Loss matrices as people paste them: plain text for a mailing list, Markdown, or CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mitigauge.documents import units
from mitigauge.documents.forms import Forms
from mitigauge.documents.grid import markdown_grid, text_grid
from mitigauge.documents.parts import counted
from mitigauge.documents.plain_text import indented, markdown, neutralise, paragraph
from mitigauge.tables.loss_schemas import LossBlock, LossCell, LossClaim, LossTable, LossView

COLUMNS = 78
NOTHING_CROSSED = (
    "No comparison of this experiment crosses two families of modes. Give a comparison "
    "`cross: [ibrs, ibpb]`, or arms with modes like `ibrs/entry+ibpb/on`; "
    "experiments/ibrs-ibpb-loss.yml is an example."
)
LOSS_COLUMNS = (
    *("processor", "host_class", "host", "emulated", "case", "metric", "first_family", "first"),
    *("second_family", "second", "rest", "arm", "state", "loss_percent", "low_percent"),
    *("high_percent", "n", "verdict", "claims"),
)


def loss_text(view: LossView) -> str:
    """Every table as plain text of at most 78 columns."""
    return "\n".join([*paragraph(_title(view), COLUMNS), *loss_lines(view)]) + "\n"


def loss_markdown(view: LossView) -> str:
    """The same as Markdown with pipe tables."""
    return "\n".join([f"# {markdown(_title(view))}", *loss_markdown_lines(view)]) + "\n"


def _title(view: LossView) -> str:
    return f"{view.experiment} ({view.state}): loss matrix"


def loss_lines(view: LossView) -> Iterator[str]:
    """The tables in plain text, each after an empty line."""
    if not view.choices:
        yield ""
        yield from paragraph(NOTHING_CROSSED, COLUMNS)
    for table in view.tables:
        yield ""
        yield from paragraph(_caption(table), COLUMNS)
        yield from paragraph(_meaning(table), COLUMNS)
        for block in table.blocks:
            yield ""
            yield from paragraph(_of_host(block), COLUMNS)
            yield from _text_block(table, block)
            for note in _notes(block):
                yield from indented("  ", neutralise(note), COLUMNS)
    if view.left_out:
        yield ""
        yield from paragraph(_left_out(view), COLUMNS)


def loss_markdown_lines(view: LossView) -> Iterator[str]:
    """The tables in Markdown."""
    if not view.choices:
        yield ""
        yield markdown(NOTHING_CROSSED)
    for table in view.tables:
        yield ""
        yield f"### {markdown(_caption(table))}"
        yield ""
        yield markdown(_meaning(table))
        for block in table.blocks:
            yield ""
            yield f"**{markdown(_of_host(block))}**"
            yield ""
            labels = _labels(block)
            rows = [[*_own(cell, table.unit), *_claimed(cell, labels)] for cell in block.cells]
            yield from markdown_grid([*_head(table), *_claimed_by(labels)], rows)
            for note in _notes(block):
                yield f"- {markdown(note)}"
    if view.left_out:
        yield ""
        yield markdown(_left_out(view))


def loss_rows(view: LossView) -> Iterator[Mapping[str, Any]]:
    """A row for each cell, with :data:`LOSS_COLUMNS`."""
    for table in view.tables:
        for block in table.blocks:
            for cell in block.cells:
                yield {
                    "processor": block.processor,
                    "host_class": block.host_class,
                    "host": block.host,
                    "emulated": block.emulated,
                    "case": table.case,
                    "metric": table.metric,
                    "first_family": table.first.family,
                    "first": cell.first,
                    "second_family": table.second.family,
                    "second": cell.second,
                    "rest": table.rest,
                    "arm": cell.arm,
                    "state": cell.state,
                    "loss_percent": cell.loss_percent,
                    "low_percent": cell.low_percent,
                    "high_percent": cell.high_percent,
                    "n": cell.n,
                    "verdict": cell.verdict.value if cell.verdict else "",
                    "claims": "; ".join(f"{c.label} {claimed(c)}" for c in cell.claims),
                }


def claimed(claim: LossClaim) -> str:
    """A published loss: ``+16.0%``, or its lowest and highest."""
    low, high = units.percent(claim.low_percent), units.percent(claim.high_percent)
    return low if low == high else f"{low} to {high}"


def _caption(table: LossTable) -> str:
    rest = f", with {table.rest}" if table.rest else ""
    return (
        f"Loss of {table.metric_title} by {table.first.family} and {table.second.family}{rest}: "
        f"{table.case}"
    )


def _meaning(table: LossTable) -> str:
    worse = "longer or more" if table.direction == "lower" else "less"
    return (
        f"Loss: change for the worse ({worse}) in percent of {table.baseline}, with its 95 % "
        "interval and n boots."
    )


def _of_host(block: LossBlock) -> str:
    marks = ["EMULATED"] if block.emulated else []
    marks += ["COUNTED TIME"] if block.counted else []
    name = block.host_class or block.processor or "processor unknown"
    processor = block.processor if block.processor not in ("", name) else ""
    return ", ".join(filter(None, [name, processor, f"host {block.host}", *marks]))


def _head(table: LossTable) -> list[str]:
    return [table.first.family, table.second.family, "loss", "interval", "n", "verdict"]


def _own(cell: LossCell, unit: str) -> list[str]:
    place = [cell.first, cell.second]
    boots = str(cell.n) if cell.n else ""
    if cell.is_baseline:
        value = "" if cell.mean is None else units.humanise(cell.mean, neutralise(unit, 16))
        return [*place, "baseline", value, boots, ""]
    if cell.state != "measured":
        return [
            *place,
            "",
            "",
            boots,
            cell.state.replace("_", " ").replace("no data", "not measured"),
        ]
    low, high = cell.low_percent, cell.high_percent
    digits = units.digits_for(low, high)
    loss, interval = cell.loss_percent, ""
    if low is not None and high is not None:
        interval = units.interval(low, high, digits=digits)
    shown = "" if loss is None else units.percent(loss, digits=digits)
    return [*place, shown, interval, boots, cell.verdict.value if cell.verdict else "undecided"]


def _labels(block: LossBlock) -> list[str]:
    """What the claims beside a block's cells are called, in their order."""
    return list(dict.fromkeys(claim.label for cell in block.cells for claim in cell.claims))


def _claimed_by(labels: Sequence[str]) -> list[str]:
    return [f"claimed {label}" for label in labels]


def _claimed(cell: LossCell, labels: Sequence[str]) -> list[str]:
    found = {claim.label: claimed(claim) for claim in cell.claims}
    return [found.get(label, "") for label in labels]


def _text_block(table: LossTable, block: LossBlock) -> Iterator[str]:
    """One host's cells, with the claims as columns of their own if they fit in, else below."""
    labels = _labels(block)
    own = [_own(cell, table.unit) for cell in block.cells]
    told = [_claimed(cell, labels) for cell in block.cells]
    beside = text_grid(
        [*_head(table), *_claimed_by(labels)],
        [[*row, *of] for row, of in zip(own, told, strict=True)],
    )
    if not labels or max(map(len, beside)) <= COLUMNS:
        yield from beside
        return
    yield from text_grid(_head(table), own)
    yield ""
    yield "Claimed losses beside it:"
    yield from text_grid(
        [table.first.family, table.second.family, "ours", *labels],
        [[*row[:3], *of] for row, of in zip(own, told, strict=True) if any(of)],
    )


def _notes(block: LossBlock) -> Iterator[str]:
    """What stands behind cells without a figure, and how the claims came out."""
    for cell in block.cells:
        where = f"{cell.first}, {cell.second}"
        if cell.state == "not_effective":
            said = "; ".join(cell.observed) or cell.note or "nothing"
            yield f"{where}: not effective, the kernel said: {said}"
        elif cell.note:
            yield f"{where}: {cell.note}"
    outcomes = [(c.outcome, c.reason) for cell in block.cells for c in cell.claims]
    for outcome, reason in dict.fromkeys(outcomes):
        number = outcomes.count((outcome, reason))
        yield f"claims {outcome.value.replace('_', ' ')}: {number} ({reason})"


def _left_out(view: LossView) -> str:
    return (
        f"{counted(view.left_out, 'more table')} not shown: name a case and a metric "
        "(`mitigauge experiment loss ID --case NUMBER --metric NAME`)."
    )


LOSS_FORMS = Forms(loss_text, loss_markdown, LOSS_COLUMNS, loss_rows)
