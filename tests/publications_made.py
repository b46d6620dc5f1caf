"""An experiment that was concluded, of a revision whose kernels are built from commits."""

from __future__ import annotations

from sqlalchemy import Engine, text

from mitigauge.analysis.verdicts.conclusions import conclude_closed
from mitigauge.core.settings import get_settings
from mitigauge.kernels.patch import read_patch
from mitigauge.kernels.recipe import PLAIN
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.series import service
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.service import SeriesOptions
from tests.db.test_kernels import build_in
from tests.made import make
from tests.series_mails import diff, series


def experiment_of_revision(engine: Engine, *, commit: str, patched: bool = False) -> int:
    """Its number. Two cases; the revision's kernel against the base.

    *patched*: the kernel is that commit with a patch on it, else the commit itself.
    """
    made = make(engine)
    body = diff("toys/one.c", "a", "b")
    with transaction(engine) as session:
        base = build_in(session, "base", [], PLAIN)
        this = build_in(session, "this", [read_patch(body, "one")], PLAIN)
        [revision] = service.add(
            session, revisions(series(1, [body])), blob_store(get_settings()),
            wanted=SeriesOptions("toys", "vmscape"),
        )  # fmt: skip
        service.approve(session, revision)
        revision.experiment_id = made.experiment
        session.flush()
        for name, release in (("true", base), ("false", this)):
            session.execute(
                text(f"update arm set kernel = :release where is_baseline = {name}"),
                {"release": release},
            )
        session.execute(text("update kernel set base = :base"), {"base": f"git {commit}"})
        if not patched:
            session.execute(
                text("update kernel set patches = '[]' where release = :r"), {"r": this}
            )
        session.execute(text("update experiment set concluded_at = null, state = 'finished'"))
    conclude_closed(engine)
    with engine.begin() as connection:
        connection.execute(text("update experiment set concluded_at = now()"))
    return made.experiment
