"""How often verdicts are opposite where the same two arms are measured again and again."""

from __future__ import annotations

from sqlalchemy import Engine, text

from mitigauge.reporting.pages import error_rate_repository
from mitigauge.reporting.pages.error_rate_repository import Tally
from mitigauge.storage.database.engine import transaction
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


def counted(engine: Engine) -> list[Tally]:
    update(engine, again=True)
    with transaction(engine) as session:
        return list(error_rate_repository.opposite(session).values())


def test_three_repeats_give_two_pairs_a_question_each_counted_once(engine: Engine) -> None:
    runs = weeks(engine, [1.0] * 3)
    judged(engine, runs, "worse", "worse", "better")
    assert counted(engine) == [Tally(2 * QUESTIONS, 2 * QUESTIONS, 1, 2)]


def test_an_undecided_verdict_is_not_opposite(engine: Engine) -> None:
    runs = weeks(engine, [1.0] * 3)
    judged(engine, runs, "undecided", "worse", "worse")
    assert counted(engine) == [Tally(2 * QUESTIONS, 2 * QUESTIONS, 0, 2)]


def test_another_kernel_is_another_question(engine: Engine) -> None:
    weeks(engine, [1.0])
    weeks(engine, [1.0], first=1, kernel="7.3.0")
    assert counted(engine) == []
