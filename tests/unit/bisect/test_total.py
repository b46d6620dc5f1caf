"""Whatever was measured, there is an action; it keeps the rules of a bisection."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mitigauge.core.errors import InvalidInput
from mitigauge.tracking.bisect.decision import next_action
from mitigauge.tracking.bisect.model import Culprit, History, Measure, Observed, Question, Undecided
from mitigauge.tracking.bisect.posterior import posterior, weigh
from mitigauge.tracking.bisect.reverts import revert_effects

VALUES = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(-0.02, 0.02),
    st.sampled_from([0.0, 0.01, 1.0, 700.0, -745.0, 1e300]),
)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    count = draw(st.integers(1, 12))
    priors = draw(
        st.lists(
            st.sampled_from([0.0, 1.0, 1.0, 5.0, 1e-300, 1e300]), min_size=count, max_size=count
        )
    )
    return Question(
        priors=tuple(priors),
        higher_is_worse=draw(st.booleans()),
        minimum_effect=draw(st.sampled_from([0.0, 0.002, 0.01, 1.0])),
        budget_boots=draw(st.integers(1, 200)),
        revert=draw(st.booleans()),
        several_prior=draw(st.sampled_from([0.0, 0.05])),
        build_boots=draw(st.sampled_from([0.0, 3.0])),
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[Question, History]:
    question = draw(questions())
    last = question.last
    observed = draw(
        st.lists(
            st.builds(
                Observed,
                point=st.integers(-1, last + 2),
                group=st.sampled_from(["a/1/1", "a/1/2", "a/2/1", "b/1/1", "v/1", "v/2"]),
                value=VALUES,
                layout=st.sampled_from(["", "", "1", "2"]),
            ),
            max_size=25,
        )
    )
    skipped = draw(st.dictionaries(st.integers(0, last + 1), st.just("does not build"), max_size=4))
    verified = draw(
        st.dictionaries(st.sampled_from(["v/1", "v/2"]), st.integers(-1, last + 1), max_size=2)
    )
    return question, History(tuple(observed), skipped, verified)


@settings(max_examples=150, deadline=None)
@given(cases())
def test_any_history_gives_an_action_within_the_rules(case: tuple[Question, History]) -> None:
    question, history = case
    with np.errstate(all="raise", under="ignore"):
        action = next_action(question, history)
        now = posterior(question, history)
        revert_effects(question, history, weigh(question, history))
    whole = sum(now.candidates) + now.none + now.several
    assert whole == pytest.approx(1.0, abs=1e-6) or not any(question.priors)
    for candidate, prior in enumerate(question.priors, 1):
        if prior == 0:
            assert now.candidates[candidate - 1] == 0
    if isinstance(action, Measure):
        assert len(history.observed) + action.boots <= question.budget_boots
        assert len(set(action.points)) >= 2
        assert list(action.points) == sorted(action.points)
        for point in action.points:
            assert point not in history.skipped
            inside = 0 < point < question.last
            assert not inside or question.priors[point - 1] > 0
            assert point <= question.last or (question.revert and action.verifies is not None)
    if isinstance(action, Culprit):
        assert question.priors[action.candidate - 1] > 0
        assert action.confidence >= question.confidence
    if isinstance(action, Undecided):
        assert all(question.priors[candidate - 1] > 0 for candidate in action.candidates)


@settings(max_examples=60, deadline=None)
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_the_boots_says_nothing(
    case: tuple[Question, History], shuffler: random.Random
) -> None:
    question, history = case
    mixed = list(history.observed)
    shuffler.shuffle(mixed)
    shuffled = next_action(question, replace(history, observed=tuple(mixed)))
    # What is not a number is none of its own equals; its text is.
    assert repr(shuffled) == repr(next_action(question, history)) or any(
        item.value != item.value for item in history.observed
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("priors", ()),
        ("priors", (1.0, -1.0)),
        ("priors", (float("nan"),)),
        ("priors", (1.0,) * 5000),
        ("minimum_effect", -0.1),
        ("minimum_effect", float("nan")),
        ("budget_boots", 0),
        ("budget_boots", 10**9),
        ("confidence", 1.0),
        ("confidence", 0.2),
        ("none_prior", 0.0),
        ("several_prior", 0.5),
        ("minimum_deviations", 0.0),
        ("build_boots", -1.0),
    ],
)
def test_a_question_that_cannot_be_meant_is_refused_by_name(field: str, value: object) -> None:
    sound = Question((1.0, 1.0), True, 0.01, 100)
    with pytest.raises(InvalidInput) as refused:
        replace(sound, **{field: value})
    assert refused.value.hint
    assert field in refused.value.message or field == "priors"
