"""A judgement of a regression that came by mail."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from mitigauge.core.errors import NotFound
from mitigauge.tracking.regressions import repository, service
from mitigauge.tracking.regressions.schemas import RegressionChange
from mitigauge.tracking.regressions.states import RegressionState
from mitigauge.tracking.series.regression_request import RegressionRequest, RegressionWord

_STATES: Final = {
    RegressionWord.REAL: RegressionState.CONFIRMED,
    RegressionWord.FALSE: RegressionState.FALSE,
    RegressionWord.KNOWN: RegressionState.KNOWN,
    RegressionWord.NOT_WORTH_IT: RegressionState.NOT_WORTH_IT,
}


def judge_by_mail(session: Session, said: RegressionRequest, by: str) -> str:
    """Change a regression as a mail says, whatever was said before; what came of it, in words.

    Whoever writes a mail saw no version that could be compared: the later one stands, and the
    history has both. Raises NotFound, InvalidInput for what cannot be, and Conflict where its
    history is full.
    """
    found = repository.find(session, said.regression, lock=True)
    if found is None:
        raise NotFound(f"there is no regression {said.regression}")
    before = found.state
    change = RegressionChange(
        version=found.version,
        state=_state_after(before, said.word),
        bug=said.bug or None,
        note=said.why or _note(before, said.word),
    )
    after = service.change_regression(session, said.regression, change, by=by)
    if after.state is before:
        return f"regression {after.id} is {_in_words(before)}, as it was; its history has your mail"
    return f"regression {after.id} is {_in_words(after.state)} now; it was {_in_words(before)}"


def _is_real_already(before: RegressionState, word: RegressionWord) -> bool:
    """Whether somebody works on it: that it is real takes nothing from them."""
    return word is RegressionWord.REAL and before is RegressionState.ASSIGNED


def _state_after(before: RegressionState, word: RegressionWord) -> RegressionState | None:
    return None if _is_real_already(before, word) else _STATES[word]


def _note(before: RegressionState, word: RegressionWord) -> str:
    return "it is real" if _is_real_already(before, word) else ""


def _in_words(state: RegressionState) -> str:
    return state.replace("-", " ")
