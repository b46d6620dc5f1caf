"""Which cases of a revision's spec are measured, by what each was counted to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact.service import CountedPass, store_counts
from mitigauge.core.settings import get_settings
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import BlobStore, blob_store
from mitigauge.tracking.series import service
from mitigauge.tracking.series.case_choice import choice_in_words
from mitigauge.tracking.series.order_service import ask_revision
from mitigauge.tracking.series.schemas import RevisionView
from mitigauge.tracking.series.service import SeriesOptions
from mitigauge.tracking.series.states import RevisionState
from mitigauge.tracking.series.tables import SeriesRevision
from pipelines import series_run
from pipelines.kernel_order import Order
from tests.db.test_series import Pretended, approved
from tests.unit.exact.ledgers import function, ledger

FUNCTIONS = ("enter", "vm_exit", "rare", "leave")
EVERY = {"exits to userspace", "syscall basic", "syscall getpgid"}


@dataclass(frozen=True)
class Noting(Pretended):
    """Kernels whose builds noted functions, and data of the name "limit".

    *changed*: by label, those that differ.
    """

    changed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def build(self, order: Order, *, anew: bool = False) -> int:
        kernel = super().build(order, anew=anew)
        own = self.changed.get(order.label.removeprefix("bhb-"), ())
        names = dict.fromkeys([*FUNCTIONS, *own])
        lines = [f"9 {name in own:016x} {name}\n" for name in names if name != "limit"]
        lines.append(f"data 4 {'limit' in own:016x} limit\n")
        lines.append(f"targets 1 {0:016x} entry\n")
        lines.append(f"boot 9 {0:016x} start_kernel\n")
        with self.transaction() as session:
            sha256 = self.blobs.put("".join(lines).encode())
            session.get_one(Kernel, kernel).functions_sha256 = sha256
        return kernel


@pytest.fixture
def blobs() -> BlobStore:
    return blob_store(get_settings())


def builder(engine: Engine, blobs: BlobStore, tmp_path: Path, **changed: Sequence[str]) -> Noting:
    said: list[str] = []
    return Noting(tmp_path, engine, blobs, report=said.append, changed=changed, said=said)


def counted(engine: Engine, ids: Mapping[str, int], made: Noting, spec: str) -> None:
    """v2, measured by *spec* and counted: one case runs `enter`, another `vm_exit`."""
    with transaction(engine) as session:
        series = service.find(session, "bhb", lock=True)
        service.change(session, series, SeriesOptions(spec=spec))
        # Its kernel is as the one before.
        session.get_one(SeriesRevision, ids["v2"]).all_cases = True
    experiment = series_run.start(ids["v2"], made)
    runs = {"syscall basic": "enter", "exits to userspace": "vm_exit"}
    with transaction(engine) as session:
        [comparison] = [
            each for each in session.get_one(Experiment, experiment).comparisons
            if each.name == "since-before"
        ]  # fmt: skip
        boot = session.scalars(
            select(Boot).join(Run).where(Run.comparison_id == comparison.id)
        ).first()
        assert boot is not None
        boot.state = BootState.EFFECTIVE
        of = session.scalars(select(Kernel).where(Kernel.release == boot.arm.kernel)).one()
        boot.proof = BootProof(kernel_release=of.release, build_id=of.build_id)
        for case in comparison.cases:
            if case.title in runs:
                made_of = ledger(function(runs[case.title], {"push": 1}))
                store_counts(session, boot.id, case.id, CountedPass(made_of))


def measured(session: Session, experiment: int | None) -> dict[str, set[str]]:
    """Titles of an experiment's cases, by comparison."""
    found = session.get_one(Experiment, experiment)
    return {each.name: {case.title for case in each.cases} for each in found.comparisons}


def test_what_runs_none_of_the_changes_is_left_out_and_said(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    ids = approved(engine, blobs)
    made = builder(engine, blobs, tmp_path, v3=["enter"])
    counted(engine, ids, made, "vmscape")
    experiment = series_run.start(ids["v3"], made)
    with Session(engine) as session:
        cases = measured(session, experiment)
        [choice] = RevisionView.model_validate(session.get_one(SeriesRevision, ids["v3"])).choices
        today = session.scalar(text("select to_char(now(), 'YYYY-MM-DD')"))
    # Of the modes the question is the mode; of getpgid nobody knows anything.
    assert cases["modes"] == {*EVERY, "exits to kernel"}
    assert cases["since-before"] == {"syscall basic", "syscall getpgid"}
    assert (choice.comparison, choice.changed, choice.changed_count) == (
        "since-before", ["enter"], 1,
    )  # fmt: skip
    assert [(each.case, each.runs) for each in choice.measured] == [
        ("syscall basic", ["enter"]),
        ("syscall getpgid", None),
    ]
    [line] = [line for line in made.said if "left out" in line]
    assert line.startswith("since-before: exits to userspace runs none of it (counted on 7.2.12")
    assert line.endswith(f"on {today}), and is left out")
    assert (
        "since-before: syscall getpgid is measured: whether it runs it cannot be told "
        "(its instructions were not counted in this mode on this host)" in made.said
    )


def test_where_nothing_is_counted_or_noted_everything_is_measured(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    ids = approved(engine, blobs)
    made = builder(engine, blobs, tmp_path, v3=["enter"])
    counted(engine, ids, made, "vmscape-since")
    plain = Pretended(tmp_path, engine, blobs)
    experiment = series_run.start(ids["v4"], plain)
    with Session(engine) as session:
        assert measured(session, experiment) == {"since-before": EVERY}


@pytest.mark.parametrize("aside", ["arm set mode = 'ibpb'", "host set name = 'lab-other'"])
def test_what_was_counted_in_another_mode_or_on_another_host_is_not_known(
    engine: Engine, blobs: BlobStore, tmp_path: Path, aside: str
) -> None:
    ids = approved(engine, blobs)
    made = builder(engine, blobs, tmp_path, v3=["enter"])
    counted(engine, ids, made, "vmscape-since")
    with transaction(engine) as session:
        session.execute(text(f"update {aside}"))
    experiment = series_run.start(ids["v3"], made)
    with Session(engine) as session:
        assert measured(session, experiment) == {"since-before": EVERY}


def count_the_rest(engine: Engine) -> None:
    """Count the case that was not, too."""
    with transaction(engine) as session:
        boot, case = session.execute(
            text("""
                select e.boot_id, c.id from exact_count e, benchmark_case c
                where c.title = 'syscall getpgid' and c.comparison_id =
                    (select o.comparison_id from benchmark_case o where o.id = e.case_id) limit 1
            """)
        ).one()
        store_counts(session, boot, case, CountedPass(ledger(function("leave", {"ret": 1}))))


def test_nothing_is_booted_where_no_case_runs_it_and_a_person_can_have_all(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    ids = approved(engine, blobs)
    made = builder(engine, blobs, tmp_path, v3=["rare"])
    counted(engine, ids, made, "vmscape-since")
    count_the_rest(engine)
    with Session(engine) as session:
        before = session.scalar(text("select count(*) from experiment"))
    assert series_run.start(ids["v3"], made) is None
    with Session(engine) as session:
        revision = session.get_one(SeriesRevision, ids["v3"])
        assert revision.state == RevisionState.NOTHING_RUNS_IT
        assert revision.why.startswith("no case of ours runs what it changes: rare; ")
        assert "--all-cases" in revision.why
        assert (revision.experiment_id, revision.kernel_id is None) == (None, False)
        assert session.scalar(text("select count(*) from experiment")) == before
    # Asked for again, it is the same; with all cases it is measured, by whichever job.
    assert series_run.start(ids["v3"], made) is None
    with transaction(engine) as session:
        revision = session.get_one(SeriesRevision, ids["v3"])
        job = ask_revision(session, revision, all_cases=True)
        assert ask_revision(session, revision).id == job.id
    experiment = series_run.start(ids["v3"], made)
    with Session(engine) as session:
        assert measured(session, experiment) == {"since-before": EVERY}
        assert session.get_one(SeriesRevision, ids["v3"]).choices == []


def test_who_reads_changed_data_is_not_known(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    ids = approved(engine, blobs)
    made = builder(engine, blobs, tmp_path, v3=["rare", "limit"])
    counted(engine, ids, made, "vmscape-since")
    experiment = series_run.start(ids["v3"], made)
    with Session(engine) as session:
        assert measured(session, experiment) == {"since-before": EVERY}
    assert "since-before: data changed: limit; which cases read it is not known" in made.said


def test_a_kernel_that_differs_in_nothing_is_not_booted(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    ids = approved(engine, blobs)
    made = builder(engine, blobs, tmp_path)
    counted(engine, ids, made, "vmscape-since")
    assert series_run.start(ids["v3"], made) is None
    with Session(engine) as session:
        revision = session.get_one(SeriesRevision, ids["v3"])
        assert revision.state == RevisionState.NOTHING_RUNS_IT
        assert revision.why.startswith("no function and no data of the kernel differ; ")


def test_names_of_functions_are_text_bounded_and_no_keys(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    names = ["__proto__", "constructor", "x" * 200, *(f"f{number}" for number in range(100))]
    ids = approved(engine, blobs)
    made = builder(engine, blobs, tmp_path, v3=names)
    counted(engine, ids, made, "vmscape-since")
    experiment = series_run.start(ids["v3"], made)
    with Session(engine) as session:
        assert measured(session, experiment) == {"since-before": {"syscall getpgid"}}
        [choice] = session.get_one(SeriesRevision, ids["v3"]).choices
        raw = session.scalar(
            text("select choices from series_revision where id = :id"), {"id": ids["v3"]}
        )
    assert (len(choice.changed), choice.changed_count) == (50, 103)
    assert set(raw[0]) == {
        "comparison", "changed", "changed_count", "objects", "object_count", "measured", "left_out",
    }  # fmt: skip
    assert next(choice_in_words(choice)).endswith("and 95 more")


def test_where_the_notes_of_the_counted_kernel_are_gone_all_is_measured(
    engine: Engine, blobs: BlobStore, tmp_path: Path
) -> None:
    ids = approved(engine, blobs)
    made = builder(engine, blobs, tmp_path, v3=["enter"])
    counted(engine, ids, made, "vmscape-since")
    with transaction(engine) as session:
        other = """update boot set proof = proof || '{"build_id": "00"}' where proof ? 'build_id'"""
        session.execute(text(other))
    experiment = series_run.start(ids["v3"], made)
    with Session(engine) as session:
        assert "syscall basic" in measured(session, experiment)["since-before"]
