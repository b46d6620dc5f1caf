"""What each patch of a series costs, counted on the lab, by the command and a worker.

Ten patches, the base, three alone, and a pair of those that interact: some fifteen kernels, those
with the same code booted once. More than half an hour where nothing else runs.
"""

from __future__ import annotations

import time
from typing import Any

import orjson
import pytest

from mitigauge.core.settings import REPOSITORY
from tests.lab.service_process import Service, said

pytestmark = pytest.mark.lab

HOST = "lab-intel"
NAME = "ten"
# As the patches say themselves (tests/series/README.md).
IN_PLACE = {1: 0, 2: 4, 3: 0, 4: 0, 5: 0, 6: 0, 7: 20, 8: 3, 9: 0, 10: 0}
ALONE = IN_PLACE | {7: 6}


def only(costs: list[dict[str, Any]]) -> int:
    """What lies in the code that it changes, of the one case.

    A return that a longer function moves may do without its thunk (ITS), which counts beside it.
    """
    [cost] = costs
    assert abs(cost["exact"] - cost["in_its_code"]) <= 1
    return int(cost["in_its_code"])


def test_each_patch_costs_what_it_says_and_the_pair_is_named(service: Service) -> None:
    began = time.monotonic()
    mails = REPOSITORY / "tests" / "series" / "ten"
    service.command("series", "add", str(mails), "--name", NAME, "--spec", "syscall")
    shown = orjson.loads(service.command("series", "show", NAME, "v1", "--json"))
    service.command("series", "approve", NAME, "v1", shown["digest"])
    study = orjson.loads(service.command("series", "study", NAME, "patch-cost", "--json"))
    said(f"{time.monotonic() - began:.0f} s: {study['answer']}")
    assert study["state"] == "done", study["why"]
    rows = {row["patches"][0]: row for row in study["body"]["rows"]}
    assert {patch: row["patches"] for patch, row in rows.items()} == {n: [n] for n in IN_PLACE}
    # A comment moves lines, whose numbers are data of warnings: the kernel may be another one.
    told = {patch: 0 if row["same_code"] else only(row["costs"]) for patch, row in rows.items()}
    assert told == IN_PLACE
    alone = {patch: only(row["alone"]) for patch, row in rows.items() if row["alone"]}
    assert alone == {patch: ALONE[patch] for patch in alone}
    assert only(study["body"]["whole"]) == sum(IN_PLACE.values())
    [pair] = study["body"]["interactions"]
    assert (pair["patch"], pair["others"]) == (7, [3])
    assert (pair["alone"], pair["after"]) == (pytest.approx(6, abs=1), pytest.approx(20, abs=1))
    assert any("patch 7 interacts with patch 3" in line for line in study["answer"])
