"""Writing an experiment that is over to a file."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.core.errors import Conflict, NotFound
from mitigauge.core.hostile_text import clean
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.states import FINAL_STATES
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.storage.database.engine import database_now
from mitigauge.storage.database.metadata import whole_metadata
from mitigauge.storage.database.schema_revision import wanted_revision
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.upkeep.exports import portable_profiles, repository
from mitigauge.upkeep.exports.lines import (
    FORMAT,
    PART_BYTES,
    BlobLine,
    Header,
    ProfileLine,
    Row,
    Writer,
    json_line,
    stacks_lines,
)
from mitigauge.upkeep.exports.ownership import ROOT, Belonging
from mitigauge.upkeep.exports.repository import Json
from mitigauge.upkeep.retention.repository import naming_columns

SEPARATOR = ", "


@dataclass(slots=True)
class Exported:
    """What went into a file."""

    rows: int = 0
    profiles: int = 0
    blobs: int = 0
    missing_blobs: int = 0
    """Raw files that rows name and that are not there any more."""


def own_rows(session: Session, experiment_id: int) -> Iterator[tuple[str, Json]]:
    """Rows of an experiment and those they point at, with their tables; parents first."""
    belonging = Belonging(whole_metadata())
    numbers = _numbers(session, belonging, experiment_id)
    for table in belonging.others:
        for row in repository.rows(session, table, table.c.id, numbers[table.name]):
            yield table.name, row
    for table in belonging.own:
        by = belonging.deciding(table)
        for row in repository.rows(session, table, by, numbers[belonging.origin(by) or ROOT]):
            yield table.name, row


def _numbers(
    session: Session, belonging: Belonging, experiment_id: int
) -> dict[str, Collection[int]]:
    """Numbers of the rows of each table that has such."""
    found: dict[str, Collection[int]] = {ROOT: [experiment_id]}
    others: dict[str, set[int]] = {table.name: set() for table in belonging.others}
    for table in belonging.own:
        by = belonging.deciding(table)
        of = found[belonging.origin(by) or ROOT]
        if belonging.numbered(table):
            found[table.name] = repository.ids(session, table, by, of)
        for column, origin in belonging.references(table).items():
            if origin in others:
                others[origin] |= repository.referred(session, table.c[column], by, of)
    for table in reversed(belonging.others):
        for column, origin in belonging.references(table).items():
            column_of = table.c[column]
            others[origin] |= repository.referred(
                session, column_of, table.c.id, others[table.name]
            )
    return found | others


@dataclass(slots=True)
class _Export:
    session: Session
    experiment_id: int
    writer: Writer
    done: Exported = field(default_factory=Exported)
    digests: dict[str, None] = field(default_factory=dict)

    def write(self) -> None:
        """Rows, then profiles."""
        blobs = [(column.table.name, column.name) for column in naming_columns(whole_metadata())]
        for table, row in own_rows(self.session, self.experiment_id):
            named = [row[column] for name, column in blobs if name == table]
            self.digests |= {digest: None for digest in named if digest}
            self.writer.add(json_line(Row(table=table, row=clean(row))))
            self.done.rows += 1
        for number in repository.profiles_of(self.session, self.experiment_id):
            self._profile(number)

    def _profile(self, number: int) -> None:
        tree, stacks = portable_profiles.stacks_of(self.session, number)
        [row] = repository.rows(
            self.session, portable_profiles.TABLE, portable_profiles.TABLE.c.id, [number]
        )
        kept = {column.name: row[column.name] for column in portable_profiles.COLUMNS}
        self.digests[row["raw_sha256"]] = None
        self.writer.add(json_line(ProfileLine(profile=clean(kept), tree=tree)))
        for line in stacks_lines(stacks):
            self.writer.add(line)
        self.done.profiles += 1

    def blobs(self, store: BlobStore) -> None:
        """The raw files, each in parts."""
        for digest in self.digests:
            try:
                content = store.read(digest)
            except NotFound:
                self.done.missing_blobs += 1
                continue
            for start in range(0, max(len(content), 1), PART_BYTES):
                part = base64.b64encode(content[start : start + PART_BYTES]).decode()
                self.writer.add(json_line(BlobLine(blob=digest, part=part)))
            self.done.blobs += 1


def export_experiment(
    session: Session, experiment_id: int, stream: BinaryIO, blobs: BlobStore | None
) -> Exported:
    """Write one experiment with all that belongs to it; without *blobs*, no raw files.

    Raises :class:`NotFound`, and :class:`Conflict` for an experiment that is not over.
    """
    # What is read belongs together even while something is judged again or pruned.
    session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
    experiment = experiment_rows.experiment(session, experiment_id)
    runs = run_rows.runs_of(session, experiment_id)
    if any(
        str(state) not in FINAL_STATES for state in (experiment.state, *(r.state for r in runs))
    ):
        raise Conflict(
            f"experiment {experiment_id} is {experiment.state}, not over",
            hint=f"Wait for its end: `mitigauge experiment wait {experiment_id}`.",
        )
    writer = Writer(stream)
    writer.add(json_line(_header(session, experiment, [run.host for run in runs])))
    export = _Export(session, experiment_id, writer)
    export.write()
    if blobs is not None:
        export.blobs(blobs)
    writer.close()
    return export.done


def _header(session: Session, experiment: Experiment, hosts: list[Host]) -> Header:
    now = database_now(session)
    return Header(
        format=FORMAT,
        revision=wanted_revision(),
        experiment_id=experiment.id,
        name=clean(experiment.name),
        exported_at=now,
        recorded_at=experiment.recorded_at or experiment.finished_at or now,
        recorded_from=experiment.recorded_from
        or SEPARATOR.join(dict.fromkeys(map(_in_words, hosts))),
    )


def _in_words(host: Host) -> str:
    """The host's name, and what is to be known of its figures."""
    counted = "counted time" if host.clock == Clock.COUNTED else ""
    marks = [mark for mark in ("emulated" if host.emulated else "", counted) if mark]
    name = str(clean(host.name))
    return f"{name} ({', '.join(marks)})" if marks else name
