"""Processors, rankings and CSV over the API: what stands in the files, read here by themselves."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import yaml
from fastapi.testclient import TestClient

from mitigauge.core.settings import REPOSITORY
from mitigauge.reporting.pages import price_rankings

Answer = dict[str, Any]


@cache
def files(folder: str) -> dict[str, Answer]:
    """By name, without the project's own reader."""
    paths = sorted((REPOSITORY / "prices" / folder).glob("*.yml"))
    assert paths
    return {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths}


def off(check: Answer) -> float:
    return 100 * (check["predicted"] / check["measured"] - 1)


def trust(machines: list[Answer]) -> str:
    """As docs/prices.md says: 80 % within 15 %, all within 30 %, on each machine with a check."""
    words = []
    for checks in [each.get("checks", []) for each in machines]:
        offs = [abs(off(check)) for check in checks]
        near = [each for each in offs if each <= 15]
        words += [len(near) >= 0.8 * len(offs) and max(offs) <= 30] if offs else []
    return "cannot_tell" if not words else "trusted" if all(words) else "not_trusted"


@pytest.fixture
def shown(client: TestClient) -> Answer:
    """What the page gets."""
    answer = client.get("/api/prices")
    assert answer.status_code == 200
    return answer.json()


def test_each_processor_is_as_its_file_says(shown: Answer) -> None:
    assert {each["processor"] for each in shown["processors"]} == set(files("processors"))
    for each in shown["processors"]:
        file = files("processors")[each["processor"]]
        assert each["title"] == file["title"]
        assert each["misfit_percent"] == file.get("misfit_percent", 0)
        assert each["trusted"] == trust(file.get("machines", []))
        own = file.get("identity")
        names = ("vendor", "family", "model", "stepping", "name", "caches", "masked")
        assert each["identity"] == (own and {name: own.get(name, "") for name in names})
        assert [
            (of["event"], of["ns"], of["low"], of["high"], of["kind"], of["source"], of["url"])
            for of in each["prices"]
        ] == [
            (of["event"], of["ns"], of["low"], of["high"], of.get("kind", "measured"),
             of["source"]["title"], of["source"].get("url", ""))
            for of in file["prices"]
        ]  # fmt: skip


def test_all_three_kinds_of_prices_are_told_apart(shown: Answer) -> None:
    kinds = {of["kind"] for each in shown["processors"] for of in each["prices"]}
    assert kinds == {"measured", "derived", "published"}


def test_each_machine_is_as_its_file_says(shown: Answer) -> None:
    machines = 0
    for each in shown["processors"]:
        own = files("processors")[each["processor"]].get("machines", [])
        for told, file in zip(each["machines"], own, strict=True):
            machines += 1
            assert (told["machine"], told["at"]) == (file["machine"], str(file["at"]))
            assert (told["kernel"], told["cycle_ns"]) == (file["kernel"], file["cycle_ns"])
            assert told["is_virtual"] == file.get("is_virtual", False)
            assert told["trusted"] == trust([file])
            refused = {of["event"]: of["why"] for of in told["refused"]}
            assert refused == file.get("refused", {})
            checks = file.get("checks", [])
            assert [of["off_percent"] for of in told["checks"]] == pytest.approx(
                [off(of) for of in checks]
            )
            assert [(of["what"], of["bill"], of["predicted"], of["measured"])
                    for of in told["checks"]] == [
                (of["what"], of["bill"], of["predicted"],
                 {"ns": of["measured"], "low": of["low"], "high": of["high"]})
                for of in checks
            ]  # fmt: skip
            sets = [of for each in told["aftermaths"] for of in each["working_sets"]]
            own_sets = [of for each in file.get("aftermaths", []) for of in each["working_sets"]]
            assert [of["off_percent"] for of in sets] == pytest.approx([off(of) for of in own_sets])
    assert machines


def test_a_price_says_which_machines_gave_it(shown: Answer) -> None:
    for each in shown["processors"]:
        machines = files("processors")[each["processor"]].get("machines", [])
        for price in each["prices"]:
            giving = [of["machine"] for of in machines
                      if price["event"] in {own["event"] for own in of["prices"]}]  # fmt: skip
            assert price["machines"] == giving


def test_the_rule_of_trust_is_said(shown: Answer) -> None:
    rule = {"share_percent": 80, "near_percent": 15, "far_percent": 30}
    assert shown["trust_rule"] == pytest.approx(rule)


def like(name: str, word: str) -> bool:
    file = files("processors")[name]
    names = (name, file["title"], file.get("microarchitecture", ""))
    own = file.get("identity", {}).get("name", "")
    return any(word.lower() in each.lower() for each in (*names, own))


@pytest.mark.parametrize("word", ["zen 3", "EPYC", "xeon-8280", "no such processor"])
def test_a_model_narrows_processors_and_rankings(client: TestClient, word: str) -> None:
    answer = client.get("/api/prices", params={"model": word}).json()
    wanted = {name for name in files("processors") if like(name, word)}
    assert {each["processor"] for each in answer["processors"]} == wanted
    whole = client.get("/api/prices").json()
    for narrowed, every in zip(answer["rankings"], whole["rankings"], strict=True):
        assert narrowed["processors"] == [
            each for each in every["processors"] if each["processor"] in wanted
        ]
    rows = csv_of(client, model=word)
    assert {row["processor"] for row in rows} == wanted


@pytest.mark.parametrize("path", ["/api/prices", "/api/prices.csv"])
@pytest.mark.parametrize("model", [201 * "x", "a\x00b"])
def test_a_model_beyond_its_limits_is_refused(client: TestClient, path: str, model: str) -> None:
    assert client.get(path, params={"model": model}).status_code in {400, 422}
    assert client.get(path, params={"model": 200 * "x"}).status_code == 200


def prices_of(name: str) -> dict[str, float]:
    return {price["event"]: price["ns"] for price in files("processors")[name]["prices"]}


def missing(mode: Answer, prices: dict[str, float]) -> list[str]:
    return [event for event in mode["events"] if event not in prices]


def cost(mode: Answer, prices: dict[str, float]) -> float:
    return sum(times * prices.get(event, 0) for event, times in mode["events"].items())


def is_priced(bills: Answer) -> bool:
    """Whether some processor has each price of one of its modes that do anything."""
    return any(
        mode["events"] and not missing(mode, prices_of(name))
        for name in files("processors") for mode in bills["modes"]
    )  # fmt: skip


def each_ranking(shown: Answer, check: Callable[[Answer, Answer], None]) -> None:
    """*check* of each processor's ranking and the question's file."""
    priced = [name for name, file in files("bills").items() if is_priced(file)]
    assert [of["bills"] for of in shown["rankings"]] == priced
    for question in shown["rankings"]:
        file = files("bills")[question["bills"]]
        assert question["operation"] == file["operation"]
        assert question["processors"]
        for each in question["processors"]:
            check(each, file)


def test_modes_with_every_price_are_ranked_and_others_say_what_they_lack(shown: Answer) -> None:
    def check(each: Answer, file: Answer) -> None:
        prices = prices_of(each["processor"])
        lacking = {of["mode"]: missing(of, prices) for of in file["modes"] if missing(of, prices)}
        assert {of["mode"]: of["missing"] for of in each["unpriced"]} == lacking
        whole = {of["mode"] for of in file["modes"]} - set(lacking)
        assert {of["mode"] for of in each["ranked"]} == whole
        costs = [of["predicted"]["ns"] for of in each["ranked"]]
        assert costs == sorted(costs)
        for of in each["ranked"]:
            assert of["predicted"]["low"] <= of["predicted"]["ns"] <= of["predicted"]["high"]
        # A mode that does nothing costs nothing, whatever the prices are; one without a price may
        # stand anywhere.
        events = {of["mode"]: of["events"] for of in file["modes"]}
        costly = [of for of in each["ranked"] if events[of["mode"]]]
        assert (each["chance"] is None) == (len(costly) < 2 or bool(each["unpriced"]))
        assert each["chance"] is None or 0 <= each["chance"] <= 1

    each_ranking(shown, check)


def test_a_mode_costs_its_bill_times_the_prices(shown: Answer) -> None:
    """Where no machine tells what comes behind an event."""

    def check(each: Answer, file: Answer) -> None:
        if "machines" in files("processors")[each["processor"]]:
            return
        seen.append(each["processor"])
        prices, modes = prices_of(each["processor"]), {of["mode"]: of for of in file["modes"]}
        costs = {name: cost(of, prices) for name, of in modes.items()}
        for of in each["ranked"]:
            assert of["predicted"]["ns"] == pytest.approx(costs[of["mode"]])
        for even in each["break_even"]:
            [lacking] = missing(modes[even["mode"]], prices)
            assert even["event"] == lacking
            paid = costs[even["mode"]] + modes[even["mode"]]["events"][lacking] * even["ns"]
            assert paid == pytest.approx(costs[even["other"]])

    seen: list[str] = []
    each_ranking(shown, check)
    assert "amd-25-1" in seen


def test_processors_that_say_something_of_a_mode_are_ranked_and_no_others(shown: Answer) -> None:
    for question in shown["rankings"]:
        modes = files("bills")[question["bills"]]["modes"]
        priced = {
            name
            for name in files("processors")
            if any(of["events"] and not missing(of, prices_of(name)) for of in modes)
        }
        ranked = {each["processor"]: each for each in question["processors"]}
        assert priced <= set(ranked)
        assert all(ranked[name]["break_even"] for name in set(ranked) - priced)


def test_a_ranking_is_worked_out_once(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    first = client.get("/api/prices").json()["rankings"]

    def again(*of: object) -> None:
        raise AssertionError("worked out anew")

    monkeypatch.setattr(price_rankings, "ranking", again)
    assert client.get("/api/prices").json()["rankings"] == first


def csv_of(client: TestClient, **query: str) -> list[dict[str, str]]:
    answer = client.get("/api/prices.csv", params=query)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="prices.csv"'
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


def test_each_price_is_a_row_of_the_csv(client: TestClient) -> None:
    rows = csv_of(client)
    assert [(row["processor"], row["event"], float(row["ns"]), float(row["low"]),
             float(row["high"]), row["kind"], row["url"]) for row in rows] == [
        (name, of["event"], of["ns"], of["low"], of["high"], of.get("kind", "measured"),
         of["source"].get("url", ""))
        for name in sorted(files("processors"), key=order(rows))
        for of in files("processors")[name]["prices"]
    ]  # fmt: skip
    for row in rows:
        file = files("processors")[row["processor"]]
        identity = file.get("identity")
        assert row["trusted"] == trust(file.get("machines", []))
        masked = "" if identity is None else "yes" if identity.get("masked") else "no"
        assert row["masked"] == masked
        assert row["family"] == (str(identity["family"]) if identity else "")


def order(rows: list[dict[str, str]]) -> Callable[[str], int]:
    """Processors come in the order of the answer; within one, the file's order is what counts."""
    return list(dict.fromkeys(row["processor"] for row in rows)).index


def claims_of(table: str) -> Answer:
    path = REPOSITORY / "experiments" / "claims" / f"{files('rates')[table]['claims']}.yml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_published_tables_stand_beside_what_is_predicted(client: TestClient) -> None:
    shown = {each["table"]: each for each in client.get("/api/prices/tables").json()}
    assert shown.keys() == files("rates").keys()
    for name, table in shown.items():
        rates, claims = files("rates")[name], claims_of(name)
        published = [
            claim["change"]
            for claim in claims["claims"]
            if claim.get("mode", claim.get("without")) in rates["modes"]
        ]
        assert [cell["published_low"] for cell in table["cells"]] == published
        assert table["citation"] == " ".join(claims["citation"].split())
        for cell in table["cells"]:
            assert cell["low"] <= cell["percent"] <= cell["high"]


def test_the_cover_letter_s_cells_agree_as_counted_by_hand(client: TestClient) -> None:
    """Signs of 42 cells; what clearing costs at the rate that each published IBPB needs."""
    [table] = [
        each
        for each in client.get("/api/prices/tables").json()
        if each["table"] == "vmscape-v8-iperf"
    ]
    changes = [claim["change"] for claim in claims_of("vmscape-v8-iperf")["claims"]]
    assert len(table["cells"]) == len(changes) == 42
    # Nothing that is done more makes anything faster: the sign is right where it was lost.
    told = [change for change in changes if abs(change) > 1]
    assert sum(mode["told"] for mode in table["agreement"]) == len(told)
    assert sum(mode["right"] for mode in table["agreement"]) == sum(c < 0 for c in told)
    first, beside = table["cells"][:2]
    assert (first["published_low"], beside["published_low"]) == (-12.5, 1.3)
    # IBPB: 2,000 ns and 12 instructions of 0.2; clearing: 57.7 ns and 24 of them.
    needed = 0.125 / 0.875 / 2002.4e-9
    assert first["needed"] == pytest.approx(needed)
    assert beside["implied"] == pytest.approx(100 / (1 + needed * 62.5e-9) - 100)
    assert first["implied"] is None


def test_prices_come_with_their_sources(client: TestClient) -> None:
    answer = client.get("/api/prices").json()
    xeon = next(each for each in answer["processors"] if each["processor"] == "xeon-8280")
    assert [price["event"] for price in xeon["prices"]] == ["instruction", "rdtsc", "cpuid"]
    for price in xeon["prices"]:
        assert price["low"] <= price["ns"] <= price["high"]
        assert price["source"].startswith("InstLatX64")
