"""Details of passes: read within limits, held to what the workload declares, brought to a boot."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from pydantic import ValidationError

from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.results.details import MOST_POINTS, BootDetails, PassDetails, of_boot
from mitigauge.measurement.results.schema import read_result
from mitigauge.measurement.workloads.definitions import Workload
from mitigauge.measurement.workloads.details import Details
from pipelines.steps.parser import checked, timed_pass
from tests.fuzz.builders import spin_case
from tests.fuzz.results import BODY

# A workload of no name that the code knows: a new one with a curve is new files.
DECLARED = Details.model_validate(
    {
        "curve": {
            "title": "Latency under load", "load": "clients", "count": "requests",
            "value": {"title": "Latency", "unit": "ms", "direction": "lower"},
            "reached": {"title": "Capacity", "unit": "clients", "direction": "higher"},
        },
        "breakdowns": {
            "kinds": {
                "title": "Kinds", "of": "kind", "rows": {"z": "Write", "a": "Read"},
                "figures": {"took": {"title": "Took", "unit": "ms", "direction": "lower"}},
            }
        },
    }
)  # fmt: skip
TOLD: dict[str, Any] = {
    "curve": [{"load": 1, "count": 9, "value": 2.0}, {"load": 2, "count": 1, "value": None}],
    "reached": [{"threshold": 5, "load": 1.5}, {"threshold": 10, "load": None}],
    "breakdowns": {"kinds": {"z": {"took": 3.0}, "a": {"took": None}}},
}


def told(change: Callable[[dict[str, Any]], object] = lambda _: None) -> PassDetails:
    changed = copy.deepcopy(TOLD)
    change(changed)
    return PassDetails.model_validate(changed)


def test_passes_are_brought_to_one_boot() -> None:
    second = told(
        lambda t: t.update(
            curve=[{"load": 1, "count": 3, "value": 4.0}, {"load": 2, "count": 7, "value": 8.0}],
            reached=[{"threshold": 5, "load": 2.5}, {"threshold": 10, "load": 2.0}],
        )
    )
    boot = of_boot(DECLARED, [told(), second], 2)
    assert boot is not None
    assert [(p.load, p.count, p.value) for p in boot.curve] == [(1, 12, 3.0), (2, 8, 8.0)]
    # One pass never reached 10: a mean over the other alone would be too low.
    assert [(r.threshold, r.load) for r in boot.reached] == [(5, 2.0), (10, None)]
    assert boot.breakdowns["kinds"] == {"z": {"took": 3.0}, "a": {"took": None}}


def test_what_is_stored_keeps_its_declaration_in_order() -> None:
    boot = of_boot(DECLARED, [told()], 1)
    assert boot is not None
    # As PostgreSQL gives it back: names of an object in an order of its own.
    stored = orjson.loads(orjson.dumps(boot.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS))
    again = BootDetails.model_validate(stored)
    assert again == boot
    assert list(again.declared.breakdowns["kinds"].rows) == ["z", "a"]


WRONG: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    ("no curve", lambda t: t.update(curve=[]), "details.curve: no curve"),
    ("loads fall", lambda t: t["curve"].reverse(), "do not ascend"),
    ("a load twice", lambda t: t["curve"].append(t["curve"][-1]), "do not ascend"),
    ("a threshold twice", lambda t: t["reached"].append(t["reached"][-1]), "details.reached"),
    ("no breakdown", lambda t: t.update(breakdowns={}), "details.breakdowns"),
    ("another breakdown", lambda t: t["breakdowns"].update(more={}), "details.breakdowns: 'kinds,"),
    ("a row", lambda t: t["breakdowns"]["kinds"].update(b={}), "details.breakdowns.kinds: 'b'"),
    ("a figure", lambda t: t["breakdowns"]["kinds"]["a"].update(x=1.0), "kinds.a: 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "said"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_what_is_not_declared_is_refused_by_name(
    change: Callable[[dict[str, Any]], object], said: str
) -> None:
    with pytest.raises(InvalidInput, match="not as the workload declares it") as refused:
        of_boot(DECLARED, [told(change)], 1)
    assert said in refused.value.message


HOSTILE: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("no number", lambda t: t["curve"][0].update(value="2")),
    ("a truth value", lambda t: t["curve"][0].update(load=True)),
    ("infinite", lambda t: t["reached"][0].update(load=float("inf"))),
    ("no number at all", lambda t: t["reached"][0].update(load=float("nan"))),
    ("too large", lambda t: t["breakdowns"]["kinds"]["a"].update(took=1e101)),
    ("a field more", lambda t: t.update(more=1)),
    ("a long name", lambda t: t["breakdowns"].update({"k" * 64: {}})),
    ("fewer than none", lambda t: t["curve"][0].update(count=-1)),
    ("endless", lambda t: t.update(curve=[{"load": n} for n in range(MOST_POINTS + 1)])),
]


@pytest.mark.parametrize("change", [h[1] for h in HOSTILE], ids=[h[0] for h in HOSTILE])
def test_what_a_host_could_make_of_it_is_bounded(
    change: Callable[[dict[str, Any]], object],
) -> None:
    with pytest.raises(ValidationError):
        told(change)


def test_details_come_with_each_iteration_of_a_workload_that_declares_them() -> None:
    case = timed_pass(spin_case())
    body = json.dumps(BODY | {"details": [TOLD] * 3}).encode()
    found = checked(body, case, DECLARED).details
    assert found is not None
    assert found.curve[0].count == 27
    with pytest.raises(InvalidInput, match="the workload declares none"):
        checked(body, case)
    for passes in ([], [TOLD] * 2):
        with pytest.raises(InvalidInput, match=f"of {len(passes)} iterations, the plan asks for 3"):
            checked(json.dumps(BODY | {"details": passes}).encode(), case, DECLARED)
    assert checked(json.dumps(BODY).encode(), case).details is None
    with pytest.raises(InvalidInput, match="details"):
        read_result(json.dumps(BODY | {"details": [TOLD] * 101}).encode())


def test_a_threshold_names_a_parameter_of_the_workload() -> None:
    declared = Catalog().workloads["desktop"].model_dump()
    declared["details"]["curve"]["threshold"] = "thershold"
    with pytest.raises(ValidationError, match=r"details\.curve\.threshold: 'thershold'"):
        Workload.model_validate(declared)
    with pytest.raises(ValidationError, match="tell nothing"):
        Details.model_validate({})
