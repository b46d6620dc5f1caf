"""Slow-downs of known size: put into a series that a service of its own measures and searches."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from mitigauge.core.effect import Effect
from mitigauge.core.errors import MitigaugeError
from mitigauge.core.settings import Settings
from mitigauge.kernels.mails.files import read_mails
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.bisect import service as bisections
from mitigauge.tracking.bisect.question import Question
from mitigauge.tracking.bisect.sources import from_revision
from mitigauge.tracking.bisect.states import AnswerKind, BisectionState
from mitigauge.tracking.bisect.tables import Bisection
from mitigauge.tracking.injections import repository, service
from mitigauge.tracking.injections.draw import Draw, InjectionPath, paths, write_mails
from mitigauge.tracking.injections.states import InjectionState
from mitigauge.tracking.injections.tables import Injection
from mitigauge.tracking.regressions import confirmation_repository as experiments
from mitigauge.tracking.series import service as series
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.order_service import ask_revision
from mitigauge.tracking.series.states import RevisionState
from pipelines.blind_service import BlindService
from pipelines.jobs.context import JobContext, JobDone, StandingRunner

SERIES, LABEL = "small-things", "v1"
BUDGET_BOOTS = 150
IDLE_S, HOST_S, LOOK_S = 600.0, 60.0, 15.0
# States of a revision that nothing follows.
_ENDED = (
    RevisionState.REFUSED, RevisionState.FAILED, RevisionState.SET_ASIDE,
    RevisionState.NOTHING_RUNS_IT,
)  # fmt: skip


@dataclass(frozen=True)
class InjectionRunner(StandingRunner):
    """Draws one when it is due, and takes it on until it is scored."""

    settings: Settings
    seed: Callable[[], int] = field(default=lambda: secrets.randbits(62))

    def go_on(self, context: JobContext) -> JobDone:
        """One thing of it."""
        with context.transaction() as session:
            state = self._state(session)
        if state is None:
            return JobDone(again_in_s=IDLE_S, idle=True)
        if state is not InjectionState.FAILED:
            try:
                self._step(state)(context)
            except MitigaugeError as error:
                self._fail(context, error.message)
        with context.transaction() as session:
            now = repository.open_one(session)
        if now is None:
            BlindService(self.settings).end()
            return JobDone()
        waits = HOST_S if now.state is InjectionState.WAITING else LOOK_S
        return JobDone(again_in_s=waits, idle=now.state == state)

    def _state(self, session: Session) -> InjectionState | None:
        """Of the one that is taken on, which may end here as failed; None: there is none."""
        found = repository.open_one(session)
        if found is None:
            every = self.settings.inject_every
            found = service.begin_if_due(session, every, self.seed(), paths())
        elif service.is_late(session, found):
            service.end(session, found, InjectionState.FAILED, f"it took over {service.LASTS}")
        elif found.state is not InjectionState.WAITING and not service.holds_host(session, found):
            service.end(session, found, InjectionState.FAILED, "its host was taken back")
        return found.state if found else None

    def _begin(self, context: JobContext) -> None:
        """Take the host, and give the series to the blind service."""
        with context.transaction() as session:
            one = _open(session)
            if not service.hold_host(session, one):
                return
            path = paths()[one.path]
            drawn = Draw(one.seed, one.path, one.instructions, one.place, one.patches)
        blind = BlindService(self.settings)
        context.progress("kernels are built and measured")
        blind.begin()
        mails = blind.home / "mails"
        write_mails(drawn, mails)
        found = revisions(read_mails([mails]))
        options = series.SeriesOptions(SERIES, path.spec, path.base, path.profile)
        with blind.transaction() as session:
            [revision] = series.add(session, found, blind.blobs, wanted=options)
            series.approve(session, revision)
            ask_revision(session, revision, all_cases=True)
        with context.transaction() as session:
            _open(session).state = InjectionState.MEASURING

    def _measure(self, context: JobContext) -> None:
        """Keep the verdict once there is one; a bisection follows where it is worse."""
        blind = BlindService(self.settings)
        blind.see_worker()
        with context.transaction() as session:
            one = _open(session)
            path = paths()[one.path]
            with blind.transaction() as own:
                revision = series.find_revision(own, SERIES, LABEL)
                experiment = revision.experiment_id
                if experiment is None and revision.state in _ENDED:
                    raise MitigaugeError(f"its revision is {revision.state}: {revision.why}")
                if experiment is None or not run_rows.is_judged(own, experiment):
                    return
                said = experiments.verdict_of(own, experiment, path.metric)
                effect = Effect.of(said) if said else None
                if said is None or said.verdict is None or effect is None:
                    raise MitigaugeError(experiments.faults_of(own, experiment) or "no verdict")
                level = experiments.baseline_level(own, experiment, path.metric)
                service.judged(session, one, said.verdict, effect, level)
                if one.state is InjectionState.SEARCHING:
                    one.bisection_id = _begin_bisection(own, path, blind.blobs)

    def _search(self, context: JobContext) -> None:
        """Keep what the bisection named."""
        blind = BlindService(self.settings)
        blind.see_worker()
        with context.transaction() as session, blind.transaction() as own:
            one = _open(session)
            found = own.get_one(Bisection, one.bisection_id)
            if found.state is BisectionState.RUNNING:
                return
            answer = found.answer
            alone = answer is not None and answer.kind is AnswerKind.FOUND
            place = answer.candidates[0] if answer and alone and answer.candidates else None
            service.named(session, one, place, answer.why if answer else found.why)

    def _fail(self, context: JobContext, why: str) -> None:
        with context.transaction() as session:
            one = repository.open_one(session, lock=True)
            if one is not None:
                service.end(session, one, InjectionState.FAILED, why)

    def _step(self, state: InjectionState) -> Callable[[JobContext], None]:
        if state is InjectionState.WAITING:
            return self._begin
        return self._measure if state is InjectionState.MEASURING else self._search


def _open(session: Session) -> Injection:
    found = repository.open_one(session, lock=True)
    if found is None:
        raise MitigaugeError("it is over")
    return found


def _begin_bisection(session: Session, path: InjectionPath, blobs: BlobStore) -> int:
    """Begin the bisection over the series' patches; its number."""
    asked = Question(
        (path.host,), path.workload, path.parameters, path.metric,
        environment=path.environment, budget_boots=BUDGET_BOOTS,
    )  # fmt: skip
    revision = series.find_revision(session, SERIES, LABEL)
    draft = from_revision(session, revision, blobs, asked, path.mode)
    return bisections.begin(session, draft).id
