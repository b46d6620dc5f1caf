"""Anyone's CSV: what is read, what is refused, and the verdicts that come out."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from cli.main import build
from mitigauge.analysis.verdicts.boots_comparison import ArmComparison, compare
from mitigauge.analysis.verdicts.boots_csv import COLUMNS, BootsFile
from mitigauge.core.errors import InvalidInput, MitigaugeError
from mitigauge.core.settings import REPOSITORY

Row = dict[str, Any]


def rows_of(
    effects: dict[str, float],
    *,
    blocks: int = 8,
    sigma: float = 0.0035,
    seed: int = 7,
    **given: Any,
) -> list[Row]:
    rng = np.random.default_rng(seed)
    return [
        {
            "case": "syscall basic", "metric": "time_per_call", "unit": "ns", "direction": "lower",
            "host": "alpha", "block": block, "arm": arm, "boot": f"{block}-{arm}",
            "iteration": iteration, "value": 100 * (1 + effect) * np.exp(noise),
        } | given
        for block in range(1, blocks + 1)
        for arm, effect in effects.items()
        for noise in [rng.normal(0, sigma)]
        for iteration in (1, 2)
    ]  # fmt: skip


def csv_of(rows: Sequence[Row], columns: Iterable[str] = COLUMNS) -> list[str]:
    names = list(columns)
    return [",".join(names), *(",".join(str(row[name]) for name in names) for row in rows)]


def read(lines: Sequence[str]) -> BootsFile:
    return BootsFile(lines, name="boots.csv")


def judged(
    rows: Sequence[Row], columns: Iterable[str] = COLUMNS, **options: Any
) -> list[ArmComparison]:
    return compare(read(csv_of(rows, columns)).measured(), baseline="off", **options)


def refused(lines: Sequence[str]) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        read(lines)
    return caught.value


def test_a_slower_arm_is_worse_and_an_equal_one_the_same() -> None:
    worse, same = judged(rows_of({"off": 0.0, "ibpb": 0.05, "clear": 0.0}))
    assert (worse.arm, worse.verdict) == ("ibpb", "worse")
    assert worse.effect_percent == pytest.approx(5, abs=1)
    assert worse.decided_at_look == 4
    assert (same.arm, same.verdict) == ("clear", "same")


def test_the_order_of_rows_and_columns_changes_nothing() -> None:
    rows = rows_of({"off": 0.0, "ibpb": 0.02})
    shuffled = random.Random(3).sample(rows, len(rows))
    assert judged(shuffled, reversed(COLUMNS)) == judged(rows)


def test_a_budget_moves_the_last_look_and_says_what_is_to_come() -> None:
    [answer] = judged(rows_of({"off": 0.0, "on": 0.01}, sigma=0.02, blocks=5), planned_blocks=16)
    assert answer.verdict == "undecided"
    assert "5 of 16 blocks: next look after 6" in answer.note


def test_cases_and_metrics_are_judged_apart() -> None:
    rows = rows_of({"off": 0.0, "on": 0.05}) + rows_of(
        {"off": 0.0, "on": 0.05}, metric="throughput", unit="bit/s", direction="higher"
    )
    assert [(a.metric, a.verdict) for a in judged(rows)] == [
        ("time_per_call", "worse"),
        ("throughput", "better"),
    ]


def test_blocks_of_several_hosts_are_judged_together() -> None:
    rows = rows_of({"off": 0.0, "on": 0.05}, blocks=3) + rows_of(
        {"off": 0.6, "on": 0.65 * 1.04}, blocks=3, host="beta", seed=8
    )
    [answer] = judged(rows, exploratory=True)
    assert answer.blocks_used == 6


def test_without_blocks_the_boots_are_paired_in_the_order_of_their_labels() -> None:
    rows = rows_of({"off": 0.0, "on": 0.05})
    for row in rows:
        row["boot"] = row["block"]
    without = [name for name in COLUMNS if name != "block"]
    file = read(csv_of(rows, without))
    assert "paired" in " ".join(file.remarks)
    [answer] = compare(file.measured(), baseline="off")
    assert (answer.verdict, answer.blocks_used) == ("worse", judged(rows)[0].blocks_used)


def test_labels_that_are_numbers_sort_as_numbers() -> None:
    lines = ["arm,boot,value", *(f"{arm},{n},{n}" for n in (10, 9, 2) for arm in ("off", "on"))]
    boots = read(lines).measured()[0].boots
    assert [values[0] for _, values in sorted(boots["on"].items())] == [2, 9, 10]


def test_boots_of_one_block_that_repeat_an_arm_become_blocks_of_their_own() -> None:
    lines = [
        "arm,block,boot,value",
        *(f"{arm},1,{boot},{boot}" for boot in (1, 2, 3) for arm in ("off", "on")),
    ]
    boots = read(lines).measured()[0].boots
    assert {arm: dict(of_arm) for arm, of_arm in boots.items()} == {
        "off": {1: [1.0], 2: [2.0], 3: [3.0]},
        "on": {1: [1.0], 2: [2.0], 3: [3.0]},
    }


def test_what_is_missing_is_filled_in_and_said() -> None:
    file = read(["Arm, Value ,block,colour", "off,1,1,red", "on,2,1,red"])
    [measured] = file.measured()
    assert (measured.case, measured.metric, measured.unit, measured.direction) == (
        "all", "value", "", "lower",
    )  # fmt: skip
    assert any("colour" in remark for remark in file.remarks)
    assert any("lower is taken as better" in remark for remark in file.remarks)


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("off,1,fast", "boots.csv:3: value: 'fast' is not a number"),
        ("off,1,nan", "boots.csv:3: value: nan is not finite"),
        ("off,1,-inf", "boots.csv:3: value: -inf is not finite"),
        ("off,1,", "boots.csv:3: value: '' is not a number"),
        (",1,5", "boots.csv:3: arm: is empty"),
        ("off,,5", "boots.csv:3: block: is empty, and so is boot"),
        ("off,1", "boots.csv:3: row: 2 fields where the first line has 3"),
    ],
)
def test_a_bad_row_is_named_by_line_column_and_reason(row: str, complaint: str) -> None:
    error = refused(["arm,block,value", "off,1,5", row, "on,1,6"])
    assert complaint in error.message
    assert "Nothing was read" in error.hint


def test_rows_that_contradict_one_another_are_refused() -> None:
    head = "arm,block,unit,direction,iteration,value"
    assert (
        "unit: 's', but 'ns' in line 2"
        in refused([head, "off,1,ns,lower,1,5", "off,1,s,lower,2,5"]).message
    )
    assert (
        "direction: 'higher', but 'lower' in line 2"
        in refused([head, "off,1,ns,lower,1,5", "off,1,ns,higher,2,5"]).message
    )
    assert (
        "iteration: 1 of this boot is in line 2 too"
        in refused([head, "off,1,ns,lower,1,5", "off,1,ns,lower,1,5"]).message
    )
    assert "neither lower nor higher" in refused([head, "off,1,ns,up,1,5"]).message


def test_many_bad_rows_are_counted_not_all_listed() -> None:
    error = refused(["arm,block,value", *("off,1,x" for _ in range(100))])
    assert len(error.message.splitlines()) == 21
    assert error.message.endswith("and 80 more")


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "no column arm and no value"),
        (["arm,block"], "no column value"),
        (["arm,value"], "no column block or boot"),
        (["arm,block,value,value"], "column value is there twice"),
        (["arm,block,value"], "has no rows"),
        (["arm,block,value", 'off,1,"5'], "no CSV"),
    ],
)
def test_a_file_of_another_shape_is_refused(lines: list[str], complaint: str) -> None:
    assert complaint in refused(lines).message


def test_an_unknown_baseline_is_refused_with_the_arms_there_are() -> None:
    with pytest.raises(InvalidInput, match="'of'") as caught:
        compare(read(csv_of(rows_of({"off": 0.0, "on": 0.1}))).measured(), baseline="of")
    assert "off, on" in caught.value.hint


def test_a_case_without_the_baseline_is_undecided_and_says_why() -> None:
    rows = rows_of({"off": 0.0, "on": 0.05}) + rows_of({"on": 0.0}, case="another")
    answer = judged(rows)[1]
    assert (answer.case, answer.verdict) == ("another", "undecided")
    assert "baseline has no boot" in answer.note


def test_exploratory_puts_all_under_the_false_discovery_rate() -> None:
    rows = [
        row
        for number in range(40)
        for row in rows_of(
            {"off": 0.0, "on": 0.02 if number < 5 else 0.0}, case=f"c{number}", seed=number
        )
    ]
    answers = judged(rows, exploratory=True)
    assert all(a.q is not None and a.p is not None and a.q >= a.p for a in answers)
    assert [a.verdict for a in answers[:5]] == ["worse"] * 5
    assert sum(a.verdict in ("better", "worse") for a in answers[5:]) <= 2
    assert {a.decided_at_look for a in answers if a.verdict != "undecided"} == {8}


def test_boots_in_two_groups_are_warned_of() -> None:
    rows = rows_of({"off": 0.0, "on": 0.0}, blocks=16, sigma=0.001)
    for row in rows:
        if row["arm"] == "on" and row["block"] % 2:
            row["value"] *= 1.1
    assert "two groups" in judged(rows)[0].note


def run(path: Path, *arguments: str) -> Any:
    return CliRunner().invoke(build(), ["compare", str(path), *arguments])


def test_the_command_prints_json_with_the_agreed_keys(tmp_path: Path) -> None:
    path = tmp_path / "boots.csv"
    path.write_text("\n".join(csv_of(rows_of({"off": 0.0, "ibpb": 0.05}))))
    done = run(path, "--baseline", "off", "--json")
    [answer] = json.loads(done.stdout)
    assert set(answer) >= {
        "case", "metric", "arm", "verdict", "effect_percent", "ci_low_percent",
        "ci_high_percent", "p", "blocks_used", "mde_percent",
    }  # fmt: skip
    assert answer["verdict"] == "worse"


def test_the_command_prints_a_table_for_people(tmp_path: Path) -> None:
    path = tmp_path / "boots.csv"
    path.write_text("\n".join(csv_of(rows_of({"off": 0.0, "ibpb": 0.05}))))
    done = run(path, "--baseline", "off")
    assert done.exit_code == 0
    assert "worse" in done.stdout


def test_the_command_refuses_what_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "boots.csv"
    path.write_bytes(b"\xff\xfe\x00")
    done = run(path, "--baseline", "off")
    assert isinstance(done.exception, MitigaugeError)
    assert "cannot be read" in done.exception.message


CASES = REPOSITORY / "tests" / "fixtures" / "cases"


def of_case(name: str) -> list[dict[str, Any]]:
    done = run(CASES / name, "--baseline", "off", "--json")
    assert done.exit_code == 0, done.output
    return list(json.loads(done.stdout))


def test_a_file_of_a_spreadsheet_with_a_byte_order_mark_has_all_its_columns() -> None:
    answers = of_case("25-bom-quoted-header.csv")
    assert [(a["case"], a["verdict"]) for a in answers] == [("open", "worse"), ("close", "better")]
    assert answers[0]["effect_percent"] == pytest.approx(4.85, abs=0.15)


def test_a_misspelt_arm_of_one_boot_gets_no_verdict() -> None:
    right, misspelt = of_case("26-misspelt-arm.csv")
    assert (right["arm"], right["verdict"]) == ("ibrs", "worse")
    assert (misspelt["arm"], misspelt["verdict"]) == ("ibsr", "undecided")
    assert "1 boot of 12" in misspelt["note"]
    assert misspelt["ci_low_percent"] is None


def test_blocks_are_ordered_as_people_count() -> None:
    [answer] = of_case("27-blocks-b1-to-b12.csv")
    assert (answer["verdict"], answer["decided_at_look"]) == ("worse", 4)
    assert answer["effect_percent"] == pytest.approx(5.0, abs=0.1)


@pytest.mark.parametrize("case", ["35-semicolons-decimal-comma.csv", "51-sep-line.csv"])
def test_semicolons_and_decimal_commas_are_read(case: str) -> None:
    [answer] = of_case(case)
    assert (answer["arm"], answer["verdict"]) == ("on", "worse")
    assert answer["effect_percent"] == pytest.approx(4, abs=0.2)


def written(rows: Sequence[str], **options: str) -> list[str]:
    end = options.get("end", "\n")
    return [f"{row}{end}" for row in rows]


PLAIN = ["arm,block,value", "off,1,99.5", "on,1,104.5", "off,2,100.5", "on,2,105.5"]


@pytest.mark.parametrize(
    "lines",
    [
        written(PLAIN, end="\r\n"),
        ["\n", ",,\n", *written(PLAIN), "\n", ",,,\n", "\n"],
        ["\ufeffarm,block,value\n", *written(PLAIN[1:])],
        ['\ufeff"arm";"block";"value"\r\n', *(r.replace(",", ";") + "\r\n" for r in PLAIN[1:])],
        ["sep=;\r\n", *(r.replace(",", ";").replace(".", ",") + "\r\n" for r in PLAIN)],
        ['"sep=\t"\r\n', *(r.replace(",", "\t") + "\r\n" for r in PLAIN)],
        [r.replace(",", "\t") + "\n" for r in PLAIN],
        [f"{row},," for row in PLAIN],
        [*written(PLAIN), "Total,,410"],
        [*(row.replace(",", ";") for row in PLAIN), "Mittelwert:;;102,5"],
    ],
)
def test_what_spreadsheets_write_around_the_same_numbers_changes_nothing(lines: list[str]) -> None:
    assert read(lines).measured() == read(PLAIN).measured()


def test_a_row_of_totals_is_left_out_by_its_line_and_only_at_the_end() -> None:
    file = read([*PLAIN, "Total,,410"])
    assert "line 6 is left out: 'Total' is of the rows above it" in file.remarks
    assert "boots.csv:2: block: is empty" in refused([PLAIN[0], "Total,,410", *PLAIN[1:]]).message


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["arm,block,value,", "off,1,5,7"], "boots.csv:2: column 4: '7' stands in a column with"),
        (["arm;block;value", "off;1;5,5", "on;1;5.5"],
         "boots.csv:3: value: '5.5' has a decimal point, and line 2 a decimal comma"),
        (["arm,block,value", 'off,1,"5,5"'], "boots.csv:2: value: '5,5' is not a number: where co"),
        (["arm;block;value", "off;1;1.234,5"], "boots.csv:2: value: '1.234,5' is not a number"),
        (["arm,block,value", "off,1,1_000"], "boots.csv:2: value: '1_000' is not a number"),
        (["arm,block,value", "off,1,12 ns"], "boots.csv:2: value: '12 ns' is not a number"),
        (["arm,block,value,cases", "off,1,5,x"], "boots.csv:1: column 'cases' is not known"),
        (["sep=:", "arm:block:value"], "boots.csv:1: its fields are divided by ':'"),
        (["arm,block,unit,value", "off,1,ns,1e-300"], "boots.csv:2: value: 1e-300 ns: below 1e-13"),
        (["arm,block,unit,value", "off,1,s,1e12"], "boots.csv:2: value: 1e12 s: above 1e+09 s"),
        (["arm,block,value", "off,1,1e-300"], "boots.csv:2: value: 1e-300: below 1e-15"),
        (["arm,block,value", "off,1,1e300"], "boots.csv:2: value: 1e300: above 1e+20"),
        (["arm,block,value", "off,1,1e999"], "boots.csv:2: value: 1e999 is not finite"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_named_by_line_and_column(
    lines: list[str], complaint: str
) -> None:
    assert complaint in refused(lines).message


def test_points_of_thousands_are_asked_about_and_not_taken_for_decimals() -> None:
    done = run(CASES / "63-points-of-thousands.csv", "--baseline", "off", "--json")
    assert done.exit_code == 1
    assert isinstance(done.exception, MitigaugeError)
    assert "line 2 has 1.004 and line 3 has 997" in done.exception.message
    assert "is it 1004 or 1.004?" in done.exception.message


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("mark", [".", ","])
def test_marks_of_thousands_are_refused_where_some_values_have_none(
    separator: str, mark: str
) -> None:
    rows = [("arm", "block", "value"), ("off", "1", f"1{mark}003"), ("off", "2", "997"),
            ("on", "1", f"1{mark}049"), ("on", "2", f"1{mark}051")]  # fmt: skip
    lines = [separator.join(row) for row in rows]
    with pytest.raises(InvalidInput, match=f"line 2 has 1{re.escape(mark)}003 and line 3 has 997"):
        read(lines)


@pytest.mark.parametrize(
    "values",
    [
        ["0.998", "1.003", "1", "1.004"],  # a fraction of one is no thousand
        ["1.003", "997", "1.04", "2.5"],
        ["1.003", "1.049", "1.051", "1.000"],  # the same ratios either way
        ["997", "1003", "1049", "1051"],
    ],
)
def test_numbers_that_are_no_thousands_are_read(values: list[str]) -> None:
    labels = [("off", 1), ("off", 2), ("on", 1), ("on", 2)]
    rows = [f"{arm};{block};{v}" for (arm, block), v in zip(labels, values, strict=True)]
    [case] = read(["arm;block;value", *rows]).measured()
    found = [value for boots in case.boots.values() for boot in boots.values() for value in boot]
    assert found == [float(value) for value in values]


@pytest.mark.parametrize(
    "values",
    [
        [*["992"] * 8, *["1.188"] * 8],
        ["978.5", *["979"] * 7, *["1.033"] * 8],
        ["0.978", *["981"] * 7, *["1.033"] * 8],
    ],
)
@pytest.mark.parametrize("separator", [",", ";"])
def test_values_a_thousand_times_smaller_with_three_digits_are_asked_about(
    values: list[str], separator: str
) -> None:
    """Whatever divides the fields, and whatever decimals other values have."""
    labels = [(arm, block) for arm in ("off", "on") for block in range(1, 9)]
    rows = [(arm, str(block), v) for (arm, block), v in zip(labels, values, strict=True)]
    lines = [separator.join(row) for row in [("arm", "block", "value"), *rows]]
    with pytest.raises(InvalidInput, match=f"is it {values[-1].replace('.', '')} or "):
        read(lines)


def test_each_quantity_that_is_like_thousands_throughout_is_remarked_with_a_value_of_its_own() -> (
    None
):
    rows = ["t;off;1;2.345", "t;on;1;2.346", "u;off;1;7", "u;on;1;8"]
    remarks = read(["metric;arm;block;value", *rows]).remarks
    assert "2.345 is read as 2.345, not as 2345: each value is so" in remarks


def test_two_quantities_of_one_file_may_have_other_decimals() -> None:
    rows = ["a;off;1;1.003", "a;on;1;1.049", "b;off;1;997", "b;on;1;998"]
    assert len(read(["case;arm;block;value", *rows]).measured()) == 2
