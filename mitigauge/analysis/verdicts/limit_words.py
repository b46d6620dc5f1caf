"""What limits say of an experiment, in one line. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from mitigauge.analysis.verdicts.limit_schemas import LimitCounts, LimitRow
from mitigauge.analysis.verdicts.metric_limits import Kept

MOST_NAMED = 2
KEPT_WORDS = {Kept.KEPT: "kept", Kept.BROKEN: "broken", Kept.CANNOT_TELL: "cannot tell"}


def line_of(counts: LimitCounts, rows: Sequence[LimitRow]) -> str:
    """``limits: 1 broken, 1 cannot tell of 4: …``, naming the first broken; empty without rows."""
    if not counts.rows:
        return ""
    numbers = ((counts.broken, Kept.BROKEN), (counts.cannot_tell, Kept.CANNOT_TELL))
    said = [f"{number} {KEPT_WORDS[kept]}" for number, kept in numbers if number]
    if not said:
        return f"limits: all {counts.rows} kept"
    broken = [row for row in rows if row.kept is Kept.BROKEN]
    named = "; ".join(describe(row) for row in broken[:MOST_NAMED])
    more = f"; and {counts.broken - MOST_NAMED} more" if counts.broken > MOST_NAMED else ""
    return f"limits: {', '.join(said)} of {counts.rows}" + (f": {named}{more}" if named else "")


def describe(row: LimitRow) -> str:
    """``exits/time_per_exit at most 6200 ns: exits to userspace, ibpb on spr-1 is 6400 ns …``."""
    where = f"{row.case}, {row.arm} on {row.host}" + (" (emulated)" if row.emulated else "")
    if row.value is None:
        return f"{row.limit}: {where}: {row.why or 'no figure'}"
    interval = "" if row.low is None or row.high is None else f" [{row.low:.4g}, {row.high:.4g}]"
    why = f": {row.why}" if row.why else ""
    return f"{row.limit}: {where} is {row.value:.4g}{interval} {row.unit}".rstrip() + why
