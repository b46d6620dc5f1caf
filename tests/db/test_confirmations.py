"""Suspicions in the database: boots are ordered, and what they say is kept."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from sqlalchemy import Engine, select, text

from mitigauge.analysis.verdicts.conclusions import judge_again
from mitigauge.core.errors import Conflict, InvalidInput, NotFound
from mitigauge.kernels.recipe import layouts
from mitigauge.reporting.letters.weekly import service as weekly
from mitigauge.reporting.letters.weekly.regression_lines import regression_lines
from mitigauge.reporting.letters.weekly.week import Week
from mitigauge.storage.database.engine import database_now, transaction
from mitigauge.tracking.bisect import repository as bisections
from mitigauge.tracking.regressions import confirmation, service
from mitigauge.tracking.regressions import confirmation_repository as rows
from mitigauge.tracking.regressions.auto_bisection import go_on
from mitigauge.tracking.regressions.confirmation import BOOTS
from mitigauge.tracking.regressions.confirmation_service import ask_again, confirm, confirm_quietly
from mitigauge.tracking.regressions.schemas import (
    NewRegression,
    RegressionChange,
    RegressionView,
)
from mitigauge.tracking.regressions.states import ConfirmationState, RegressionState
from mitigauge.tracking.regressions.tables import Confirmation
from tests.confirmations_made import LEVEL, NEW, OLD, run_experiments, suspicions
from tests.db.test_kernels import PATCH, build_in
from tests.regressions_made import decided_cell
from tests.trends_made import FACTS, weeks

ENOUGH = 1000
SLOWER = {"before": LEVEL, "after": 1.05 * LEVEL}


def confirmations(engine: Engine) -> list[Confirmation]:
    with transaction(engine) as session:
        found = list(session.scalars(select(Confirmation).order_by(Confirmation.id)))
        session.expunge_all()
    return found


def states(engine: Engine) -> list[str]:
    return [each.state.value for each in confirmations(engine)]


def regression(engine: Engine, number: int) -> RegressionView:
    with transaction(engine) as session:
        return service.show_regression(session, number)


def specs(engine: Engine) -> list[dict[str, Any]]:
    with engine.connect() as connection:
        told = connection.scalars(
            text("select spec_text from experiment where name like 'confirm-%' order by id")
        )
        return [yaml.safe_load(each) for each in told]


def test_both_kernels_are_ordered_side_by_side_on_the_host_of_the_trend(engine: Engine) -> None:
    found = suspicions(engine)
    assert len(found) == 2
    confirm(engine, ENOUGH)
    assert states(engine) == ["measuring"] * 2
    for spec, mode in zip(specs(engine), ("spectre-bhi/off", "spectre-bhi/loop"), strict=True):
        [comparison] = spec["comparisons"]
        assert comparison["hosts"] == ["lab-intel"]
        arms = [(arm["name"], arm["mode"], arm["kernel"]) for arm in comparison["arms"]]
        assert arms == [("before", mode, OLD), ("after", mode, NEW)]
        assert comparison["baseline"] == "before"
    confirm(engine, ENOUGH)
    assert len(specs(engine)) == 2


def test_fresh_boots_that_are_slower_confirm_with_their_own_effect(engine: Engine) -> None:
    [number, _] = suspicions(engine)
    confirm(engine, ENOUGH)
    run_experiments(engine, {"before": LEVEL, "after": 1.03 * LEVEL})
    confirm(engine, ENOUGH)
    one = confirmations(engine)[0]
    assert one.state is ConfirmationState.CONFIRMED
    assert one.effect_percent == pytest.approx(3.0, abs=0.2)
    assert one.ci_low_percent
    assert one.ci_high_percent
    assert one.ci_low_percent < 3.0 < one.ci_high_percent
    view = regression(engine, number)
    assert view.state is RegressionState.CONFIRMED
    # Page, list and week have one figure; what the trend said stays in the trend.
    assert view.effect_percent == pytest.approx(3.0, abs=0.2)
    assert (view.ci_low_percent, view.ci_high_percent) == (one.ci_low_percent, one.ci_high_percent)
    with engine.connect() as connection:
        of_trend = connection.scalar(
            text(
                "select effect_percent from trend_change where id = (select change_id from"
                " regression where id = :id) and superseded_at is null"
            ),
            {"id": number},
        )
    assert of_trend == pytest.approx(5.0, abs=0.2)
    assert "Fresh boots: slower" in view.history[-1].text
    assert view.history[-1].by == "mitigauge"


def test_boots_that_are_judged_again_change_what_they_said(engine: Engine) -> None:
    [number, _] = suspicions(engine)
    confirm(engine, ENOUGH)
    run_experiments(engine, {"before": LEVEL, "after": 1.03 * LEVEL})
    confirm(engine, ENOUGH)
    first = confirmations(engine)[0]
    assert first.state is ConfirmationState.CONFIRMED
    assert first.experiment_id is not None
    with engine.begin() as connection:
        # What was measured turns out to be as fast as before.
        connection.execute(
            text(
                "update measurement set mean = mean / 1.03 where boot_id in (select boot.id from"
                " boot join arm on arm.id = boot.arm_id join run on run.id = boot.run_id"
                " where run.experiment_id = :id and not arm.is_baseline)"
            ),
            {"id": first.experiment_id},
        )
    assert judge_again(engine, first.experiment_id)
    confirm(engine, ENOUGH)
    assert confirmations(engine)[0].state is ConfirmationState.REFUTED
    view = regression(engine, number)
    assert view.state is RegressionState.FALSE
    entries = len(view.history)
    confirm(engine, ENOUGH)
    assert len(regression(engine, number).history) == entries


@pytest.mark.parametrize(
    ("today", "likely"),
    [
        (LEVEL, "disturbed for a while"),
        (1.05 * LEVEL, "microcode 0x1 to 0x2"),
        (1.025 * LEVEL, "cannot be told"),
    ],
)
def test_kernels_that_are_alike_refute_and_say_what_it_was_likely_to_be(
    engine: Engine, today: float, likely: str
) -> None:
    [number, _] = suspicions(engine, facts={**FACTS, "microcode": "0x2"})
    confirm(engine, ENOUGH)
    run_experiments(engine, {"before": today, "after": today})
    confirm(engine, ENOUGH)
    one = confirmations(engine)[0]
    assert one.state is ConfirmationState.REFUTED
    assert likely in one.likely
    view = regression(engine, number)
    assert view.state is RegressionState.FALSE
    assert likely in view.history[-1].text


def test_boots_that_tell_neither_leave_it_a_suspicion(engine: Engine) -> None:
    [number, _] = suspicions(engine)
    confirm(engine, ENOUGH)
    run_experiments(engine, {"before": LEVEL, "after": 1.01 * LEVEL}, noise=0.05)
    confirm(engine, ENOUGH)
    assert states(engine)[0] == "undecided"
    assert regression(engine, number).state is RegressionState.NEW


def test_a_kernel_that_does_not_boot_any_more_is_said(engine: Engine) -> None:
    [number, _] = suspicions(engine)
    confirm(engine, ENOUGH)
    run_experiments(engine, {"before": LEVEL, "after": None})
    confirm(engine, ENOUGH)
    one = confirmations(engine)[0]
    assert one.state is ConfirmationState.IMPOSSIBLE
    assert "no such kernel: linux-image-7.3.0" in one.why
    assert regression(engine, number).state is RegressionState.NEW


def test_one_kernel_before_and_after_cannot_be_told_apart(engine: Engine) -> None:
    suspicions(engine, kernel=OLD, facts={**FACTS, "microcode": "0x2"})
    confirm(engine, ENOUGH)
    one = confirmations(engine)[0]
    assert one.state is ConfirmationState.IMPOSSIBLE
    assert f"ran on one kernel, {OLD}; what changed: microcode 0x1 to 0x2" in one.why
    assert specs(engine) == []


def test_a_host_that_is_gone_is_said_by_name(engine: Engine) -> None:
    suspicions(engine, host="scrapped-01")
    confirm(engine, ENOUGH)
    assert states(engine) == ["impossible"] * 2
    assert "scrapped-01" in confirmations(engine)[0].why


def test_boots_beyond_a_week_s_budget_wait_and_say_for_what(engine: Engine) -> None:
    suspicions(engine)
    confirm(engine, BOOTS)
    assert states(engine) == ["measuring", "waiting"]
    assert f"{BOOTS} of {BOOTS} a week are used" in confirmations(engine)[1].why
    confirm(engine, BOOTS)
    assert states(engine) == ["measuring", "waiting"]
    with engine.begin() as connection:
        connection.execute(text("update confirmation set ordered_at = ordered_at - interval '8 d'"))
    confirm(engine, BOOTS)
    assert states(engine) == ["measuring", "measuring"]


def test_without_a_budget_nothing_is_ordered(engine: Engine) -> None:
    suspicions(engine)
    confirm(engine, 0)
    assert states(engine) == ["waiting"] * 2
    assert specs(engine) == []


def test_what_a_person_decided_meanwhile_stays(engine: Engine) -> None:
    [number, _] = suspicions(engine)
    confirm(engine, ENOUGH)
    with transaction(engine) as session:
        change = RegressionChange(
            version=1, state=RegressionState.NOT_WORTH_IT, note="two nanoseconds"
        )
        service.change_regression(session, number, change, by="mira")
    run_experiments(engine, SLOWER)
    confirm(engine, ENOUGH)
    view = regression(engine, number)
    assert view.state is RegressionState.NOT_WORTH_IT
    assert "Fresh boots: slower" in view.history[-1].text


def test_values_that_came_back_end_what_waits(engine: Engine) -> None:
    suspicions(engine)
    confirm(engine, 0)
    with engine.begin() as connection:
        connection.execute(text("update trend_change set kind = 'went_away'"))
    confirm(engine, ENOUGH)
    assert states(engine) == ["impossible"] * 2
    assert "do not show the change any more" in confirmations(engine)[0].why


def test_an_experiment_that_was_deleted_says_nothing(engine: Engine) -> None:
    suspicions(engine)
    confirm(engine, ENOUGH)
    with engine.begin() as connection:
        connection.execute(text("update confirmation set experiment_id = null"))
    confirm(engine, ENOUGH)
    assert states(engine) == ["impossible"] * 2


def test_it_can_be_asked_for_once_more(engine: Engine) -> None:
    [number, _] = suspicions(engine)
    confirm(engine, ENOUGH)
    with transaction(engine) as session, pytest.raises(Conflict, match="measuring already"):
        ask_again(session, number, by="mira")
    run_experiments(engine, {"before": LEVEL, "after": LEVEL})
    confirm(engine, ENOUGH)
    with transaction(engine) as session:
        view = ask_again(session, number, by="mira")
    assert view.history[-1].by == "mira"
    assert view.fresh_boots
    assert (view.fresh_boots.state, view.fresh_boots.effect_percent) == ("waiting", None)
    # What boots said before stands beside it.
    [earlier] = view.earlier_fresh_boots
    assert earlier.state == "refuted"
    assert earlier.why.startswith("the same: ")
    confirm(engine, ENOUGH)
    assert states(engine) == ["refuted", "refuted", "measuring"]
    assert len(specs(engine)) == 3
    run_experiments(engine, SLOWER)
    confirm(engine, ENOUGH)
    with transaction(engine) as session:
        [(confirmed, decided)] = rows.decided_by_week(session).values()
    # All tries count in the week: somebody who asks until it is so is not right the more.
    assert (confirmed, decided) == (1, 3)


def test_boots_of_one_build_of_each_kernel_confirm_nothing(engine: Engine) -> None:
    [number, _] = suspicions(engine, clock="real")
    confirm(engine, ENOUGH)
    run_experiments(engine, SLOWER)
    confirm(engine, ENOUGH)
    one = confirmations(engine)[0]
    assert one.state is ConfirmationState.SLOWER_BUILDS
    assert one.effect_percent == pytest.approx(5.0, abs=0.4)
    view = regression(engine, number)
    assert view.state is RegressionState.NEW
    assert "slower in these two builds" in view.history[-1].text
    with transaction(engine) as session:
        assert rows.decided_by_week(session) == {}
        assert rows.without_bisection(session) == []
    subject, text_ = said_in_the_week(engine)
    assert "0 confirmed regressions, 2 suspicions (2 slower in fresh boots of fewer" in subject
    assert "Confirmed regressions" not in text_


def test_what_boots_said_stays_where_the_values_lost_the_change_meanwhile(engine: Engine) -> None:
    [number, _] = suspicions(engine)
    confirm(engine, ENOUGH)
    run_experiments(engine, SLOWER)
    with engine.begin() as connection:
        connection.execute(text("update trend_change set kind = 'went_away'"))
    confirm(engine, ENOUGH)
    one = confirmations(engine)[0]
    assert one.state is ConfirmationState.CONFIRMED
    assert one.effect_percent == pytest.approx(5.0, abs=0.4)
    assert f"{NEW} against {OLD}, side by side on lab-intel" in one.why
    assert regression(engine, number).state is RegressionState.CONFIRMED


def test_a_clock_that_ran_ahead_uses_up_no_later_week(engine: Engine) -> None:
    suspicions(engine)
    confirm(engine, BOOTS)
    assert states(engine) == ["measuring", "waiting"]
    with engine.begin() as connection:
        ahead = "update confirmation set ordered_at = ordered_at + interval '1 year'"
        connection.execute(text(ahead))
    confirm(engine, BOOTS)
    assert states(engine) == ["measuring", "measuring"]


def test_what_was_filed_of_an_experiment_is_not_measured_by_that(engine: Engine) -> None:
    cell = decided_cell(engine)
    with transaction(engine) as session:
        filed = service.file_regression(session, NewRegression(**cell), by="mira")
        with pytest.raises(InvalidInput, match="filed of an experiment"):
            ask_again(session, filed.id, by="mira")
        with pytest.raises(NotFound, match="no regression 4711"):
            ask_again(session, 4711, by="mira")


def test_a_regression_of_one_experiment_is_no_suspicion(engine: Engine) -> None:
    """It has fresh boots already."""
    weeks(engine, [1.0])
    confirm_quietly(engine)
    assert confirmations(engine) == []


def said_in_the_week(engine: Engine) -> tuple[str, str]:
    """Subject and text of the weekly report."""
    with transaction(engine) as session:
        week = weekly.default_week(session)
    made = weekly.make(engine, week)
    return made.document.subject, " ".join(made.rendered("text").decode().split())


def test_a_week_s_headline_has_what_fresh_boots_confirmed_with_their_effect(engine: Engine) -> None:
    suspicions(engine)
    confirm(engine, BOOTS)
    run_experiments(engine, {"before": LEVEL, "after": 1.03 * LEVEL})
    confirm(engine, BOOTS)
    subject, text_ = said_in_the_week(engine)
    assert "1 confirmed regression, 1 suspicion;" in subject
    assert text_.index("Confirmed regressions (1)") < text_.index("Suspicions (1)")
    sure, suspected = text_.split("Suspicions (1)")
    told = re.search(r"\+(\d\.\d+)% \[", sure.split("Confirmed regressions (1)")[1])
    assert told
    assert float(told[1]) == pytest.approx(3.0, abs=0.4)
    assert "fresh boots: waiting: waits for" in suspected


def test_too_few_confirmed_in_a_week_are_suspicions_unless_a_person_says_so(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two, where one of one would be wanted."""
    monkeypatch.setattr(confirmation, "FALSE_SHARE", 0.01)
    one, other = suspicions(engine)
    confirm(engine, BOOTS)
    run_experiments(engine, SLOWER)
    confirm(engine, 2 * BOOTS)
    run_experiments(engine, {"before": LEVEL, "after": LEVEL})
    confirm(engine, 2 * BOOTS)
    assert states(engine) == ["confirmed", "refuted"]
    subject, text_ = said_in_the_week(engine)
    assert "0 confirmed regressions, 1 suspicion;" in subject
    assert "not sure all the same: 1 of 2 that were measured in that week" in text_
    with transaction(engine) as session:
        version = service.show_regression(session, one).version
        for state in (RegressionState.NEW, RegressionState.CONFIRMED):
            change = RegressionChange(version=version, state=state, note="looked at")
            version = service.change_regression(session, one, change, by="mira").version
    with transaction(engine) as session:
        lines = regression_lines(session, Week.of(database_now(session)))
    assert [(line.id, line.is_suspicion) for line in lines] == [(one, False)]
    assert other not in {line.id for line in lines}


def test_a_week_does_not_tell_what_fresh_boots_refuted(engine: Engine) -> None:
    suspicions(engine)
    confirm(engine, ENOUGH)
    run_experiments(engine, {"before": LEVEL, "after": LEVEL})
    confirm(engine, ENOUGH)
    subject, text_ = said_in_the_week(engine)
    assert "0 confirmed regressions, 0 suspicions;" in subject
    assert "Suspicions" not in text_


def follows(engine: Engine) -> str:
    return confirmations(engine)[0].follows


def test_one_change_of_a_kernel_is_no_bisection_and_says_so(engine: Engine) -> None:
    suspicions(engine)
    confirm(engine, BOOTS)
    run_experiments(engine, SLOWER)
    confirm(engine, BOOTS)
    go_on(engine, 0)
    assert follows(engine) == ""
    go_on(engine, 100)
    assert follows(engine).startswith("no bisection: ")
    assert "nothing to search" in follows(engine)


def test_a_confirmed_regression_goes_on_into_a_bisection_by_itself(engine: Engine) -> None:
    """Over the kernels that were measured between both, whose values tell neither level."""
    [number, _] = suspicions(engine)
    with engine.begin() as connection:
        # The last two weeks before the change ran on two kernels more.
        connection.execute(
            text(
                "update trend_arm set kernel = '7.2.' || run_id where run_id in"
                " (select run_before from trend_change)"
            )
        )
    confirm(engine, BOOTS)
    run_experiments(engine, SLOWER)
    confirm(engine, BOOTS)
    with engine.begin() as connection:
        connection.execute(
            text(
                "update trend_change set run_before = (select id from run order by id limit 1"
                " offset 8)"
            )
        )
    go_on(engine, 100)
    assert re.fullmatch(r"bisection \d+ searches 2 changes, with 100 boots", follows(engine))
    view = regression(engine, number)
    assert view.bisection_id
    with transaction(engine) as session:
        begun = bisections.whole(session, view.bisection_id)
        assert (begun.budget_boots, begun.submitted_by) == (100, "mitigauge")
        assert (begun.points[0].release, begun.points[-1].release) == (OLD, NEW)
    go_on(engine, 100)
    assert regression(engine, number).bisection_id == view.bisection_id


@pytest.mark.parametrize(("built", "expected"), [((3, 4), 3), ((3, 2), None), ((1, 3), None)])
def test_kernels_are_booted_in_three_layouts_where_both_were_built_in_three(
    engine: Engine, built: tuple[int, int], expected: int | None
) -> None:
    """Two builds of one source differ in the place of their code, which real time shows."""
    suspicions(engine, clock="real")
    with transaction(engine) as session:
        for stands, count, patches in zip((OLD, NEW), built, ([], [PATCH]), strict=True):
            releases = [build_in(session, stands, patches, each) for each in layouts(count)]
            session.execute(
                text("update trend_arm set kernel = :own where kernel = :stands"),
                {"own": releases[0], "stands": stands},
            )
    confirm(engine, ENOUGH)
    assert states(engine) == ["measuring"] * 2
    assert [spec["comparisons"][0].get("layouts") for spec in specs(engine)] == [expected] * 2
    run_experiments(engine, SLOWER)
    confirm(engine, ENOUGH)
    words = "in 3 builds of each" if expected else "slower in these two builds"
    assert words in confirmations(engine)[0].why
    assert states(engine)[0] == ("confirmed" if expected else "slower-builds")


def settle_by_hand(engine: Engine, number: int, **change: Any) -> None:
    with transaction(engine) as session:
        version = service.show_regression(session, number).version
        change = {"note": "looked at", **change}
        service.change_regression(
            session, number, RegressionChange(version=version, **change), by="mira"
        )


def week_says(engine: Engine) -> dict[int, str]:
    with transaction(engine) as session:
        lines = regression_lines(session, Week.of(database_now(session)))
    return {line.id: "suspicion" if line.is_suspicion else "sure" for line in lines}


def test_who_takes_a_suspicion_does_not_confirm_it(engine: Engine) -> None:
    one, other = suspicions(engine)
    settle_by_hand(engine, one, owner="bob")
    assert regression(engine, one).state is RegressionState.ASSIGNED
    assert not regression(engine, one).is_sure
    assert week_says(engine) == {one: "suspicion", other: "suspicion"}


def test_what_a_person_confirmed_stays_sure_when_somebody_takes_it(engine: Engine) -> None:
    one, _ = suspicions(engine)
    settle_by_hand(engine, one, state=RegressionState.CONFIRMED)
    settle_by_hand(engine, one, owner="bob")
    assert regression(engine, one).is_sure
    assert week_says(engine)[one] == "sure"
    settle_by_hand(engine, one, state=RegressionState.FALSE)
    assert not regression(engine, one).is_sure


def test_boots_that_are_asked_for_again_hide_no_answer_until_they_have_one(engine: Engine) -> None:
    one, _ = suspicions(engine)
    confirm(engine, BOOTS)
    run_experiments(engine, SLOWER)
    confirm(engine, BOOTS)
    assert regression(engine, one).is_sure
    with transaction(engine) as session:
        ask_again(session, one, by="mira")
    assert regression(engine, one).confirmation is ConfirmationState.WAITING
    assert regression(engine, one).is_sure
    confirm(engine, ENOUGH)
    run_experiments(engine, {"before": LEVEL, "after": LEVEL})
    confirm(engine, ENOUGH)
    assert not regression(engine, one).is_sure
    with transaction(engine) as session:
        [row] = service.list_regressions(session, limit=1).regressions[:1]
    assert row.is_sure is False


def test_boots_that_tell_neither_take_nothing_back(engine: Engine) -> None:
    one, _ = suspicions(engine)
    confirm(engine, BOOTS)
    run_experiments(engine, SLOWER)
    confirm(engine, BOOTS)
    with transaction(engine) as session:
        ask_again(session, one, by="mira")
    with engine.begin() as connection:
        connection.execute(
            text("update confirmation set state = 'undecided' where state = 'waiting'")
        )
    assert regression(engine, one).confirmation is ConfirmationState.UNDECIDED
    assert regression(engine, one).state is RegressionState.CONFIRMED
    assert regression(engine, one).is_sure


@pytest.mark.parametrize("verdict", ["'same'", "null"])
def test_a_filed_comparison_is_sure_as_long_as_its_verdict_stands(
    engine: Engine, verdict: str
) -> None:
    cell = decided_cell(engine)
    with transaction(engine) as session:
        number = service.file_regression(session, NewRegression(**cell), by="mira").id
    assert regression(engine, number).is_sure
    assert week_says(engine) == {number: "sure"}
    with engine.begin() as connection:
        connection.execute(text(f"update verdict set verdict = {verdict}"))
    assert not regression(engine, number).is_sure
    assert week_says(engine) == {number: "suspicion"}


def test_fresh_boots_say_whether_their_effect_is_a_bound(engine: Engine) -> None:
    suspicions(engine)
    confirm(engine, BOOTS)
    run_experiments(engine, SLOWER)
    with engine.begin() as connection:
        connection.execute(text("update verdict set bound = 'at_least'"))
    confirm(engine, BOOTS)
    [one, _] = suspicions_seen(engine)
    assert one.fresh_boots is not None
    assert (one.bound, one.fresh_boots.bound) == ("at_least", "at_least")


def suspicions_seen(engine: Engine) -> list[RegressionView]:
    with transaction(engine) as session:
        page = service.list_regressions(session)
        return [service.show_regression(session, row.id) for row in reversed(page.regressions)]
