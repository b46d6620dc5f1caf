"""How far verdicts agree where the same two arms are measured again and again."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text

from mitigauge.core.stats.rates import rate_interval
from mitigauge.reporting.letters.weekly.trend_lines import stability as in_report
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.trends import service
from mitigauge.tracking.trends.schemas import Stability
from mitigauge.tracking.trends.update import update
from tests.trends_made import weeks

# Of one run of `weeks`: two cases, one arm beside the baseline, one primary metric.
QUESTIONS = 2


def judged(engine: Engine, runs: list[int], *words: str) -> None:
    """Let the verdicts of the first case say *words*, run by run; the second's all say ``same``."""
    with engine.begin() as connection:
        for run, word in zip(runs, words, strict=True):
            connection.execute(
                text("""update verdict v set verdict = case when k.position = 0 then :w
                    else 'same' end from benchmark_case k
                    where k.id = v.case_id and v.run_id = :r"""),
                {"w": word, "r": run},
            )


def counted(engine: Engine) -> list[Stability]:
    update(engine, again=True)
    with transaction(engine) as session:
        return service.stability(session)


def test_three_repeats_give_two_pairs_a_question_with_an_interval(engine: Engine) -> None:
    runs = weeks(engine, [1.0] * 3)
    judged(engine, runs, "worse", "worse", "better")
    rows = counted(engine)
    whole = [row for row in rows if row.workload == ""]
    assert len(whole) == 1
    assert (whole[0].questions, whole[0].pairs) == (QUESTIONS, 2 * QUESTIONS)
    assert (whole[0].agreed, whole[0].opposite, whole[0].undecided) == (3, 1, 0)
    assert whole[0].agreed_percent == pytest.approx(75)
    # Pairs of one question share a verdict.
    low, high = rate_interval(3, 4, groups=QUESTIONS)
    assert whole[0].ci_low_percent == pytest.approx(100 * low)
    assert whole[0].ci_high_percent == pytest.approx(100 * high)
    assert sum(row.pairs for row in rows if row.workload) == whole[0].pairs


def test_an_undecided_verdict_disagrees_and_is_told_apart(engine: Engine) -> None:
    runs = weeks(engine, [1.0] * 3)
    judged(engine, runs, "undecided", "worse", "worse")
    [whole] = [row for row in counted(engine) if row.workload == ""]
    assert (whole.agreed, whole.opposite, whole.undecided) == (3, 0, 1)


def test_another_kernel_is_another_question(engine: Engine) -> None:
    weeks(engine, [1.0])
    weeks(engine, [1.0], first=1, kernel="7.3.0")
    assert counted(engine) == []
    with transaction(engine) as session:
        assert in_report(session) is None


def test_the_weekly_report_counts_each_pair_once(engine: Engine) -> None:
    runs = weeks(engine, [1.0] * 3)
    judged(engine, runs, "worse", "worse", "better")
    counted(engine)
    with transaction(engine) as session:
        told = in_report(session)
    assert told is not None
    assert (told.pairs, told.agreed) == (4, 3)
