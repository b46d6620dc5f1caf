"""Suspicions of trends are measured again: fresh boots are ordered, and what they say is kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.core.effect import Effect
from mitigauge.core.errors import Conflict, InvalidInput, MitigaugeError, NotFound
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import get_settings
from mitigauge.core.stats.terms import LAYOUTS
from mitigauge.kernels.service import built_layouts
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.submission import submit_text
from mitigauge.storage.database.engine import (
    advisory_lock,
    database_now,
    in_words,
    is_away,
    transaction,
)
from mitigauge.storage.database.locks import Lock
from mitigauge.tracking.regressions import confirmation_repository as rows
from mitigauge.tracking.regressions import repository
from mitigauge.tracking.regressions.auto_bisection import go_on
from mitigauge.tracking.regressions.confirmation import (
    BOOTS,
    Outcome,
    Pair,
    Suspicion,
    Told,
    impossible,
    likely,
    outcome,
    spec_text,
)
from mitigauge.tracking.regressions.schemas import RegressionChange, RegressionView
from mitigauge.tracking.regressions.service import ITSELF, settle, show_regression
from mitigauge.tracking.regressions.states import ConfirmationState, Origin, RegressionState
from mitigauge.tracking.regressions.tables import LONGEST_TEXT, Confirmation, Regression

log = get_logger(__name__)
WEEK: Final = timedelta(days=7)
# New suspicions that are looked at in one go.
MOST_AT_ONCE: Final = 50
LONGEST_WHY: Final = 2000
GONE: Final = "the values do not show the change any more"


def confirm_quietly(engine: Engine) -> None:
    """Take all suspicions on, for a worker. Raises nothing: it is done again."""
    try:
        with advisory_lock(engine, Lock.CONFIRMATIONS) as alone:
            if alone:
                confirm(engine, get_settings().confirm_boots_week)
                go_on(engine, get_settings().bisect_confirmed_boots)
    except Exception as error:
        if is_away(error):
            log.warning("database away, confirmations wait", error=in_words(error))
            return
        log.exception("suspicions not taken on")


def confirm(engine: Engine, boots_a_week: int) -> None:
    """Keep what was measured, look at new suspicions, and order boots within the budget.

    *boots_a_week*: of one host class; 0: new suspicions wait.
    """
    with transaction(engine) as session:
        for each in rows.open_ones(session, ConfirmationState.MEASURING):
            _take_in(session, each)
        for each in rows.judged_again(session):
            _take_in(session, each)
    with transaction(engine) as session:
        for regression_id in rows.suspected(session, MOST_AT_ONCE):
            _look_at(session, regression_id)
    with transaction(engine) as session:
        waiting = [each.id for each in rows.open_ones(session, ConfirmationState.WAITING)]
    for confirmation_id in waiting:
        _order(engine, confirmation_id, boots_a_week)


def ask_again(session: Session, regression_id: int, *, by: str) -> RegressionView:
    """Have a regression of a trend measured, or measured once more, by fresh boots.

    They are ordered by a worker, within the budget of its host class. Raises :class:`NotFound`,
    :class:`InvalidInput` for one that was filed of an experiment, and :class:`Conflict` while it is
    measured.
    """
    regression = repository.find(session, regression_id, lock=True)
    if regression is None:
        raise NotFound(
            f"there is no regression {regression_id}",
            hint="`mitigauge regression list` lists them.",
        )
    if regression.origin is not Origin.TREND:
        raise InvalidInput(
            f"regression {regression_id} was filed of an experiment, whose boots are fresh",
            hint="`mitigauge experiment submit` measures it once more.",
        )
    found = rows.of_regressions(session, [regression_id]).get(regression_id)
    if found is None:
        _look_at(session, regression_id)
    elif found.state in rows.OPEN:
        raise Conflict(f"it is {found.state} already: {found.why}")
    else:
        # A further try: what boots said before stays, and counts in its week.
        _look_at(session, regression_id, f"{by} asked for it once more")
    change = RegressionChange(version=regression.version, note="Asked for fresh boots.")
    settle(session, regression, change, by=by)
    return show_regression(session, regression_id)


def _look_at(session: Session, regression_id: int, asked: str = "it was just found") -> None:
    """Begin with a suspicion: it waits for boots, or cannot be measured."""
    regression = repository.find(session, regression_id, lock=True)
    if regression is None:
        return
    of = _suspicion(session, regression)
    why = GONE if of is None else impossible(of)
    session.add(
        Confirmation(
            regression_id=regression_id,
            state=ConfirmationState.IMPOSSIBLE if why else ConfirmationState.WAITING,
            why=why or asked,
            kernel_before=of.kernel_before if of else "",
            kernel_after=of.kernel_after if of else "",
        )
    )
    session.flush()


def _order(engine: Engine, confirmation_id: int, boots_a_week: int) -> None:
    """Order the boots of one that waits, where its host class has any left this week.

    A spec that is refused is refused in a transaction of its own, and the reason is kept.
    """
    try:
        with transaction(engine) as session:
            _order_within(session, confirmation_id, boots_a_week)
    except MitigaugeError as error:
        with transaction(engine) as session:
            found = session.get(Confirmation, confirmation_id, with_for_update=True)
            if found is not None:
                why = f"it cannot be measured: {error.message}"
                _set(session, found, ConfirmationState.IMPOSSIBLE, why)


def _order_within(session: Session, confirmation_id: int, boots_a_week: int) -> None:
    found = session.get(Confirmation, confirmation_id, with_for_update=True)
    if found is None or found.state is not ConfirmationState.WAITING:
        return
    regression = repository.find(session, found.regression_id)
    of = _suspicion(session, regression) if regression else None
    if regression is None or of is None:
        _set(session, found, ConfirmationState.IMPOSSIBLE, GONE)
        return
    now = database_now(session)
    used = rows.boots_between(session, regression, now - WEEK, now)
    if used + BOOTS > boots_a_week:
        found.why = (
            f"waits for {BOOTS} boots: {used} of {boots_a_week} a week are used on "
            f"{regression.host_class} (CONFIRM_BOOTS_WEEK)"
        )
        return
    name = f"confirmation of regression {regression.id}"
    spec = spec_text(of, _layouts(session, of))
    experiment_id = submit_text(session, spec, name=name, submitted_by=ITSELF)
    found.experiment_id, found.boots, found.ordered_at = experiment_id, BOOTS, now
    why = f"experiment {experiment_id} measures both kernels, side by side on {of.host}"
    _set(session, found, ConfirmationState.MEASURING, why)


def _layouts(session: Session, of: Suspicion) -> int:
    """LAYOUTS where both kernels are at hand in so many, else one."""
    if of.counted:
        return 1
    kernels = (of.kernel_before, of.kernel_after)
    built = min(len(built_layouts(session, release)) for release in kernels)
    return LAYOUTS if built >= LAYOUTS else 1


def _take_in(session: Session, found: Confirmation) -> None:
    """Keep what an experiment says that is over; one that was deleted can say nothing."""
    regression = repository.find(session, found.regression_id, lock=True)
    if regression is None:
        return
    if found.experiment_id is None:
        _set(session, found, ConfirmationState.IMPOSSIBLE, "its experiment was deleted")
        return
    if not run_rows.is_judged(session, found.experiment_id):
        return
    told = _what_ran(session, found.experiment_id, regression.metric)
    said = outcome(
        Pair(
            found.kernel_before,
            found.kernel_after,
            rows.host_of(session, found.experiment_id),
            regression.clock is Clock.COUNTED,
        ),
        told,
        _explanation(session, regression, told),
    )
    if told.effect is not None:
        found.effect_percent = told.effect.value
        found.ci_low_percent, found.ci_high_percent = told.effect.low, told.effect.high
        found.bound = told.effect.bound
        if said.state is ConfirmationState.CONFIRMED:
            _replace_effect(regression, told.effect)
    found.likely, found.boots = said.likely[:LONGEST_WHY], told.boots
    before = found.state
    _set(session, found, said.state, said.why)
    _say(session, regression, said, before)


def _replace_effect(regression: Regression, fresh: Effect) -> None:
    """Show the fresh boots' effect from now on: the suspicion's values were chosen for it."""
    regression.effect_percent, regression.bound = fresh.value, fresh.bound
    regression.ci_low_percent, regression.ci_high_percent = fresh.low, fresh.high


def _explanation(session: Session, regression: Regression, told: Told) -> str:
    of = _suspicion(session, regression)
    return GONE if of is None else likely(of, told.level)


def _what_ran(session: Session, experiment_id: int, metric: str) -> Told:
    verdict = rows.verdict_of(session, experiment_id, metric)
    return Told(
        verdict=verdict.verdict if verdict else None,
        effect=Effect.of(verdict) if verdict else None,
        boots=rows.boots_that_ran(session, experiment_id, metric),
        layouts=rows.layouts_of(session, experiment_id),
        level=rows.baseline_level(session, experiment_id, metric),
        faults=rows.faults_of(session, experiment_id),
    )


# What a regression that nobody judged yet becomes.
_BECOMES: Final = {
    ConfirmationState.CONFIRMED: RegressionState.CONFIRMED,
    ConfirmationState.REFUTED: RegressionState.FALSE,
}


def _state_after(
    session: Session, regression: Regression, said: Outcome, before: ConfirmationState
) -> RegressionState | None:
    """What the regression becomes; None: it stays. What a person decided stays.

    *before*: what this try said already; it was judged again since.
    """
    becomes = _BECOMES.get(said.state)
    if regression.state is RegressionState.NEW:
        return becomes
    if rows.judged_by_people(session, [regression.id], ITSELF):
        return None
    if becomes is None and before in _BECOMES:
        becomes = RegressionState.NEW
    ours = (RegressionState.CONFIRMED, RegressionState.FALSE)
    return becomes if regression.state in ours and becomes is not regression.state else None


def _say(
    session: Session, regression: Regression, said: Outcome, before: ConfirmationState
) -> None:
    """Say it in the regression's history."""
    state = _state_after(session, regression, said, before)
    note = f"Fresh boots: {said.why}." + (f" Likely: {said.likely}." if said.likely else "")
    change = RegressionChange(version=regression.version, state=state, note=note[:LONGEST_TEXT])
    settle(session, regression, change)


def _set(session: Session, found: Confirmation, state: ConfirmationState, why: str) -> None:
    found.state, found.why = state, why[:LONGEST_WHY]
    if state not in rows.OPEN:
        found.decided_at = database_now(session)
    session.flush()


def _suspicion(session: Session, regression: Regression) -> Suspicion | None:
    """The change as it is said now; None where it no longer lasts or its values are deleted."""
    change = rows.change_of(session, regression)
    found = rows.case_and_host(session, change) if change else None
    if change is None or found is None:
        return None
    case, host = found
    return Suspicion(
        regression_id=regression.id,
        environment=regression.environment,
        host=host.name,
        mode=regression.mode,
        workload=case.workload,
        parameters=case.parameters,
        metric=regression.metric,
        counted=regression.clock is Clock.COUNTED,
        kernel_before=rows.kernel_of(session, change.run_before, change.arm_before),
        kernel_after=rows.kernel_of(session, change.run_after, change.arm_after),
        level_before=change.before,
        level_after=change.after,
        causes=change.causes,
    )
