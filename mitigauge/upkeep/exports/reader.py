"""Reading an experiment from a file: in one transaction, under numbers of its own.

What is read is over: its runs are never advanced, its hosts never leased. They are rows beside
the hosts of the same names here, in an environment that says where they are from.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import TypeAdapter
from sqlalchemy import Table
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from mitigauge.core.errors import InvalidInput, MitigaugeError
from mitigauge.core.hostile_text import quoted
from mitigauge.measurement.experiments.states import FINAL_STATES
from mitigauge.measurement.fleet.recorded_hosts import is_recorded, recorded_environment
from mitigauge.measurement.runs.states import OPEN_BOOT_STATES
from mitigauge.reporting.pages import experiments as views
from mitigauge.storage.database.engine import in_words, is_away
from mitigauge.storage.database.metadata import whole_metadata
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.upkeep.exports import portable_profiles, repository
from mitigauge.upkeep.exports.lines import (
    BlobLine,
    Header,
    Line,
    ProfileLine,
    Row,
    StacksLine,
    refused,
)
from mitigauge.upkeep.exports.ownership import ARRAYS_OF_IDS, ROOT, Belonging
from mitigauge.upkeep.exports.repository import Json
from mitigauge.upkeep.retention.repository import naming_columns

# Of one raw file; archives of jobs are never larger.
LARGEST_BLOB = 256 << 20
# Of one profile; a capture that is folded here may have no more either.
MOST_STACKS = 200_000
STACKS_BYTES = 64 << 20
# Rows that are put in at once.
ROWS = 200
LONGEST_NONCE = 200
DIGEST_LENGTH = 64
# Columns that would make a service act upon what is read.
RESET: Final[dict[str, Json]] = {
    "run": {"wake_at": None},
    "host": {
        "set_aside_reason": "",
        "set_aside_at": None,
        "set_aside_by": "",
        "reserved_reason": "",
        "reserved_until": None,
        "reserved_by": "",
        "probe_at": None,
        "probes": 0,
    },
}
_INTEGERS: TypeAdapter[list[int]] = TypeAdapter(list[int])


@dataclass(slots=True)
class _Import:
    """One file on its way into the database."""

    session: Session
    header: Header
    name: str
    blobs: BlobStore
    belonging: Belonging = field(default_factory=lambda: Belonging(whole_metadata()))
    # Of each table: numbers in the file, with those here.
    numbers: dict[str, dict[int, int]] = field(default_factory=dict)
    digests: set[str] = field(default_factory=set)
    experiment_id: int = 0
    _order: int = -1

    @property
    def tables(self) -> list[Table]:
        return [*self.belonging.others, *self.belonging.own]

    def take(self, lines: Iterable[tuple[Line, int]]) -> None:
        """All lines, in runs of one kind."""
        source = _Ahead(lines)
        while (ahead := source.peek()) is not None:
            line, number = ahead
            if isinstance(line, Row):
                self._rows(self._table(line.table, number), list(source.rows(line.table)))
            elif isinstance(line, ProfileLine):
                next(source)
                self._profile(line, number, self._stacks(source, number))
            elif isinstance(line, BlobLine):
                self._blob(line.blob, number, source.parts(line.blob))
            else:
                raise self._refused(number, "stacks of no profile")
        if not self.experiment_id:
            raise refused(self.name, "it holds no experiment")

    def _table(self, name: str, number: int) -> Table:
        """The table of rows that begin here; tables come in one order, parents before children."""
        known = [table.name for table in self.tables]
        if name not in known:
            raise self._refused(
                number, f"a row of {quoted(name)}, which is no table of experiments"
            )
        if known.index(name) < self._order:
            raise self._refused(number, f"a row of {name} stands too late")
        self._order = known.index(name)
        return self.tables[self._order]

    def _rows(self, table: Table, rows: list[tuple[Json, int]]) -> None:
        numbered = self.belonging.numbered(table)
        new = repository.new_ids(self.session, table, len(rows)) if numbered else []
        known = self.numbers.setdefault(table.name, {})
        for place, (row, number) in enumerate(rows):
            self._require_columns(row, {column.name for column in table.columns}, number)
            if numbered:
                old = self._integer(row["id"], number)
                if old in known:
                    raise self._refused(number, f"{table.name} {old} stands twice")
                known[old] = row["id"] = new[place]
            self._point_anew(table, row, number)
            self._settle(table.name, row, number)
        self._put(table.name, [row for row, _ in rows], rows[0][1])

    def _put(self, name: str, rows: list[Json], number: int) -> None:
        if not rows:
            return
        try:
            repository.insert_rows(self.session, name, list(rows[0]), rows)
        except DBAPIError as error:
            if is_away(error):
                raise
            said = quoted(in_words(error), 300)
            raise self._refused(number, f"rows of {name} are not taken: {said}") from None

    def _require_columns(self, row: Json, known: set[str], number: int) -> None:
        if unknown := sorted(set(row) - known):
            raise self._refused(number, f"a column {quoted(unknown[0])} that is not known")
        if missing := sorted(known - set(row)):
            raise self._refused(number, f"the column {missing[0]} is missing")

    def _point_anew(self, table: Table, row: Json, number: int) -> None:
        """Let the row name other rows by the numbers that these have here."""
        for column, origin in self.belonging.references(table).items():
            if row[column] is not None:
                row[column] = self._number(origin, row[column], number)
        for (name, column), origin in ARRAYS_OF_IDS.items():
            if name == table.name and row[column] is not None:
                listed = row[column] if isinstance(row[column], list) else [row[column]]
                row[column] = [self._number(origin, old, number) for old in listed]

    def _number(self, table: str, old: Any, number: int) -> int:
        found = self.numbers.get(table, {}).get(self._integer(old, number))
        if found is None:
            raise self._refused(number, f"{table} {quoted(old)} is not in the file before it")
        return found

    def _integer(self, value: Any, number: int) -> int:
        if type(value) is not int:
            raise self._refused(number, f"{quoted(value)} where a row's number belongs")
        return value

    def _settle(self, table: str, row: Json, number: int) -> None:
        """Let nothing act upon the row, and say where it is from."""
        row |= RESET.get(table, {})
        if table in (ROOT, "run") and row["state"] not in FINAL_STATES:
            raise self._refused(number, f"the {table} is {quoted(row['state'])}, not over")
        if table == "boot" and row["state"] in OPEN_BOOT_STATES:
            raise self._refused(number, f"a boot is {quoted(row['state'])}, not over")
        if table == "host" and not is_recorded(str(row["environment"])):
            row["environment"] = recorded_environment(str(row["environment"]), self._from)
        if table == ROOT:
            self._settle_experiment(row, number)
        for column in naming_columns(whole_metadata()):
            if column.table.name == table:
                self._note_blob(row[column.name])

    def _settle_experiment(self, row: Json, number: int) -> None:
        if self.experiment_id:
            raise self._refused(number, "a second experiment")
        self.experiment_id = row["id"]
        row["recorded_at"] = self.header.recorded_at.isoformat()
        row["recorded_from"] = self.header.recorded_from
        row["finished_at"] = row["finished_at"] or row["recorded_at"]

    @property
    def _from(self) -> str:
        """Tells hosts that were recorded from those here, and two files from each other."""
        digest = hashlib.sha256(self.header.model_dump_json().encode()).hexdigest()
        return f"{self.header.recorded_at:%Y-%m-%d} ({digest[:8]})"

    def _stacks(self, source: _Ahead, number: int) -> dict[str, int]:
        found: dict[str, int] = {}
        size = 0
        for part in source.stacks():
            found |= part
            size += sum(map(len, part))
            if len(found) > MOST_STACKS or size > STACKS_BYTES:
                raise self._refused(number, "the profile has more stacks than any has")
        return found

    def _profile(self, line: ProfileLine, number: int, stacks: dict[str, int]) -> None:
        row = dict(line.profile)
        self._require_columns(row, {column.name for column in portable_profiles.COLUMNS}, number)
        row["boot_id"] = self._number("boot", row["boot_id"], number)
        row["case_id"] = self._number("benchmark_case", row["case_id"], number)
        try:
            new = portable_profiles.store(self.session, row, line.tree, stacks)
            repository.set_columns(self.session, "profile", new, row)
        except DBAPIError as error:
            if is_away(error):
                raise
            said = quoted(in_words(error), 300)
            raise self._refused(number, f"the profile is not taken: {said}") from None
        except InvalidInput as error:
            raise self._refused(number, error.message) from None
        self._note_blob(row["raw_sha256"])

    def _note_blob(self, digest: Any) -> None:
        if isinstance(digest, str) and len(digest) == DIGEST_LENGTH:
            self.digests.add(digest)

    def _blob(self, digest: str, number: int, parts: Iterator[str]) -> None:
        if digest not in self.digests:
            raise self._refused(number, f"a raw file {digest[:12]}… that no row names")
        content = bytearray()
        for part in parts:
            try:
                content += base64.b64decode(part, validate=True)
            except binascii.Error:
                raise self._refused(number, f"the raw file {digest[:12]}… is damaged") from None
            if len(content) > LARGEST_BLOB:
                raise self._refused(number, f"a raw file is over {LARGEST_BLOB >> 20} MiB")
        if hashlib.sha256(content).hexdigest() != digest:
            raise self._refused(number, f"the raw file {digest[:12]}… is damaged")
        self.blobs.put(bytes(content))

    def _refused(self, number: int, reason: str) -> InvalidInput:
        return refused(self.name, f"line {number}: {reason}")


class _Ahead:
    """Lines with a look at the next one."""

    def __init__(self, lines: Iterable[tuple[Line, int]]) -> None:
        self._lines = iter(lines)
        self._next = next(self._lines, None)

    def peek(self) -> tuple[Line, int] | None:
        return self._next

    def __next__(self) -> tuple[Line, int]:
        if self._next is None:
            raise StopIteration
        found, self._next = self._next, next(self._lines, None)
        return found

    def rows(self, table: str) -> Iterator[tuple[Json, int]]:
        """The rows of one table that come next, a batch at most."""
        for _ in range(ROWS):
            if self._next is None or not isinstance(self._next[0], Row):
                return
            if self._next[0].table != table:
                return
            line, number = next(self)
            assert isinstance(line, Row)
            yield line.row, number

    def stacks(self) -> Iterator[dict[str, int]]:
        """Stacks that come next, in parts."""
        while self._next is not None and isinstance(self._next[0], StacksLine):
            line, _ = next(self)
            assert isinstance(line, StacksLine)
            yield line.stacks

    def parts(self, digest: str) -> Iterator[str]:
        """Parts of one raw file that come next."""
        while self._next is not None and isinstance(self._next[0], BlobLine):
            if self._next[0].blob != digest:
                return
            line, _ = next(self)
            assert isinstance(line, BlobLine)
            yield line.part


def import_lines(
    session: Session,
    header: Header,
    lines: Iterable[tuple[Line, int]],
    *,
    name: str,
    blobs: BlobStore,
) -> int:
    """Take in lines that are of this program's revision; returns the experiment's number.

    Raises :class:`InvalidInput` naming the line; the caller's transaction must then end.
    """
    taken = _Import(session, header, name, blobs)
    taken.take(lines)
    _require_pages(session, taken.experiment_id, name)
    return taken.experiment_id


def _require_pages(session: Session, experiment_id: int, name: str) -> None:
    """Refuse what the experiment's own pages could not show."""
    session.expire_all()
    try:
        views.show_whole(session, experiment_id)
        views.list_events(session, experiment_id)
        views.show_progress(session, experiment_id)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        said = quoted(f"{type(error).__name__}: {error}", 300)
        raise refused(name, f"its page cannot be shown: {said}") from None
    except MitigaugeError as error:
        raise refused(name, f"its page cannot be shown: {error.message}") from None


def already_here(session: Session, lines: Iterable[tuple[Line, int]]) -> int | None:
    """The experiment that these lines are of, if it is stored: this very one, or a reading of it.

    Told by the boots' nonces, which no two boots of any service share.
    """
    nonces = [
        nonce
        for line, _ in lines
        if isinstance(line, Row) and line.table == "boot"
        and isinstance(nonce := line.row.get("nonce"), str) and len(nonce) <= LONGEST_NONCE
    ]  # fmt: skip
    return repository.experiment_with_nonces(session, nonces)
