"""p, q and the interval of two groups."""

from __future__ import annotations

import numpy as np
import pytest

from mitigauge.analysis.profiles.diff.significance import compare_groups


def test_what_is_seen_in_too_few_boots_is_no_question_and_what_is_new_is_one() -> None:
    a, b = np.zeros((40, 4)), np.zeros((40, 4))
    b[0] = [70, 80, 75, 66]  # new, in every boot of one side
    a[1:, 0] = b[1:, 1] = b[1:, 2] = [5] * 39  # in three boots of eight
    compared = compare_groups(a, b)
    assert compared.q[0] == compared.p[0] < 0.001
    assert np.isnan(compared.q[1:]).all()
    assert compared.b[0] > 0
    a[1, 1] = 5  # in four
    assert compare_groups(a, b).q[0] == pytest.approx(2 * compared.p[0])


def test_p_is_students_and_an_interval_welchs() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(10, 1, (1, 8)), rng.normal(11, 3, (1, 5))
    from scipy.stats import ttest_ind

    reference = ttest_ind(b[0], a[0], equal_var=False)
    compared = compare_groups(a, b)
    interval = reference.confidence_interval()
    assert compared.p[0] == pytest.approx(ttest_ind(b[0], a[0]).pvalue, rel=1e-9)
    assert compared.low[0] == pytest.approx(interval.low, rel=1e-4)
    assert compared.high[0] == pytest.approx(interval.high, rel=1e-4)
