"""Results that go out: begun, ended, and what each says. Nothing here commits."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy.orm import Session

from mitigauge.core.hostile_text import clean_text
from mitigauge.core.logs.redaction import without_secrets, worth_hiding
from mitigauge.core.settings import get_settings
from mitigauge.kernels import repository as kernel_rows
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.reporting.letters.reply.reply import lead_cells
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.publications import repository
from mitigauge.reporting.publications.facts import Facts, KernelFacts
from mitigauge.reporting.publications.schemas import PublicationView
from mitigauge.reporting.publications.states import PublicationState, TargetName
from mitigauge.reporting.publications.tables import Publication
from mitigauge.storage.database.engine import database_now

# What ended before a target was set is not told to it later.
LOOKS_BACK: Final = timedelta(days=7)
# Longer than any sending takes; then whoever began is gone.
LOST_AFTER: Final = timedelta(minutes=10)
FIRST_PAUSE: Final = timedelta(minutes=1)
LONGEST_PAUSE: Final = timedelta(hours=4)
GIVE_UP_AFTER: Final = timedelta(days=7)
LONGEST_SAID: Final = 500
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Begun:
    """A publication that somebody sends now."""

    id: int
    target: TargetName
    experiment_id: int
    tries: int


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of sending one. *state*: WAITING: it is tried again."""

    state: PublicationState
    said: str = ""


def take_in(session: Session, targets: Collection[TargetName]) -> int:
    """Make rows for what was concluded, and take those again that say otherwise now; how many."""
    since = database_now(session) - LOOKS_BACK
    return repository.take_again(session, targets) + repository.add_new(session, targets, since)


def begin_next(session: Session, targets: Collection[TargetName]) -> Begun | None:
    """Take one whose time has come; None: there is none."""
    now = database_now(session)
    row = repository.begin_next(
        session, targets, lost_after=LOST_AFTER, longest_pause=LONGEST_PAUSE
    )
    if row is None:
        return None
    row.state, row.begun_at, row.tries = PublicationState.BEGUN, now, row.tries + 1
    session.flush()
    return Begun(row.id, row.target, row.experiment_id, row.tries)


def end(session: Session, begun: Begun, ended: Ended) -> PublicationState:
    """Note what came of it; where somebody else took it meanwhile, nothing is changed."""
    row = session.get(Publication, begun.id, with_for_update=True)
    if row is None or (row.state, row.tries) != (PublicationState.BEGUN, begun.tries):
        return PublicationState.BEGUN
    now = database_now(session)
    # A server may repeat what it was sent.
    secrets = worth_hiding(get_settings().secrets)
    row.said = without_secrets(clean_text(ended.said), secrets)[:LONGEST_SAID]
    row.state = ended.state
    if ended.state is PublicationState.WAITING:
        pause = min(FIRST_PAUSE * 2 ** min(row.tries - 1, 10), LONGEST_PAUSE)
        row.next_at = now + pause
        # Made while a clock was ahead: it counts from now on.
        row.made_at = min(row.made_at, now)
        if now - row.made_at > GIVE_UP_AFTER:
            row.state = PublicationState.GIVEN_UP
    if row.state is not PublicationState.WAITING:
        row.ended_at = now
    return row.state


def show(session: Session, experiment_id: int) -> list[PublicationView]:
    """Where the result of an experiment went. Raises NotFound for no such experiment."""
    experiment_rows.experiment(session, experiment_id, with_cases=False)
    rows = repository.of_experiment(session, experiment_id)
    return [PublicationView.model_validate(row) for row in rows]


def facts_of(session: Session, experiment_id: int, public_url: str) -> Facts:
    """What may be said of an experiment."""
    view = views.show_experiment(session, experiment_id)
    revision = repository.revision_of(session, experiment_id)
    cells = lead_cells(view)
    releases = {arm.kernel for c in view.comparisons for arm in c.arms if arm.kernel}
    label = f"{revision.series.name} {revision.label}" if revision else view.name
    return Facts(
        view=view,
        cells=cells,
        kernels=[_kernel(each) for each in kernel_rows.of_releases(session, releases)],
        message_ids=[each.message_id for each in revision.patches] if revision else [],
        label=label,
        page=f"{public_url.rstrip('/')}/experiments/{experiment_id}" if public_url else "",
    )


def _kernel(kernel: Kernel) -> KernelFacts:
    _, _, commit = kernel.base.partition(" ")
    return KernelFacts(
        release=str(kernel.release),
        base=kernel.base,
        config=kernel.profile,
        compiler=kernel.toolchain,
        patches=[patch["digest"] for patch in kernel.patches],
        commit=commit if _COMMIT.fullmatch(commit) else "",
    )
