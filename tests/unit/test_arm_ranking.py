"""Arms of a tournament, look by look: who drops out, who is left, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from mitigauge.analysis.verdicts.arm_ranking import ranked
from mitigauge.analysis.verdicts.judgement import Answer, ArmValues, CaseQuestion, Design
from mitigauge.analysis.verdicts.ranking_words import ranking_words
from mitigauge.core.stats.bounds import Uncounted
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.runs.ranking import Place, Ranking

NAMES = {1: "base", 2: "quick", 3: "slow", 4: "slower"}
ARMS = list(NAMES.values())
COSTS = {1: 0.002, 2: 0.0, 3: 0.05, 4: 0.10}
DELTA = 1.0


def question(*, direction: str = "lower", unit: str = "ns", primary: bool = True) -> CaseQuestion:
    declared = CaseMetric(
        unit=unit, direction=direction, title="Time", primary=primary, delta_percent=DELTA
    )  # type: ignore[arg-type]
    return CaseQuestion(7, "time", declared)


def answer(
    values: Mapping[int, Mapping[int, float]], asked: CaseQuestion | None = None
) -> list[Answer]:
    asked = asked or question()
    arms = {arm: ArmValues(means=dict(means)) for arm, means in values.items()}
    return [Answer(question(primary=False), arms, {}), Answer(asked, arms, {})]


def design(*, blocks: int = 12, **more: object) -> Design:
    return Design(list(NAMES), 1, blocks, tournament=True, **more)  # type: ignore[arg-type]


def drawn(
    scatter: float = 0.003,
    *,
    blocks: int = 12,
    seed: int = 1,
    of: Callable[[float], float] = lambda part: 100.0 * (1.0 + part),
) -> dict[int, dict[int, float]]:
    rng = np.random.default_rng(seed)
    return {
        arm: {block: of(cost + rng.normal(0, scatter)) for block in range(1, blocks + 1)}
        for arm, cost in COSTS.items()
    }


def until(values: dict[int, dict[int, float]], blocks: int) -> list[Answer]:
    return answer({arm: {b: v for b, v in of.items() if b <= blocks} for arm, of in values.items()})


def places(of: Ranking | None) -> dict[str, Place]:
    assert of is not None
    return {ARMS[arm.position]: arm.place for arm in of.arms}


def test_before_four_blocks_and_between_looks_nothing_is_said() -> None:
    values = drawn()
    assert ranked(design(), until(values, 3), None, 3) is None
    first = ranked(design(), until(values, 4), None, 4)
    assert ranked(design(), until(values, 5), first, 5) is first


def test_losers_keep_the_figures_that_they_dropped_out_with() -> None:
    values = drawn()
    first = ranked(design(), until(values, 4), None, 4)
    assert places(first)["slow"] is places(first)["slower"] is Place.WORSE
    for arm in (3, 4):
        # What comes after an arm dropped out says nothing of it.
        values[arm].update(dict.fromkeys(range(5, 13), 1.0))
    second = ranked(design(), until(values, 6), first, 6)
    assert first is not None
    assert second is not None
    assert second.losers == first.losers
    assert [ARMS[arm.position] for arm in second.losers] == ["slow", "slower"]
    slow, slower = second.losers
    for loser, true in ((slow, 5.0), (slower, 10.0)):
        assert loser.blocks == 4
        assert loser.low_percent is not None
        assert loser.high_percent is not None
        assert loser.low_percent < true < loser.high_percent


def test_a_decided_ranking_stays() -> None:
    values = drawn(scatter=0.0001)
    first = ranked(design(), until(values, 4), None, 4)
    assert first is not None
    assert first.is_decided
    assert ranked(design(), until(values, 6), first, 6) is first


def test_of_a_rate_the_largest_is_best_and_losers_have_less() -> None:
    values = drawn(of=lambda part: 100.0 / (1.0 + part))
    judged = answer(values, question(direction="higher", unit="Mbit/s"))
    found = ranked(design(), judged, None, 12)
    assert found is not None
    assert places(found)["slower"] is Place.WORSE
    slower = next(arm for arm in found.arms if arm.position == 3)
    assert slower.effect_percent == pytest.approx(-100 * (1 - 1 / 1.10), abs=0.5)
    assert slower.low_percent is not None
    assert slower.low_percent < slower.effect_percent < (slower.high_percent or 0.0) < 0


def test_counts_are_compared_in_percent_of_the_first() -> None:
    values = drawn(of=lambda part: 1000.0 * (1.0 + part))
    found = ranked(design(), answer(values, question(unit="count")), None, 12)
    assert found is not None
    slower = next(arm for arm in found.arms if arm.position == 3)
    assert slower.effect_percent == pytest.approx(10.0, abs=0.5)


def test_blocks_of_one_layout_are_one_round() -> None:
    # Nothing differs but four layouts of each arm, which scatter by 3 %; each is booted six times.
    wrong = {1: 0, 4: 0}
    for seed in range(40):
        luck = np.random.default_rng(seed).normal(0, 0.03, (len(NAMES), 4))
        values = {
            arm: {b: 100.0 * (1.0 + luck[arm - 1][(b - 1) % 4]) for b in range(1, 25)}
            for arm in NAMES
        }
        for layouts in wrong:
            found = ranked(design(blocks=24, layouts=layouts), answer(values), None, 24)
            wrong[layouts] += Place.WORSE in places(found).values()
    # Boots of one layout that are taken for rounds of their own find differences of placement.
    assert wrong[4] == 0
    assert wrong[1] > 4


def test_an_arm_without_a_boot_in_every_block_has_no_place() -> None:
    values = drawn()
    del values[2][3]
    found = ranked(design(), answer(values), None, 12)
    assert places(found)["quick"] is Place.NOT_COUNTED
    assert places(found)["base"] is Place.FIRST
    assert "not ranked, for want of boots: quick" in ranking_words(found, ARMS, DELTA)


def test_an_arm_that_is_left_alone_has_won_nothing() -> None:
    found = ranked(design(), answer({1: drawn()[1], 2: {}, 3: {}, 4: {}}), None, 12)
    assert found is not None
    assert found.is_decided
    assert "base alone has a boot in every block" in ranking_words(found, ARMS, DELTA)
    none = ranked(design(), answer({arm: {} for arm in NAMES}), None, 12)
    assert "none is ranked" in ranking_words(none, ARMS, DELTA)


def test_events_that_are_not_counted_make_no_order() -> None:
    events = {1: Uncounted.NONE, 2: Uncounted.MORE, 3: Uncounted.NONE, 4: Uncounted.NONE}
    found = ranked(design(uncounted=events), answer(drawn()), None, 12)
    assert found is not None
    assert (found.arms, found.is_decided) == ((), False)
    assert "does not count" in ranking_words(found, ARMS, DELTA)


@pytest.mark.parametrize(
    ("scatter", "said"),
    [
        (0.0001, "quick is the best of 4 after 12 blocks; surely worse: base, slow, slower"),
        (0.003, "quick is the best, or within 1 % of it, after 12 blocks; left beside it: base; "),
        (0.02, "has the best mean after 12 blocks, and it is not sure that it is the best"),
    ],
)
def test_what_is_said_is_no_more_than_what_is_known(scatter: float, said: str) -> None:
    found = ranked(design(), answer(drawn(scatter)), None, 12)
    assert said in ranking_words(found, ARMS, DELTA)


def test_the_best_drops_out_in_less_than_one_of_a_hundred() -> None:
    lost = 0
    for seed in range(300):
        values, ranking = drawn(scatter=0.02, seed=seed), None
        for blocks in range(1, 13):
            ranking = ranked(design(), until(values, blocks), ranking, blocks)
        lost += any(arm.position == 1 for arm in ranking.losers) if ranking else 0
    assert lost <= 3
