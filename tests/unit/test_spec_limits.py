"""A malformed or huge spec is refused at once, in few words, and takes no memory to speak of."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.yaml_file import MAX_BYTES, MAX_DEPTH, MAX_NODES, parse_yaml
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.experiments.spec_model import (
    MAX_BOOTS,
    MAX_CASES,
    ExperimentSpec,
    WorkloadSpec,
    cases_of,
    count_of,
)
from tests.fuzz import specs
from tests.measuring import within_processor_s
from tests.specs import CATALOG, HOSTS, SPEC, markers

# A refusal takes some tenths of this on a machine that has nothing else to do.
# Of processor time.
LONGEST_REFUSAL_S = 5.0
LONGEST_MESSAGE = 10_000


def read(text: str) -> ExperimentSpec:
    return read_spec(text, name="small.yml", catalog=CATALOG, hosts=HOSTS)


def with_cases(cases: str) -> str:
    return SPEC.replace("{size: [1, 2]}", cases)


def filled(unit: str) -> str:
    """As many of *unit* as a text may have."""
    return unit * ((MAX_BYTES - 1000) // len(unit.encode()))


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def billion_laughs() -> str:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9)]
    return "\n".join(rows) + "\n"


MANY = 30_000
HUGE = {
    "aliases": billion_laughs() + SPEC,
    "an alias of 523 bytes": "x: &x " + "y" * 450 + "\nz: [*x, *x, *x]\n" + SPEC,
    "an anchor": SPEC.replace("question: ", "question: &q "),
    "a merge key": SPEC.replace("blocks: 2", "blocks: 2\n<<: {seed: 8}"),
    "an alias to itself": "a: &a [*a]\n" + SPEC,
    "900 levels": SPEC + f"x: {nested(900)}\n",
    "levels to the end": SPEC + f"x: {'[' * (MAX_BYTES - 2000)}",
    "levels of mappings": SPEC + f"x: {filled('{a: ')}",
    "levels by indentation": SPEC + "x:\n" + "".join(f"{' ' * i}- \n" for i in range(1, 600)),
    "question marks": SPEC + "x:\n " + filled("? "),
    "dashes": SPEC + "x:\n " + filled("- "),
    "a list to the end": SPEC + f"x: [{filled('1,')}]",
    "a list in a place that takes one": SPEC.replace("[alpha]", f"[{','.join(['alpha'] * MANY)}]"),
    "different hosts": SPEC.replace("[alpha]", f"[{','.join(f'h{i}' for i in range(MANY))}]"),
    "keys to the end": SPEC + "".join(f"k{i}: 1\n" for i in range(20_000)),
    "comments to the end": SPEC + filled("#\n") + "x: [",
    "blanks to the end": SPEC + filled(" \n") + "x: [",
    "lines of a text": SPEC + "x: |\n" + filled(" a\n"),
    "escapes": SPEC + f'x: "{filled(chr(92) + "x41")}"',
    "quotes": SPEC + filled("''") + "x",
    "a text to the end": SPEC.replace("What does it cost?", filled("a")),
    "a name to the end": SPEC.replace("name: small", f"name: {filled('a')}"),
    "a key to the end": SPEC + filled("k") + ": 1\n",
    "over the limit": SPEC + "#" * MAX_BYTES,
    "839 KB": SPEC + "".join(f"- {{size: {i}, network: a}}\n" for i in range(MANY)),
    "points": with_cases(f"[{', '.join(f'{{size: {i % 5}}}' for i in range(10_000))}]"),
    "a product of axes": with_cases(f"[{', '.join([f'{{size: {list(range(90))}}}'] * 400)}]"),
    "values of an axis": with_cases(f"{{size: [{filled('1,')}]}}"),
    "refused values": with_cases(f"{{size: {[900] * 900}}}"),
    "refused points": with_cases(f"[{', '.join(['{sise: 1}'] * 900)}]"),
    "parameters": with_cases(f"{{{', '.join(f'p{i}: 1' for i in range(10_000))}}}"),
    "arms": SPEC.replace(
        "      - {name: on,",
        "".join(f"      - {{name: n{i}, mode: knob/on}}\n" for i in range(5000))
        + "      - {name: on,",
    ),
    "comparisons": SPEC + SPEC[SPEC.index("  - name: knob") :] * 500,
    "a number of many digits": SPEC.replace("seed: 7", f"seed: 1{'0' * 100_000}"),
    "a number in hexadecimal": SPEC.replace("seed: 7", f"seed: 0x{'f' * 100_000}"),
    "a fraction of many digits": with_cases(f"{{size: 0.{'1' * 100_000}}}"),
    "an exponent": with_cases("{size: 1e999999999}"),
    "not a number": with_cases("{size: .nan}"),
    "infinite": with_cases("{size: [-.inf]}"),
    "a huge time-out": SPEC.replace("iterations: 3", f"timeout_s: {10**30}"),
    "a time-out of two days": SPEC.replace("iterations: 3", "timeout_s: 172800"),
    "iterations": SPEC.replace("iterations: 3", "iterations: 1000000"),
    "a negative seed": SPEC.replace("seed: 7", "seed: -1"),
    "a seed over 63 bits": SPEC.replace("seed: 7", f"seed: {2**63}"),
    "a truth value for a number": SPEC.replace("blocks: 2", "blocks: true"),
    "a text for a number": SPEC.replace("blocks: 2", "blocks: '2'"),
    "a fraction for a number": SPEC.replace("blocks: 2", "blocks: 2.0"),
    "a date": SPEC.replace("name: small", "name: 2026-01-01 10:00:00"),
    "NUL": SPEC.replace("it cost", "it\0cost"),
    "NUL, escaped": SPEC.replace("What does it cost?", '"it\\0cost"'),
    "half a surrogate pair": SPEC.replace("it cost", "it\ud800cost"),
    "half a surrogate pair, escaped": SPEC.replace("What does it cost?", '"it\\ud800cost"'),
    "escape": SPEC.replace("it cost", "it\x1b[2Jcost"),
    "escape, escaped": SPEC.replace("What does it cost?", '"it\\e[2Jcost"'),
    "C1, escaped": SPEC.replace("What does it cost?", '"it\\x9b2Jcost"'),
    "text that runs backwards": SPEC.replace("it cost", "it\u202ecost"),
    "a byte-order mark inside": SPEC.replace("it cost", "it\ufeffcost"),
    "a carriage return": SPEC.replace("it cost", "it\rcost"),
    "a tag": SPEC.replace("seed: 7", "seed: !!int '7'"),
    "a tag of Python": SPEC.replace("seed: 7", "seed: !!python/object/apply:os.system ['true']"),
    "a tag of one's own": SPEC.replace("What does", "!x What does"),
    "a second document": SPEC + "---\n" + SPEC,
    "a directive": "%YAML 1.1\n---\n" + SPEC,
    "a directive for tags": "%TAG ! tag:x,2000:\n---\n" + SPEC,
    "a repeated key": SPEC + "seed: 8\n",
    "a key that is a list": SPEC + "? [a, b]\n: c\n",
    "a key that is a mapping": SPEC + "? {a: b}\n: c\n",
    "nothing": "",
    "a byte-order mark alone": "\ufeff",
    "a list at the top": "- a\n",
    "one word": "word",
    "no case": with_cases("{size: []}"),
    "no point": with_cases("[]"),
    "a point within a point": with_cases("{size: [[1]]}"),
    "a mapping for a value": with_cases("{size: {a: 1}}"),
    "a truth value for a parameter": with_cases("{size: true}"),
    "nothing for a parameter": with_cases("{size: null}"),
}


@pytest.mark.parametrize("what", HUGE)
def test_it_is_refused_at_once_and_in_few_words(what: str) -> None:
    text = HUGE[what]
    with within_processor_s(LONGEST_REFUSAL_S), pytest.raises(InvalidInput) as refused:
        read(text)
    message = str(refused.value)
    assert len(message) < LONGEST_MESSAGE
    assert message.startswith("small.yml:")
    assert message.isprintable() or set(filter(lambda c: not c.isprintable(), message)) == {"\n"}


def test_a_short_text_that_names_very_much_takes_no_memory() -> None:
    """Under 3 KB that name 240,000 cases, and nine to the power of nine by aliases."""
    values = {"seconds": [i / 100 for i in range(1, 201)], "loops": list(range(300))}
    values |= {"test": ["basic", "fork", "getpgid", "execve"]}
    product = SPEC.replace("workload: spin", "workload: syscall").replace(
        "{size: [1, 2]}", str(values)
    )
    assert len(product) < 3000
    real = Catalog()
    assert real.workloads
    tracemalloc.start()
    for text, expected in ((product, r"2.4e\+05 cases"), (billion_laughs(), "anchors")):
        with pytest.raises(InvalidInput, match=expected):
            read_spec(text, name="big.yml", catalog=real, hosts=HOSTS)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20 << 20


def test_the_product_of_the_axes_is_looked_at_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = Catalog()
    syscall = real.workloads["syscall"]
    wanted = WorkloadSpec(
        workload="syscall",
        cases={
            "test": ["basic", "getpgid", "fork", "execve"],
            "seconds": [i / 20 for i in range(1, 1001)],
            "loops": list(range(1000)),
        },
    )
    assert count_of(syscall, wanted) == 4 * 1000 * 1000
    text = (
        (REPOSITORY / "experiments/lab-small.yml")
        .read_text()
        .replace("{test: basic, loops: 200000}", str(wanted.cases))
    )
    text = text[: text.index("  - name: vmscape-exits")]
    monkeypatch.setattr(type(syscall), "expand", lambda *_: pytest.fail("was made"))
    with pytest.raises(InvalidInput, match=rf"4e\+06 cases; at most {MAX_CASES}"):
        read_spec(text, name="big.yml", catalog=real, hosts={})


def test_points_named_twice_are_one_case_however_many_there_are() -> None:
    wanted = WorkloadSpec(workload="spin", cases=[{"size": [1, 2, 1.0, 4]}] * 1000)
    with within_processor_s(LONGEST_REFUSAL_S):
        cases = cases_of(CATALOG.workloads["spin"], wanted)
    assert cases == [
        {**case, "size": size}
        for size in (1, 2, 4)
        for case in cases_of(CATALOG.workloads["spin"], WorkloadSpec(workload="spin"))
    ]


def test_a_plan_of_too_many_boots_is_refused() -> None:
    comparison = SPEC[SPEC.index("  - name: knob") :]
    many = "".join(comparison.replace("name: knob", f"name: k{i}") for i in range(32))
    text = SPEC[: SPEC.index("  - name: knob")].replace("blocks: 2", "blocks: 64") + many
    hosts = {"lab": {f"h{i}": HOSTS["lab"]["alpha"] for i in range(3)}}
    with pytest.raises(InvalidInput, match=rf"12288 boots planned .*; at most {MAX_BOOTS}"):
        read_spec(text.replace("[alpha]", "[h0, h1, h2]"), name="s", catalog=CATALOG, hosts=hosts)


def test_a_plan_of_too_many_values_is_refused() -> None:
    text = SPEC.replace("iterations: 3", "iterations: 1000").replace("blocks: 2", "blocks: 64")
    text = text.replace("[1, 2]", "[1, 2, 4]")
    workload = text[text.index("      - workload") :]
    with pytest.raises(InvalidInput, match="values expected"):
        read(text + workload * 31)


def test_of_many_faults_the_first_twenty_are_told() -> None:
    text = SPEC + "".join(f"k{i}: 1\n" for i in range(500))
    with pytest.raises(InvalidInput) as refused:
        read(text)
    lines = refused.value.message.split("\n")
    assert len(lines) == 21
    assert lines[-1] == "and 480 more"


def test_a_fault_is_told_without_what_was_sent() -> None:
    secret = "x" * 5000
    for text in (
        SPEC.replace("knob/on", secret),
        SPEC.replace("[alpha]", f"[{secret}]"),
        with_cases(f"{{size: {secret}}}"),
        with_cases(f"{{{secret[:190]}: 1}}"),
        SPEC.replace("iterations: 3", f"profile: {secret}"),
        SPEC + f"{secret[:190]}: 1\n",
    ):
        with pytest.raises(InvalidInput) as refused:
            read(text)
        assert secret[:100] not in str(refused.value)


def test_a_files_name_in_an_error_is_cleaned_and_cut() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_spec("", name="\x1b[2J\n" * 1000, catalog=CATALOG, hosts=HOSTS)
    assert len(str(refused.value)) < 600
    assert "\x1b" not in str(refused.value)


def test_line_ends_and_a_mark_of_windows_editors_are_taken() -> None:
    assert read("\ufeff" + SPEC.replace("\n", "\r\n")) == read(SPEC)


def test_what_is_within_the_limits_is_taken() -> None:
    assert parse_yaml("a: " + nested(MAX_DEPTH - 1), "f").data["a"] is not None
    assert len(parse_yaml(f"a: [{'1,' * (MAX_NODES - 3)}]", "f").data["a"]) == MAX_NODES - 3


def test_words_and_numbers_are_those_of_yaml_1_2() -> None:
    text = (
        "a: [off, yes, 012, 0o17, 0x1F, 1_000, 1e3, .5, -7, +1., 0b1, 1:30, 2026-01-01, ~, null,"
        " true, FALSE, '1', \"2\", =]\noff: 1\n1: 2\n"
    )
    document = parse_yaml(text, "f")
    assert document.data["a"] == [
        *("off", "yes", 12, 15, 31, "1_000", 1000.0, 0.5, -7, 1.0, "0b1", "1:30", "2026-01-01"),
        *(None, None, True, False, "1", "2", "="),
    ]
    assert list(document.data) == ["a", "off", "1"]
    assert document.line(("off",)) == 2


FULL = {
    "name": "small",
    "question": "What does it cost?",
    "environment": "lab",
    "seed": 7,
    "blocks": 2,
    "comparisons": [
        {
            "name": "knob",
            "hosts": ["alpha"],
            "baseline": "off",
            "arms": [
                {"name": "off", "mode": "knob/off", "kernel": "6.12.9-amd64", "boot": "kexec"},
                {"name": "on", "mode": "knob/on", "kernel": ""},
            ],
            "workloads": [
                {
                    "workload": "spin",
                    "cases": [{"size": [1, 2]}],
                    "iterations": 3,
                    "warmup": 1,
                    "timeout_s": 60,
                    "primary": ["time"],
                    "profile": {"hz": 99, "guest": False, "off_cpu": True},
                    "collect": ["cpu"],
                }
            ],
            "blocks": 2,
            "aa": True,
            "slowed_percent": 2,
            "layouts": 2,
        },
        {
            "name": "both",
            "hosts": ["alpha"],
            "baseline": "off.on",
            "cross": ["knob", "machine"],
            "workloads": [{"workload": "packets"}],
        },
        {
            "name": "costs",
            "hosts": ["alpha"],
            "factorial": {
                "knobs": {"a": ["knob/off", "knob/on"], "b": ["machine/off", "machine/on"]},
                "pairs": [["a", "b"]],
                "kernel": "",
                "most_arms": 8,
            },
            "workloads": [{"workload": "packets"}],
        },
    ],
    "limits": [
        {
            "workload": "spin",
            "metric": "time",
            "case": {"size": 1},
            "mode": "knob/on",
            "host_class": "alpha",
            "worse_by_percent": 2.0,
            "than": "off",
            "because": "It is on by default.",
        },
        {"workload": "spin", "metric": "time", "at_most": 90.0},
        {"workload": "spin", "metric": "time", "at_least": 1.0},
    ],
}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all values in *value*, those of lists and mappings among them."""
    yield path
    items: list[Any] = []
    if isinstance(value, dict | list):
        items = list(value.items() if isinstance(value, dict) else enumerate(value))
    for key, item in items:
        yield from leaves(item, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], by)
    return copy


def fields_of(model: type[BaseModel]) -> Iterator[str]:
    """Names of all fields of *model* and of the models in it."""
    for name, field in model.model_fields.items():
        yield name
        open_types = [field.annotation]
        while open_types:
            kind = open_types.pop()
            open_types.extend(get_args(kind))
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from fields_of(kind)


def test_the_sample_has_every_field_of_a_spec() -> None:
    assert ExperimentSpec.model_validate(FULL)
    present = {part for path in leaves(FULL) for part in path if isinstance(part, str)}
    assert set(fields_of(ExperimentSpec)) <= present


# What is only read where verdicts are given: no play has it.
READ_AT_THE_END = {
    "question": True,
    "limits": {"__all__": {"case", "mode", "host_class", "than", "because"}},
}


def test_only_what_no_play_has_takes_a_template_or_a_command(tmp_path: Path) -> None:
    """What is refused here cannot reach a play; the question and words of limits reach none."""
    canary = tmp_path / "evaluated"
    tried = 0
    for path in leaves(FULL):
        for marker in markers(canary):
            for value in (marker, [marker], {marker: marker}, [{marker: [marker]}]):
                document = replaced(FULL, path, value)
                tried += 1
                try:
                    spec = ExperimentSpec.model_validate(document)
                except ValueError:
                    continue
                taken = spec.model_dump(exclude=READ_AT_THE_END)
                # A parameter's words are compared with the known ones before a plan is made.
                for wanted in taken["comparisons"][0]["workloads"]:
                    cases = wanted.pop("cases")
                    assert marker not in (cases if isinstance(cases, dict) else {})
                assert marker not in str(taken), path
    assert tried > 1000
    assert not canary.exists()


def test_a_parameters_value_is_one_of_the_known_ones(tmp_path: Path) -> None:
    canary = tmp_path / "evaluated"
    for name, workload in Catalog().workloads.items():
        for parameter in workload.parameters.values():
            for marker in markers(canary):
                assert parameter.refuse(marker), name
            assert parameter.refuse(float("nan"))
            assert parameter.refuse(1e300)


@pytest.mark.parametrize(
    "release",
    ["7.3~rc7-amd64", "6.16.12+deb13-cloud-amd64", "5.14.0-1.el9.x86_64", "6.8.0_custom+", ""],
)
def test_a_kernel_is_named_as_uname_says_it(release: str) -> None:
    text = SPEC.replace("mode: knob/on}", f"mode: knob/on, kernel: '{release}'}}")
    assert read(text).comparisons[0].arms[1].kernel == release


@pytest.mark.parametrize(
    "release", ["../etc", "6.1 x", "6.1;x", "-6.1", "6.1\\n", "linux", "6/1", "6." + "1" * 63, "６"]
)
def test_what_is_no_kernels_release_is_refused(release: str) -> None:
    with pytest.raises(InvalidInput, match="kernel"):
        read(SPEC.replace("mode: knob/on}", f'mode: knob/on, kernel: "{release}"}}'))


@pytest.mark.parametrize(
    "title", ["{size.__class__}", "{size:>999999999}", "{size!r}", "{}", "{0}", "{other}", "{"]
)
def test_a_cases_title_asks_for_nothing_but_its_parameters(title: str) -> None:
    workload = CATALOG.workloads["spin"]
    with pytest.raises(ValueError, match=r"case_title|expected|Single"):
        type(workload).model_validate({**workload.model_dump(), "case_title": title})


def test_every_spec_of_the_project_is_read() -> None:
    """In a process that may take 512 MB and no more."""
    program = (
        "from pathlib import Path\n"
        "from mitigauge.measurement.catalog import Catalog\n"
        "from mitigauge.measurement.experiments.spec_model import ExperimentSpec\n"
        "from mitigauge.core.yaml_file import parse_yaml\n"
        "for path in sorted(Path('experiments').glob('*.yml')):\n"
        "    ExperimentSpec.model_validate(parse_yaml(path.read_text(), str(path)).data)\n"
        "    print(path.name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (512 << 20, 512 << 20)),
    )
    assert "lab-demo.yml" in done.stdout


def test_a_malformed_spec_is_refused_or_taken_and_nothing_else(tmp_path: Path) -> None:
    """A few of those that `make fuzz` makes in great number."""
    answers = {specs.once(random.Random(seed), tmp_path) for seed in range(500)}
    assert answers == {"refused", "taken"}
