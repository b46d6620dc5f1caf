"""What is undecided, and the experiment that is ordered for it."""

from __future__ import annotations

import pytest
import yaml
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.core.errors import InvalidInput
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.reporting.pages.undecided import with_blocks
from mitigauge.tracking.regressions.confirmation_service import confirm
from tests.clients import bearer, token_of
from tests.confirmations_made import LEVEL, run_experiments, suspicions


@pytest.fixture
def experiment(engine: Engine) -> int:
    """One of two kernels that 20 blocks do not tell apart."""
    suspicions(engine)
    confirm(engine, 40)
    run_experiments(engine, {"before": LEVEL, "after": 1.012 * LEVEL}, noise=0.03)
    with engine.connect() as connection:
        number = connection.scalar(text("select min(experiment_id) from confirmation"))
    assert number
    return int(number)


def test_each_cell_says_why_and_what_it_takes(client: TestClient, experiment: int) -> None:
    said = client.get(f"/api/experiments/{experiment}/undecided").json()
    [cell] = said["cells"]
    assert (cell["arm"], cell["host"], cell["blocks"]) == ("after", "lab-intel", 20)
    assert "20 blocks show" in cell["why"]
    assert cell["mde_percent"] > abs(cell["effect_percent"])
    if cell["needed"] is None:
        assert "64 blocks hardly decide it either" in cell["why"]
        assert said["blocks"] is None
    else:
        assert said["blocks"] == cell["needed"]
        assert said["boots"] == 2 * said["blocks"]


def test_its_spec_is_submitted_once_more_with_the_blocks(
    client: TestClient, engine: Engine, experiment: int
) -> None:
    headers = bearer(token_of(engine, "submitter"))
    answer = client.post(
        f"/api/experiments/{experiment}/again", json={"blocks": 50}, headers=headers
    )
    assert answer.status_code == 201, answer.text
    assert answer.json()["id"] != experiment
    spec = yaml.safe_load(answer.json()["spec_text"])
    assert spec["blocks"] == 50
    assert "blocks" not in spec["comparisons"][0]
    [comparison] = answer.json()["comparisons"]
    assert [arm["name"] for arm in comparison["arms"]] == ["before", "after"]
    goes_on = client.post(
        f"/api/experiments/{answer.json()['id']}/again", json={"blocks": 50}, headers=headers
    )
    assert goes_on.status_code == 409
    assert "goes on" in goes_on.text


@pytest.mark.parametrize("blocks", [0, 65, -1, "many", None])
def test_blocks_that_are_none_are_refused(
    client: TestClient, engine: Engine, experiment: int, blocks: object
) -> None:
    answer = client.post(
        f"/api/experiments/{experiment}/again",
        json={"blocks": blocks},
        headers=bearer(token_of(engine, "submitter")),
    )
    assert answer.status_code == 422


def test_blocks_of_comparisons_give_way() -> None:
    # An arm called `off` is no boolean, neither read nor written.
    named = with_blocks("name: off\ncomparisons: []\n", 4)
    assert parse_yaml(named, "x").data == {"name": "off", "comparisons": [], "blocks": 4}
    spec = "name: x\nblocks: 4\ncomparisons:\n- {name: a, blocks: 8}\n- {name: b}\n"
    told = yaml.safe_load(with_blocks(spec, 12))
    assert told == {"name": "x", "blocks": 12, "comparisons": [{"name": "a"}, {"name": "b"}]}
    with pytest.raises(InvalidInput):
        with_blocks(spec, 65)
