"""What an operation runs as a worker stored it, beside the ledgers that it was made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact import repository
from mitigauge.analysis.profiles.exact.bill import Entry, bill_of
from mitigauge.analysis.profiles.exact.counted_group import Counted, CountedBoots
from mitigauge.analysis.profiles.exact.operation import Key, LineRuns, OperationTotals
from mitigauge.analysis.profiles.exact.repository import CaseInArm
from mitigauge.analysis.profiles.exact.stored_operation import (
    StoredOperation,
    events_digest,
    form,
    packed,
)
from mitigauge.analysis.profiles.exact.tables import StoredBill
from mitigauge.measurement.modes.families import HardwareEvent


@dataclass(frozen=True, slots=True)
class Bill:
    """What an operation does, and how many instructions it runs each time."""

    steady: int
    entries: Mapping[str, Entry]


def counted_of(session: Session, of: CaseInArm, counts: Sequence[int]) -> Counted:
    """What *counts* tell, the rows of all boots of a case and arm: stored, or else computed.

    It is computed until a worker has stored it: in boots that were just counted, that no longer
    count, or that another version stored.
    """
    row = repository.operation_row(session, of, counts, form())
    if row is None:
        return computed(session, counts)
    return _StoredCounts(session, counts, row)


def computed(session: Session, counts: Sequence[int]) -> CountedBoots:
    """What *counts* tell, computed from their ledgers in this order."""
    ledgers = repository.ledgers_of(session, counts)
    return CountedBoots([ledgers[count] for count in counts])


def bills_of(
    session: Session,
    counts: Mapping[CaseInArm, Sequence[int]],
    events: Mapping[str, HardwareEvent],
) -> dict[CaseInArm, Bill]:
    """The bills of many cases and arms at once; *counts*: the rows of each."""
    runs = {of.run_id for of in counts}
    stored = repository.bill_rows(session, runs, form(), events_digest(events))
    found = {}
    for of, rows in counts.items():
        row = stored.get(of)
        if row is not None and row.counts == list(rows):
            found[of] = Bill(row.steady, _entries_of(row.bill, events))
        else:
            counted = counted_of(session, of, rows)
            found[of] = Bill(counted.operation.steady, counted.bill(events))
    return found


def store_operation(
    session: Session,
    of: CaseInArm,
    counts: Sequence[int],
    made_of: CountedBoots | None,
    events: Mapping[str, HardwareEvent],
) -> None:
    """Store what *counts* tell; None: that nothing can be made of them, so that nobody tries."""
    stored = packed(made_of.operation) if made_of else None
    repository.put_operation(
        session,
        of,
        {
            "counts": list(counts),
            "form": form(),
            "events": events_digest(events),
            "steady": made_of.operation.steady if made_of else None,
            "bill": _bill_as_stored(made_of.bill(events)) if made_of else None,
            "summary": stored.summary if stored else None,
            "lines": stored.lines if stored else None,
        },
    )


def _bill_as_stored(bill: Mapping[str, Entry]) -> StoredBill:
    return {name: (entry.times, entry.steady) for name, entry in bill.items()}


def _entries_of(bill: StoredBill, events: Mapping[str, HardwareEvent]) -> dict[str, Entry]:
    """A stored bill of the same *events*, in their order."""
    return {
        name: Entry(name, event.title, *bill[name]) for name, event in events.items() if event.found
    }


class _StoredCounts:
    """A stored operation: its instructions are read where they are asked for."""

    def __init__(
        self,
        session: Session,
        counts: Sequence[int],
        row: repository.OperationRow,
    ) -> None:
        self._session = session
        self._counts = counts
        self._row = row
        self._stored = StoredOperation(row.summary)

    @property
    def operation(self) -> OperationTotals:
        """What each operation runs."""
        return self._stored.totals

    def bill(self, events: Mapping[str, HardwareEvent]) -> Mapping[str, Entry]:
        """How often an operation does each of *events*, in their order."""
        if events_digest(events) == self._row.events:
            return _entries_of(self._row.bill, events)
        # The files of events changed since it was stored, and the worker has not come by: the bill
        # of the old ones would lack what the new ones find.
        lines = repository.operation_lines(self._session, self._row.number, self._counts, form())
        if lines is None:
            return computed(self._session, self._counts).bill(events)
        return bill_of(self._stored.whole(lines), events)

    def lines_of(self, function: Key) -> Sequence[LineRuns]:
        """The instructions of a function; none of one that is not known."""
        span = self._stored.span_of(function)
        if span is None:
            return ()
        frame = repository.operation_lines(
            self._session,
            self._row.number,
            self._counts,
            form(),
            start=span.start,
            length=span.length,
        )
        if frame is None:
            # A worker replaced the row meanwhile: the frame lies elsewhere in the new one.
            return computed(self._session, self._counts).lines_of(function)
        return self._stored.lines_in(frame, function)
