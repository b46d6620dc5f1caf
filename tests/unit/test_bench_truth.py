"""Made series change where they say, the metric counts as it says, and real files are checked."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.truth import bocpd, fetch, glr, intervals, real, table, year
from bench.truth.detectors import BOCPD, GLR, OURS, SILENCE, Detector, sized, vote
from bench.truth.made import KINDS, LEVEL, NULL, PASSING, Frame, made
from bench.truth.measured import QUIET, Sizes, corpus, first_year, judged_all, over_year
from bench.truth.metric import Counts, counted_with_start, judged, matches, total
from bench.truth.noise import MODES_APART, WALK
from bench.truth.series import Found, Known, Truth, Values

CHANGED = [kind for kind in KINDS if kind not in (*QUIET, *PASSING)]
# What a mean of twenty alike values and more may be off, of hundred series the worst.
OFF = 2.5


def known(values: Values, *changes: Truth) -> Known:
    return Known("by hand", values, changes, np.arange(len(values)))


def step(place: int, size: float = 3.0) -> Truth:
    return Truth(place, place, size)


def said(*places: int, size: float = 3.0) -> list[Found]:
    return [Found(place, size, size - 1.0, size + 1.0) for place in places]


# --- made series ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_series_is_the_same_however_many_are_made_with_it(kind: str) -> None:
    few, many = made(kind, 3), made(kind, 7)
    assert len(many) == 7
    for one, other in zip(few, many, strict=False):
        assert np.array_equal(one.values, other.values)
        assert one.changes == other.changes
    assert not np.array_equal(many[0].values[:50], many[2].values[:50])


@pytest.mark.parametrize("kind", KINDS)
def test_lengths_and_places_are_within_the_frame(kind: str) -> None:
    for series in made(kind, 50):
        assert 100 - 3 * 12 <= len(series.values) <= 200
        assert len(series.weeks) == len(series.values)
        assert (np.diff(series.weeks) > 0).all()
        for change in series.changes:
            assert 8 <= change.first <= change.last <= len(series.values) - 8
    short = made(kind, 5, Frame(120, 120, 25, 25))
    assert {int(series.weeks[-1]) for series in short} <= set(range(107, 120))


@pytest.mark.parametrize("kind", CHANGED)
def test_means_of_both_sides_differ_by_the_size_that_is_said(kind: str) -> None:
    """By medians, which one wild value does not move."""
    series = made(kind, 100)
    assert len(series) == 100
    errors = []
    for each in series:
        (change,) = each.changes
        after = np.median(each.values[change.last :])
        errors.append(after - np.median(each.values[: change.first]) - change.size)
    assert max(map(abs, errors)) < OFF
    assert abs(float(np.mean(errors))) < 0.12


@pytest.mark.parametrize("kind", [kind for kind in CHANGED if kind != "ramp"])
def test_no_other_place_fits_better_than_the_one_that_is_said(kind: str) -> None:
    """Least squares of two levels, worked out here from sums: 2 and more are at their place."""
    off = []
    for series in made(kind, 100):
        (change,) = series.changes
        values = np.clip(series.values, LEVEL - 12.0, LEVEL + 12.0)
        errors = [
            values[:at].var() * at + values[at:].var() * (len(values) - at)
            for at in range(5, len(values) - 4)
        ]
        off.append(abs(5 + int(np.argmin(errors)) - change.first))
    assert np.median(off) <= (4 if "step 1" in kind else 1 if "AR" in kind or kind == "gaps" else 0)


@pytest.mark.parametrize(
    ("kind", "size", "least", "most"), [(PASSING[0], 3, 10, 30), (PASSING[1], 5, 5, 10)]
)
def test_a_level_that_passes_comes_back(kind: str, size: int, least: int, most: int) -> None:
    errors = []
    for series in made(kind, 200):
        came, went = series.changes
        assert abs(came.size) == size
        assert came.size + went.size == 0.0
        assert least <= went.first - came.first <= most
        between = series.values[came.first : went.first].mean()
        around = [*series.values[: came.first], *series.values[went.first :]]
        errors.append(between - np.mean(around) - came.size)
    assert abs(float(np.mean(errors))) < 0.1
    assert float(np.std(errors)) < 0.6


def test_a_ramp_rises_evenly_within_its_stretch() -> None:
    shapes = []
    for series in made("ramp", 200):
        (change,) = series.changes
        assert 10 <= change.last - change.first <= 40
        quarter = (change.last - change.first) // 4
        middle = series.values[change.first + quarter : change.last - quarter].mean()
        shapes.append((middle - LEVEL) / change.size)
    assert np.mean(shapes) == pytest.approx(0.5, abs=0.05)


def test_steps_go_up_and_down() -> None:
    sizes = [series.changes[0].size for series in made("step 3", 60)]
    assert set(sizes) == {3.0, -3.0}
    assert 15 < sizes.count(3.0) < 45


@pytest.mark.parametrize("kind", [k for k in NULL if k not in ("season", "random walk")])
def test_noise_has_the_level_and_scatter_that_all_share(kind: str) -> None:
    values = np.concatenate([series.values for series in made(kind, 200)])
    assert values.mean() == pytest.approx(LEVEL, abs=0.05)
    assert values.std() == pytest.approx(1.0, abs=0.08)


@pytest.mark.parametrize(
    ("kind", "phi"),
    [("normal", 0.0), ("AR(1) 0.2", 0.2), ("AR(1) 0.4", 0.4), ("AR(1) 0.6", 0.6)],
)
def test_neighbours_are_as_alike_as_is_said(kind: str, phi: float) -> None:
    pairs = [(s.values[:-1] - LEVEL, s.values[1:] - LEVEL) for s in made(kind, 200)]
    before, after = (np.concatenate(side) for side in zip(*pairs, strict=True))
    assert np.corrcoef(before, after)[0, 1] == pytest.approx(phi, abs=0.03)


def test_student_has_tails_and_two_modes_have_two() -> None:
    off = np.abs(np.concatenate([s.values for s in made("t, 3 degrees", 200)]) - LEVEL)
    assert 20 * math.erfc(4.0 / math.sqrt(2.0)) < np.mean(off > 4.0) < 0.02
    modes = np.concatenate([s.values for s in made("two modes", 200)])
    apart = MODES_APART / math.sqrt(1.0 + MODES_APART**2 * 0.21)
    upper = modes > LEVEL + apart * 0.2
    assert upper.mean() == pytest.approx(0.3, abs=0.02)
    assert modes[upper].mean() - modes[~upper].mean() == pytest.approx(apart, rel=0.02)


def test_the_season_has_a_period_of_26_weeks() -> None:
    sums = np.zeros(51)
    for series in made("season", 100, Frame(104, 104)):
        sums += np.abs(np.fft.rfft(series.values - series.values.mean()))[1:52] ** 2
    assert int(sums.argmax()) + 1 == 104 // 26
    assert sums.max() > 10 * np.median(sums)


def test_a_walk_gets_farther_the_longer_it_goes() -> None:
    walks = np.array([series.values for series in made("random walk", 300, Frame(200, 200))])
    ends = walks[:, -20:].mean(axis=1) - LEVEL
    assert ends.std() == pytest.approx(WALK * math.sqrt(190.0), rel=0.15)
    assert (walks[:, :20].mean(axis=1) - LEVEL).std() < 0.5 * ends.std()


def test_spikes_are_one_to_three_and_the_level_stays() -> None:
    numbers = []
    for series in made("spikes", 200):
        assert not series.changes
        numbers.append(int((np.abs(series.values - LEVEL) > 6.0).sum()))
        assert abs(np.median(series.values) - LEVEL) < 0.5
        assert series.values.min() > 0.09 * LEVEL
        assert series.values.max() < 11.0 * LEVEL
    assert set(numbers) <= {0, 1, 2, 3}
    assert {1, 2, 3} <= set(numbers)


def test_scatter_changes_threefold_and_the_level_does_not() -> None:
    ratios = []
    for series in made("scatter", 200):
        assert not series.changes
        parts = series.values[:20].std(), series.values[-20:].std()
        ratios.append(math.log(max(parts) / min(parts)))
        assert abs(series.values.mean() - LEVEL) < 1.0
    assert np.exp(np.mean(ratios)) == pytest.approx(3.0, rel=0.05)


def test_gaps_leave_weeks_out_and_one_of_them_hides_the_step() -> None:
    for series in made("gaps", 100):
        (change,) = series.changes
        assert 3 <= series.weeks[-1] + 1 - len(series.weeks) <= 3 * 12
        assert series.weeks[change.first] - series.weeks[change.first - 1] >= 3


def test_swaps_come_in_pairs_that_step_against_each_other() -> None:
    series = made("swap", 20)
    for lower, upper in zip(series[::2], series[1::2], strict=True):
        (up,), (down,) = lower.changes, upper.changes
        assert up.first == down.first
        assert up.size == -down.size
        assert 2.0 <= up.size <= 6.0


def test_the_outlier_is_beside_the_step() -> None:
    wild = 0
    for series in made("outlier beside a step", 200):
        (change,) = series.changes
        levels = np.where(np.arange(len(series.values)) < change.first, 0.0, change.size)
        far = np.flatnonzero(np.abs(series.values - LEVEL - levels) > 6.0)
        wild += len(far)
        assert len(far) <= 1
        assert all(-3 <= place - change.first <= 2 for place in far)
        assert abs(change.size) == 5.0
    assert wild > 150


# --- the metric ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "places", "expected"),
    [
        ([step(50)], [50], Counts(1, 0, 0, 1)),
        ([step(50)], [45], Counts(1, 0, 0, 1)),
        ([step(50)], [55], Counts(1, 0, 0, 1)),
        ([step(50)], [44], Counts(0, 1, 1, 0)),
        ([step(50)], [56], Counts(0, 1, 1, 0)),
        ([step(50)], [48, 53], Counts(1, 0, 1, 1)),
        ([step(50)], [], Counts(0, 1, 0, 0)),
        ([], [7, 90], Counts(0, 0, 2, 0)),
        ([], [], Counts()),
        ([step(40), step(48)], [44], Counts(1, 1, 0, 1)),
        ([step(40), step(48)], [43, 45], Counts(2, 0, 0, 2)),
        ([step(50, -3.0)], [50], Counts(1, 0, 0, 0)),
        ([step(50, 3.9)], [50], Counts(1, 0, 0, 1)),
        ([step(50, 4.1)], [50], Counts(1, 0, 0, 0)),
        ([Truth(40, 60, 3.0)], [35], Counts(1, 0, 0, 1)),
        ([Truth(40, 60, 3.0)], [42, 50, 58], Counts(1, 0, 0, 1)),
        ([Truth(40, 60, 3.0)], [50, 80], Counts(1, 0, 1, 1)),
        ([Truth(40, 60, 3.0)], [66], Counts(0, 1, 1, 0)),
    ],
)
def test_what_is_right_missed_and_false(
    changes: list[Truth], places: list[int], expected: Counts
) -> None:
    assert judged(known(np.zeros(100), *changes), said(*places)) == expected


def test_the_nearest_place_finds_a_change() -> None:
    assert matches([step(50)], [46, 51, 54]) == {0: 1}
    assert matches([step(40), step(46)], [43, 46]) == {0: 0, 1: 1}


def test_shares_are_of_sums() -> None:
    sums = total([Counts(3, 1, 0, 2), Counts(0, 2, 2, 0)])
    assert sums == Counts(3, 3, 2, 2)
    assert (sums.precision, sums.recall) == (0.6, 0.5)
    assert sums.f1 == pytest.approx(2 * 0.6 * 0.5 / 1.1)


def test_silence_has_found_nothing() -> None:
    series = [known(np.zeros(100), step(50)), known(np.zeros(100))]
    answers = SILENCE.answers([each.values for each in series])
    sums = total(judged_all(series, answers, 0.0).counts)
    assert (sums.recall, sums.precision, sums.f1, sums.false) == (0.0, 0.0, 0.0, 0)
    row = table.main_table({"silence": judged_all(series, answers, 0.0)}, {})[1]
    assert row[2].startswith("0.0 [")
    assert row[4].startswith("0.0 [")


def test_where_the_start_counts_silence_is_nearly_right() -> None:
    assert counted_with_start([[]], []) == 1.0
    assert counted_with_start([[step(50)]], []) == pytest.approx(2 / 3)
    assert counted_with_start([[step(50)]], [52]) == 1.0
    assert counted_with_start([[step(50)]], [20]) == pytest.approx(0.5)
    # Two readers: precision against both, recall the mean of 2/2 and 1/2.
    assert counted_with_start([[step(50)], [step(80)]], [50]) == pytest.approx(2 * 0.75 / 1.75)


def test_who_says_everything_finds_all_and_is_wrong_nearly_always() -> None:
    every = Detector("every", lambda series: [said(*range(1, len(v))) for v in series])
    series = [*made("step 3", 5), *made("normal", 5)]
    sums = total(judged(s, every.found(s.values)) for s in series)
    assert sums.recall == 1.0
    assert sums.precision < 0.02
    assert sums.false == sum(len(each.values) - 1 for each in series) - 5


def test_wilson_and_bootstrap_intervals() -> None:
    assert intervals.wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert intervals.wilson(9, 10) == pytest.approx((0.5958, 0.9821), abs=1e-4)
    low, high = intervals.of_rate([0, 1] * 200)
    assert (low, high) == pytest.approx((0.45, 0.55), abs=0.01)
    assert intervals.of_rate([0] * 100) == pytest.approx((0.0, 0.0369))
    assert intervals.of_f1([Counts(1, 0, 0, 1)] * 5) == (1.0, 1.0)
    low, high = intervals.of_f1([Counts(1, 0, 0, 1), Counts(0, 1, 0, 0)] * 100)
    assert low < 2 / 3 < high
    assert high - low < 0.2
    one, two = [Counts(1, 0, 0, 1)] * 50, [Counts(0, 1, 1, 0)] * 50
    assert intervals.of_f1_difference(one + two, one + two) == (0.0, 0.0)
    low, high = intervals.of_f1_difference(one + one, one + two)
    assert low < 0.5 < high < 0.65
    assert intervals.of_median(list(range(1, 21))) == (6.0, 15.0)


# --- detectors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("detector", [GLR, OURS, BOCPD])
def test_a_plain_step_is_found_and_plain_noise_is_not(detector: Detector) -> None:
    (series,) = made("step 5", 1)
    (found,) = detector.found(series.values)
    assert judged(series, [found]) == Counts(1, 0, 0, 1)
    noise = [each.values for each in made("normal", 20)]
    assert sum(map(len, detector.answers(noise))) <= 1


def test_the_likelihood_ratio_is_that_of_two_means() -> None:
    rng = np.random.default_rng(3)
    values = rng.standard_normal(30)
    values[18:] += 1.0
    means = [values[:at].mean() - values[at:].mean() for at in range(3, 28)]
    errors = [math.sqrt(1.0 / at + 1.0 / (30 - at)) for at in range(3, 28)]
    best = int(np.argmax(np.abs(means) / np.array(errors)))
    noise = 1.4826 * np.median(np.abs(np.diff(values) - np.median(np.diff(values)))) / 2**0.5
    ratio = abs(means[best]) / errors[best] / noise
    assert glr.places(values, ratio * 1.001) == []
    assert 3 + best in glr.places(values, ratio * 0.999)


def test_neighbours_alike_make_fewer_alarms() -> None:
    noise = [each.values for each in made("AR(1) 0.6", 40)]
    plain, alike = (sum(map(len, each.answers(noise))) for each in (GLR, OURS))
    assert alike < plain / 4


def test_bocpd_says_a_change_only_once_it_saw_it() -> None:
    values = np.concatenate([made("normal", 1)[0].values[:60], np.full(20, 108.0)])
    (alarm,) = bocpd.alarms([values])[0]
    assert abs(alarm.place - 60) <= 1
    assert 63 <= alarm.seen <= 66
    assert bocpd.alarms([values[: alarm.seen - 1]]) == [[]]
    assert bocpd.alarms([values[: alarm.seen]]) == [[alarm]]
    # A longer series beside it does not change what is said.
    assert bocpd.alarms([values, np.tile(values, 2)])[0] == [alarm]


def test_two_of_three_make_a_vote() -> None:
    assert vote([50], [53], []) == [50]
    assert vote([], [53], [58, 90]) == [53]
    assert vote([50], [70], [90]) == []
    assert vote([50], [50], [50]) == [50]


def test_sizes_are_differences_of_neighbouring_stretches() -> None:
    values = np.array([0.0, 2.0] * 10 + [5.0, 7.0] * 10 + [1.0, 3.0] * 10)
    first, second = sized(values, [40, 20])
    assert (first.place, first.size) == (20, 5.0)
    assert (second.place, second.size) == (40, -4.0)
    # Both variances 20/19, by hand: 2.0244·√(2·20/19/20).
    assert first.high - first.size == pytest.approx(0.6569, abs=1e-3)


# --- a year --------------------------------------------------------------------------------------


def test_a_corpus_of_other_series_has_none_of_the_first() -> None:
    first, others = corpus(Sizes(corpus=2)), corpus(Sizes(corpus=2, after=2))
    assert [each.kind for each in first] == [each.kind for each in others]
    assert len(first) == 2 * len(KINDS)
    seen = {each.values.tobytes() for each in first}
    assert not any(each.values.tobytes() in seen for each in others)


def test_an_alarm_counts_when_it_is_first_said() -> None:
    looks = [[10], [10, 40], [44], [50], [50, 12]]
    assert year.first_said(looks, range(52, 57)) == [year.Said(40, 53), year.Said(50, 55)]


def test_the_delay_is_in_values_at_the_new_level() -> None:
    series = known(np.zeros(78), step(45))
    assert year.delay(series, [year.Said(20, 40), year.Said(43, 49), year.Said(46, 60)]) == 4
    assert year.delay(series, [year.Said(52, 60)]) is None


def test_a_year_counts_what_is_new_in_it() -> None:
    def looks(series: list[Values], seen: range) -> list[list[list[int]]]:
        return [[[5, *([end - 3] if end == 60 else [])] for _ in series] for end in seen]

    told = Detector("told", lambda series: [[] for _ in series], looks)
    silent = [replace(told, name=n, looks=None) for n in ("ours", "GLR, 5.4", "BOCPD")]
    years = over_year([told, *silent], Sizes(null_years=2, stepped_years=1))
    assert set(years["told"].alarms) == set(QUIET)
    assert all(list(alarms) == [1, 1] for alarms in years["told"].alarms.values())
    assert all(list(alarms) == [0, 0] for alarms in years["vote of three"].alarms.values())


def test_the_first_year_counts_series_with_any_change() -> None:
    def looks(series: list[Values], seen: range) -> list[list[list[int]]]:
        assert (seen.start, seen.stop) == (6, 53)
        return [
            [[3] if end == 20 and not n % 2 else [] for n in range(len(series))] for end in seen
        ]

    told = Detector("told", lambda series: [[] for _ in series], looks)
    assert first_year([told, SILENCE], 4) == {
        "told": dict.fromkeys(NULL, 2),
        "silence": dict.fromkeys(NULL, 0),
    }


# --- real series ---------------------------------------------------------------------------------

CONTENT = b"1,2,3\n"


def source(content: bytes = CONTENT) -> fetch.Source:
    digest = hashlib.sha256(content).hexdigest()
    files = {"a/one.csv": hashlib.sha256(CONTENT).hexdigest(), "a/two.csv": digest}
    return fetch.Source("title", "owner", "CC-BY-4.0", "owner/name", "0" * 40, files)


def get(_source: fetch.Source, _path: str) -> bytes:
    return CONTENT


def test_files_are_kept_with_their_origin(tmp_path: Path) -> None:
    kept = fetch.fetch("name", source(), tmp_path, get)
    assert (kept / "a/two.csv").read_bytes() == CONTENT
    assert "licence: CC-BY-4.0" in (kept / "ORIGIN.yml").read_text()
    assert fetch.fetch("name", source(), tmp_path, get) == kept


def test_a_file_whose_digest_changed_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    expected = source(b"other\n")
    with pytest.raises(fetch.Refused) as refused:
        fetch.fetch("name", expected, tmp_path, get)
    assert hashlib.sha256(CONTENT).hexdigest() in str(refused.value)
    assert expected.files["a/two.csv"] in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_changed_on_disk_is_refused(tmp_path: Path) -> None:
    kept = fetch.fetch("name", source(), tmp_path, get)
    (kept / "a/one.csv").write_bytes(b"4\n")
    with pytest.raises(fetch.Refused, match=r"one\.csv"):
        fetch.fetch("name", source(), tmp_path, get)


def test_what_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    def breaks(_source: fetch.Source, path: str) -> bytes:
        if path == "a/two.csv":
            raise OSError("cut off")
        return CONTENT

    with pytest.raises(OSError, match="cut off"):
        fetch.fetch("name", source(), tmp_path, breaks)
    assert list(tmp_path.iterdir()) == []


def test_every_source_says_whose_it_is_and_has_a_digest_for_each_file() -> None:
    for name, each in fetch.sources().items():
        assert name in real._READERS
        assert each.owner
        assert each.licence
        assert len(each.commit) == 40
        assert all(len(digest) == 64 for digest in each.files.values())
        assert not any(path.startswith("/") or ".." in path for path in each.files)


def test_marks_of_sap_are_the_first_value_of_the_regression(tmp_path: Path) -> None:
    base = tmp_path / "hana/small_2021"
    (base / "data").mkdir(parents=True)
    (base / "metadata").mkdir()
    (base / "metadata/dataset_details.csv").write_text(
        "Type;Dataset;Change Point\nregression;0001.csv;3\nHigh deviation ;0002.csv;0\n"
    )
    rows = "Index,GHC,Measurement\n1,7,10\n2,7,10\n3,7,10\n4,8,20\n"
    for name in ("0001", "0002"):
        (base / f"data/{name}.csv").write_text(rows)
    regression, other = real.sap_hana(tmp_path)
    ((place,),) = regression.marks
    assert regression.values[place - 1 : place + 1].tolist() == [10.0, 20.0]
    assert (other.kind, other.known.changes) == ("high deviation", ())


def test_steps_are_put_into_what_nobody_marked() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(100.0, 4.0, 200)
    marked = [real.Marked("one", "k", noise, [[], []]), real.Marked("two", "k", noise, [[], [3]])]
    series = real.put_in(marked, 5.0)
    assert [each.changes[0].first for each in series] == [50, 100, 150]
    for each in series:
        (change,) = each.changes
        assert change.size == pytest.approx(20.0, rel=0.2)
        assert np.allclose(each.values[: change.first], noise[: change.first])
        assert np.allclose(each.values[change.first :] - noise[change.first :], change.size)


def test_missing_values_are_as_the_last_one_before() -> None:
    assert real.filled([None, 2, None, 4, None]) == [2.0, 2.0, 2.0, 4.0, 4.0]
