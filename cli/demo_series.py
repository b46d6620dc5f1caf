"""`mitigauge demo --series`: from a patch series' mails to its three-mode table and the answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli import lab
from cli.experiment_end import print_report
from cli.output import say
from cli.processes import prepare_database, print_stage, running
from mitigauge.core.clock import Clock
from mitigauge.core.settings import REPOSITORY, get_settings

# What takes long to load is imported by what needs it.
if TYPE_CHECKING:
    from mitigauge.measurement.experiments.states import ExperimentState

MAILS = REPOSITORY / "tests" / "series" / "vmscape-bhb" / "v1"
NAME, SPEC, HOST = "vmscape-bhb", "vmscape", "lab-amd"


def demo_series() -> None:
    """Add the first revision of our test series, build it, measure it, write the answer."""
    from cli.jobs import followed
    from cli.series import order_revision

    say(
        "A kernel is built with eight patches of a test series of ours: the first time some 15 "
        "minutes on two cores, some 2 when the compiler's cache is warm. It is booted 12 times, "
        "4 in each mode, which takes some 20 minutes."
    )
    prepare_database()
    print_stage("patch series")
    revision, experiment = _added()
    if experiment is None:
        print_stage("kernel")
        experiment = int(followed(order_revision(revision)).result["experiment"])
    print_stage("emulated host")
    lab.up([HOST], clock=Clock.COUNTED)
    state = _followed(experiment)
    path = print_report(experiment)
    say(f"experiment {experiment} {state}; as Markdown in {path}")
    _answered(revision, state)


def _added() -> tuple[int, int | None]:
    """The revision's id, and its experiment's where it has one already."""
    from cli.stored import stored
    from mitigauge.kernels.mails.files import read_mails
    from mitigauge.storage.files.blobs import blob_store
    from mitigauge.tracking.series import service
    from mitigauge.tracking.series.mail_thread import revisions
    from mitigauge.tracking.series.states import RevisionState

    found = revisions(read_mails([MAILS]))
    with stored() as session:
        blobs = blob_store(get_settings())
        service.add(session, found, blobs, wanted=service.SeriesOptions(NAME, SPEC))
        series = service.of_key(session, service.key_of(found[0]))
        revision = service.find_revision(session, series.name, "v1", lock=True)
        if revision.state == RevisionState.WAITING:
            service.approve(session, revision)
        say(f"{series.name} v1: {len(revision.patches)} patches, {revision.state}")
        return revision.id, revision.experiment_id


def _followed(experiment: int) -> ExperimentState:
    from cli.progress import follow

    print_stage(f"experiment {experiment}")
    with running("worker"):
        return follow(experiment)


def _answered(revision: int, state: ExperimentState) -> None:
    """Write the mail that answers the series' thread; exit code 1 where there is none."""
    from mitigauge.measurement.experiments.states import ExperimentState
    from mitigauge.reporting.letters.reply.reply import as_file
    from mitigauge.reporting.letters.reply.service import answer
    from mitigauge.storage.database.engine import transaction
    from mitigauge.tracking.series.tables import SeriesRevision

    if state is not ExperimentState.FINISHED:
        sys.exit(1)
    with transaction() as session:
        mail = answer(session, session.get_one(SeriesRevision, revision))
    path = Path(get_settings().home) / "reports" / f"{NAME}-v1.mail"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_file(mail))
    say(f"the answer to its thread, which nobody was sent: {path}")
    say("`mitigauge serve` shows the series' page; the lab stops with `mitigauge lab down`")
