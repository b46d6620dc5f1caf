"""What is put into a series: drawn from a seed, and told by nothing in the mails."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from mitigauge.kernels.mails.files import read_mails
from mitigauge.measurement.catalog import Catalog
from mitigauge.tracking.injections.draw import Draw, draw, paths, write_mails
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.spec import places_in
from mitigauge.tracking.series.spec_files import spec_text

SEEDS = range(400)


def test_one_seed_gives_one_draw() -> None:
    of = paths()
    assert draw(7, of) == draw(7, of)
    drawn = [draw(seed, of) for seed in SEEDS]
    assert {each.instructions for each in drawn} == set(of["system-call"].instructions)
    assert {each.patches for each in drawn} == {3, 4}
    # Each place of a series of three, about as often.
    places = Counter(each.place for each in drawn if each.patches == 3)
    assert set(places) == {1, 2, 3}
    assert min(places.values()) > sum(places.values()) / 5


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_the_mails_are_one_whole_series_with_one_patch_that_costs(
    seed: int, tmp_path: Path
) -> None:
    drawn = draw(seed, paths())
    write_mails(drawn, tmp_path / "mails")
    [found] = revisions(read_mails([tmp_path / "mails"]))
    assert len(found.patches) == drawn.patches
    assert not found.strays
    texts = [file.read_text() for file in sorted((tmp_path / "mails").iterdir())][1:]
    costs = [number for number, text in enumerate(texts, start=1) if ".rept" in text]
    assert costs == [drawn.place]
    assert re.findall(r"\.rept (\d+)\\n", texts[drawn.place - 1]) == [str(drawn.instructions)]
    assert len({text.split("Subject: ")[1] for text in texts}) == drawn.patches


def test_nothing_in_a_mail_tells_that_it_was_drawn(tmp_path: Path) -> None:
    write_mails(Draw(11, "system-call", 16, 2, 4), tmp_path / "mails")
    whole = "".join(file.read_text() for file in (tmp_path / "mails").iterdir()).lower()
    for word in ("inject", "slow", "blind", "mitigauge", "@"):
        assert word not in whole.replace("@example.org", "").replace("\n@@ ", "").replace(" @@", "")


def test_each_path_is_measured_by_a_spec_and_a_case_that_there_are() -> None:
    workloads = Catalog().workloads
    for path in paths().values():
        assert places_in(spec_text(path.spec), path.spec) >= {"base", "this"}
        assert path.metric in workloads[path.workload].metrics
        family, _, mode = path.mode.partition("/")
        assert mode in Catalog().families[family].modes
