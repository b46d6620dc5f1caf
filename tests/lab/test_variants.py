"""Revisions of a clearing loop ranked on the lab, by the command and a worker.

Three kernels that differ in one file, each booted once to be counted.
"""

from __future__ import annotations

import orjson
import pytest

from mitigauge.core.settings import REPOSITORY
from tests.lab.service_process import Service, said

pytestmark = pytest.mark.lab

HOST = "lab-intel"
NAME = "bhb-loop"
# Rounds and branches of a round of each revision (tests/series/README.md).
LOOPS = {"v3": (5, 5), "v2": (4, 5), "v1": (12, 7)}


def more_branches(label: str) -> int:
    """Taken branches of a loop's source, more than those of v3.

    A branch of a round jumps to the next line, and back but for the last time; each round but the
    last jumps to the next.
    """
    taken = {name: rounds * (2 * each - 1) + rounds - 1 for name, (rounds, each) in LOOPS.items()}
    return taken[label] - taken["v3"]


def test_a_loop_that_clears_less_is_out_and_the_cheaper_one_wins(service: Service) -> None:
    for label in reversed(LOOPS):
        mails = REPOSITORY / "tests" / "series" / NAME / label
        service.command("series", "add", str(mails), "--name", NAME, "--spec", NAME)
        shown = orjson.loads(service.command("series", "show", NAME, label, "--json"))
        service.command("series", "approve", NAME, label, shown["digest"])
    study = orjson.loads(service.command("series", "study", NAME, "variants", "v3", "--json"))
    said("\n".join(study["answer"]))
    assert study["state"] == "done", study["why"]
    variants = {each["name"]: each for each in study["body"]["variants"]}
    assert {name: each["gate"] for name, each in variants.items()} == {
        "v3": "reference", "v2": "does less", "v1": "does as much",
    }  # fmt: skip
    for label in ("v2", "v1"):
        [cost] = variants[label]["costs"]
        [branches] = [each for each in cost["events"] if each["event"] == "bhb-branch"]
        assert branches["exact"] == more_branches(label)
    places = [[place["name"] for place in each["places"]] for each in study["body"]["rankings"]]
    assert places
    assert all(each == ["v3", "v1"] for each in places)
