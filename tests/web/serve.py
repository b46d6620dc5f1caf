"""The real service for browser tests: real PostgreSQL, a recorded run, and one going on.

``python -m tests.web.serve [PORT]`` prints the link that lets a browser in on its first
line and serves until it is ended. There is a viewer's token: see ``VIEWERS_TOKEN``.
Experiment 1 was recorded on the emulated hosts; ``desktops`` is made of one recorded pass;
``measured again`` is the first one once more, changed; the last one is live, its hosts simulated,
so that progress can be watched without booting anything.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from alembic import command
from sqlalchemy import Engine, func, select

from api.app import create_app
from api.server import make_server
from cli.serve import login_link
from mitigauge.access import repository
from mitigauge.access import service as access
from mitigauge.access.roles import Role
from mitigauge.access.secret import new_secret, stored_form
from mitigauge.analysis.profiles.capture.instructions import read_instructions
from mitigauge.analysis.profiles.store.instructions import store_instructions
from mitigauge.analysis.profiles.store.tables import Profile
from mitigauge.analysis.verdicts.tables import StoredVerdict
from mitigauge.core.clock import Clock
from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.kernels.mails.files import read_mails
from mitigauge.kernels.patch import Patch
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.experiments.tables import Arm, Experiment
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.submission import submit
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.reporting.letters.weekly import service as weekly
from mitigauge.storage.database.embedded_server import stop
from mitigauge.storage.database.engine import (
    alembic_config,
    database_now,
    database_url,
    get_engine,
    transaction,
)
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.bisect.question import Question
from mitigauge.tracking.bisect.service import begin
from mitigauge.tracking.bisect.sources import from_patches
from mitigauge.tracking.regressions import repository as regression_rows
from mitigauge.tracking.regressions import service as regressions
from mitigauge.tracking.regressions.schemas import NewRegression
from mitigauge.tracking.regressions.states import Origin
from mitigauge.tracking.regressions.tables import Regression
from mitigauge.tracking.series.case_choice import CaseChoice, CaseReach
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.service import SeriesOptions, add
from mitigauge.tracking.series.states import RevisionState
from tests import recording
from tests.crash.simulated_host import write_world
from tests.desktop_world import make_desktops
from tests.measured_again import measure_again
from tests.requests_made import waiting_request
from tests.series_mails import diff, series
from tests.specs import CATALOG, HOSTS, SPEC, inventory
from tests.web.exact_made import count_exactly
from tests.web.sample_pages import collect_beside

CODE = REPOSITORY / "tests" / "fixtures" / "profiles" / "instructions"
AGAIN = "measured again"
VIEWERS_TOKEN = "mgt_" + 43 * "v"
HOSTILE = "<img src=x onerror=alert(1)> what does it cost?"
# The live experiment outlasts the tests, and leaves them the processors.
LIVE_JOB_S = 6.0


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    with tempfile.TemporaryDirectory(prefix="mgw-") as home:
        os.environ["MITIGAUGE_HOME"] = home
        os.environ.pop("MITIGAUGE_DATABASE_URL", None)
        get_settings.cache_clear()
        engine = get_engine()
        command.upgrade(alembic_config(database_url()), "head")
        fill_pages(engine)
        measure_recorded_again(engine)
        submit_live(engine)
        store_series_to_approve(engine)
        let_a_viewer_in(engine)
        worker = start_worker(Path(home))
        try:
            serve()
        finally:
            worker.terminate()
            worker.wait()
            engine.dispose()
            stop(Path(home))


def fill_pages(engine: Engine) -> None:
    """The recorded experiment with all that stands beside it; nothing of it goes on."""
    if recording.RECORDED.exists():
        recording.load(engine)
        report_week(engine)
        store_code(engine)
        count_exactly(engine)
        collect_beside(engine)
    make_desktops(engine)
    store_series(engine)
    store_bisection(engine)
    store_regressions(engine)
    file_cell(engine)
    waiting_request(engine, parent="v5-0@example.org", body=f"#mitigauge test\n{HOSTILE}\n")


def file_cell(engine: Engine) -> None:
    """Regression 7: a cell of the recorded experiment, as somebody files it."""
    if not recording.RECORDED.exists():
        return
    with transaction(engine) as session:
        cell = session.execute(
            select(
                Run.experiment_id, Host.name, StoredVerdict.case_id, Arm.name, StoredVerdict.metric
            )
            .join(Run, Run.id == StoredVerdict.run_id)
            .join(Host, Host.id == Run.host_id)
            .join(Arm, Arm.id == StoredVerdict.arm_id)
            .where(StoredVerdict.verdict == "worse", StoredVerdict.superseded_at.is_(None))
            .order_by(StoredVerdict.run_id, StoredVerdict.case_id)
            .limit(1)
        ).one()
        names = ("experiment_id", "host", "case_id", "arm", "metric")
        new = NewRegression.model_validate(dict(zip(names, cell, strict=True)))
        regressions.file_regression(session, new, by="alice")


def measure_recorded_again(engine: Engine) -> None:
    """The recorded experiment once more, where its second arm makes the first case far slower."""
    if not recording.RECORDED.exists():
        return
    with transaction(engine) as session:
        experiment = session.scalars(select(Experiment.id).order_by(Experiment.id)).first()
    assert experiment is not None
    measure_again(
        engine,
        experiment,
        name=AGAIN,
        factor=lambda arm, case: 3.0 if (arm, case) == (1, 0) else 1.0,
        change={"arm": {"kernel": "7.3.0-again"}},
    )


def store_regressions(engine: Engine) -> None:
    """Regressions 1 to 6, as a worker makes them of trends; nobody has taken any."""
    with transaction(engine) as session:
        experiment = session.scalars(select(Experiment.id).order_by(Experiment.id)).first()
        now = database_now(session)
        for number in range(1, 7):
            row = Regression(
                origin=Origin.TREND, experiment_id=experiment, environment="lab",
                host_class="Intel Icelake-Server (TCG)", hosts=["lab-intel"], emulated=True,
                clock=Clock.COUNTED, workload="syscall", case_title=f"syscall call-{number}",
                metric="time_per_call", metric_title="Time per call", mode="spectre-bhi/off",
                before="the values before", effect_percent=5.0 + number, ci_low_percent=4.5,
                ci_high_percent=12.0, happened_at=now, found_at=now,
            )  # fmt: skip
            session.add(row)
            session.flush()
            regression_rows.note_found(session, [row.id], "mitigauge")


def report_week(engine: Engine) -> None:
    """The report of the week in which the recorded experiment was judged."""
    with transaction(engine) as session:
        week = weekly.default_week(session)
    weekly.make(engine, week)


def store_code(engine: Engine) -> None:
    """Give profiles of the recorded experiment what an emulated host left in its own boots.

    The recording is older than what keeps code. There are fewer captures than boots: the others
    have none.
    """
    with transaction(engine) as session:
        for profile in session.scalars(select(Profile).order_by(Profile.id)):
            boot = session.get_one(Boot, profile.boot_id)
            path = CODE / f"{boot.arm.name}-{boot.block}.json.gz"
            if not path.exists():
                continue
            with tempfile.TemporaryDirectory() as directory:
                content = gzip.decompress(path.read_bytes())
                (Path(directory) / "instructions.json").write_bytes(content)
                period = json.loads(content)["period_ns"]
                found = read_instructions(Path(directory), period=period)
            store_instructions(session, profile, found)


def store_series(engine: Engine) -> None:
    """Our test series, measured by the recorded experiment, and a hostile revision of it."""
    evil = series(
        5, [diff("toys/one.c", "a", HOSTILE)], change_id="20261123-vmscape-bhb-test-5d0c7a41e9b2",
        letter=f"Changes in v5:\n- {HOSTILE} {'x' * 200}\n",
    )  # fmt: skip
    with transaction(engine) as session:
        mails = [*read_mails([REPOSITORY / "tests" / "series" / "vmscape-bhb"]), *evil]
        blobs = blob_store(get_settings())
        new = add(session, revisions(mails), blobs, wanted=SeriesOptions("vmscape-bhb", "vmscape"))
        for revision in new[:4]:
            revision.experiment_id = session.scalar(select(func.min(Experiment.id)))
            revision.state = RevisionState.MEASURING
        new[3].choices = made_choices()


def store_series_to_approve(engine: Engine) -> None:
    """A waiting series that one test approves, while others look at the first one as it waits."""
    mails = series(1, [diff("toys/two.c", "a", "b")], change_id="20261124-toys-to-approve-7f3e91")
    with transaction(engine) as session:
        found = revisions(mails)
        add(session, found, blob_store(get_settings()), wanted=SeriesOptions("toys", "vmscape"))


def made_choices() -> list[CaseChoice]:
    """What was chosen of two comparisons; one function is called what a script would like."""
    known = {"kernel": "7.2.12-mg0123456789", "counted_at": datetime(2026, 11, 26, tzinfo=UTC)}
    code = CaseChoice(
        comparison="since-before",
        changed=[HOSTILE, "do_syscall_64"],
        changed_count=61,
        measured=[
            CaseReach(case="syscall basic", runs=[HOSTILE], **known),
            CaseReach(case="syscall getpgid", runs=None),
        ],
        left_out=[
            CaseReach(case="exits to userspace", runs=[], **known),
            CaseReach(case="path pipe", runs=[], **known),
        ],
    )
    data = CaseChoice(
        comparison="since-first",
        changed=["do_syscall_64"],
        changed_count=1,
        objects=[HOSTILE, "sysctl_sched_base_slice"],
        object_count=2,
        measured=[
            CaseReach(case="syscall basic", runs=["do_syscall_64"], **known),
            CaseReach(case="exits to userspace", runs=None),
        ],
        left_out=[],
    )
    return [code, data]


def store_bisection(engine: Engine) -> None:
    """A bisection that was just begun; one of its patches is called what a script would like."""
    says = [HOSTILE, "two", "three", "four"]
    found = [Patch(f"toys: {said}", diff("toys/one.c", "a", said)) for said in says]
    asked = Question(("lab-intel",), "syscall", {"test": "basic"})
    blobs = blob_store(get_settings())
    draft = from_patches(found, "linux-source-7.2", "lab", blobs, asked, "spectre-bhi/off")
    with transaction(engine) as session:
        begin(session, draft)


def submit_live(engine: Engine) -> None:
    """An experiment that is under way while the tests look on; its question is hostile.

    Its values scatter so much that no look decides it and ends it early.
    """
    text = (
        SPEC.replace("blocks: 2", "blocks: 60")
        .replace("What does it cost?", f"'{HOSTILE}'")
        .replace("workload: spin", "workload: jitter")
    )
    spec = read_spec(text, name="live.yml", catalog=CATALOG, hosts=HOSTS)
    with transaction(engine) as session:
        submit(session, spec, text, catalog=CATALOG, hosts=inventory("alpha"))


def let_a_viewer_in(engine: Engine) -> None:
    """A token that the tests know, and that nothing but this database takes."""
    with transaction(engine) as session:
        access.create_token(session, "visitor", Role.VIEWER, days=1)
        token = repository.unrevoked_token(session, "visitor")
        assert token is not None
        token.hash = stored_form("token", VIEWERS_TOKEN)


def start_worker(worlds: Path) -> subprocess.Popen[bytes]:
    """A real worker over simulated hosts.

    Their jobs take a while, so that the live experiment lasts and leaves the processors to tests.
    """
    write_world(worlds / "alpha.json", job_s=LIVE_JOB_S)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.crash.worker_main", database_url(), str(worlds), "30"],
        cwd=REPOSITORY,
    )


def serve() -> None:
    """Serve on the wanted or any free port."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    listener = socket.create_server(("127.0.0.1", port))
    key = new_secret()
    print(login_link(f"http://127.0.0.1:{listener.getsockname()[1]}", key), flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    make_server(create_app(login_key=key)).run(sockets=[listener])


if __name__ == "__main__":
    main()
